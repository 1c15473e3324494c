// The posthorn command.
import { ordersIn } from '../main/cluster.ts'
import { createLog } from '../world/pino-log.ts'
import { usersCommand } from './access/users.ts'
import { auditCommand } from './audit.ts'
import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { dashboardCommand } from './dashboard.ts'
import { doctorCommand } from './doctor.ts'
import { environmentsCommand } from './environments.ts'
import { keysCommand } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { isOperatorError } from './operator-error.ts'
import { organizationsCommand } from './organizations.ts'
import { outboxCommand } from './outbox.ts'
import { promoteCommand } from './promote.ts'
import { redriveCommand } from './redrive.ts'
import { resealCommand } from './reseal.ts'
import { retentionCommand } from './retention.ts'
import { signingCommand } from './signing.ts'
import { simulateCommand } from './simulate.ts'
import { startCommand } from './start.ts'
import { tailCommand } from './tail.ts'
import type { Host } from './terminal/host.ts'
import { settingsOf, terminalOf } from './terminal/host.ts'
import { visibleLines } from './terminal/visible-text.ts'
import { whyCommand } from './why.ts'
import { workflowsCommand } from './workflows.ts'

const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  dashboardCommand,
  environmentsCommand,
  organizationsCommand,
  usersCommand,
  keysCommand,
  signingCommand,
  auditCommand,
  workflowsCommand,
  promoteCommand,
  resealCommand,
  retentionCommand,
  doctorCommand,
  tailCommand,
  whyCommand,
  simulateCommand,
  outboxCommand,
  redriveCommand,
]

export type { Host } from './terminal/host.ts'

/**
 * Runs one command and sets the exit code; errors that the operator can fix are shown as a sentence, without a stack.
 */
export async function main(args: readonly string[], host: Host = process): Promise<void> {
  const [name, ...rest] = args
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      host.stdout.write(usage())
      return
    }
    host.stderr.write(`Unknown command "${name}".\n\n${usage()}`)
    host.exitCode = 2
    return
  }
  if (rest.some((argument) => argument === '--help' || argument === '-h')) {
    host.stdout.write(usage([command]))
    return
  }
  try {
    const { config, warnings, mistakes } = settingsOf(command, host.env)
    // The output of a command may be read by a program, so its log goes to stderr; the service has no other output.
    const stream = command === startCommand ? host.stdout : host.stderr
    const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && stream.isTTY === true)
    const orders = ordersIn(host.env)
    const log = createLog({ level: config.logLevel, pretty, process: orders?.number }, stream)
    // Unknown settings are reported once, by the parent.
    if (command.runsWithMistakes !== true && orders === undefined) for (const warning of warnings) log.warn({}, warning)
    // The service writes its log to it, and has its own ways to stop.
    const terminal = terminalOf(host, { outlivesReader: command === startCommand })
    await command.run({ config, settings: { mistakes, warnings }, log, orders, ...terminal }, rest)
  } catch (error) {
    if (!isOperatorError(error)) throw error
    // It may quote text from others.
    host.stderr.write(`${visibleLines(error.message)}\n`)
    host.exitCode = error instanceof UsageError ? 2 : 1
  }
}

function usage(shown: readonly Command[] = commands): string {
  const lines = shown.flatMap((command) => command.usage.map((line) => `  posthorn ${line}`))
  return `Usage:\n${lines.join('\n')}\n\nSettings come from the environment: see docs/configuration.md\n`
}
