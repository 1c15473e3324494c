// The posthorn command.
import { ordersIn } from '../main/cluster.ts'
import { createLog } from '../world/pino-log.ts'
import { usersCommand } from './access/users.ts'
import { auditCommand } from './audit.ts'
import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { completionFor } from './completion.ts'
import { doctorCommand } from './doctor.ts'
import { environmentsCommand } from './environments.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { backupCommand, restoreCommand } from './local/backup.ts'
import { dashboardCommand } from './local/dashboard.ts'
import { keysCommand } from './local/keys.ts'
import { migrateCommand } from './local/migrate.ts'
import { moveCommand } from './local/move.ts'
import { organizationsCommand } from './local/organizations.ts'
import { releaseCommand } from './local/release.ts'
import { resealCommand } from './local/reseal.ts'
import { retentionCommand } from './local/retention.ts'
import { startCommand } from './local/start.ts'
import { loginCommand, logoutCommand } from './login.ts'
import { isOperatorError } from './operator-error.ts'
import { outboxCommand } from './outbox.ts'
import { promoteCommand } from './promote.ts'
import { redriveCommand } from './redrive.ts'
import { signingCommand } from './signing.ts'
import { simulateCommand } from './simulate.ts'
import { subscribersCommand } from './subscribers.ts'
import { tailCommand } from './tail.ts'
import { serviceHelp } from './terminal/arguments.ts'
import type { Host } from './terminal/host.ts'
import { settingsOf, terminalOf } from './terminal/host.ts'
import { wrapped } from './terminal/table.ts'
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
  backupCommand,
  restoreCommand,
  releaseCommand,
  moveCommand,
  doctorCommand,
  tailCommand,
  whyCommand,
  simulateCommand,
  outboxCommand,
  redriveCommand,
  subscribersCommand,
  exportCommand,
  importCommand,
  loginCommand,
  logoutCommand,
  completionFor(() => commands),
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
    host.stdout.write(helpOf(command, host.stdout.isTTY === true ? host.stdout.columns : undefined))
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

function usage(): string {
  const lines = commands.flatMap(linesOf)
  return `Usage:\n${lines.join('\n')}\n\n${serviceHelp}\n\n\`posthorn COMMAND --help\` says what a command does, with examples. Settings come from the environment: see docs/configuration.md\n`
}

const linesOf = (command: Command): string[] => command.usage.map((line) => `  posthorn ${line}`)

function helpOf(command: Command, width = 100): string {
  const lines = linesOf(command)
  const isOfService = lines.some((line) => line.includes('[SERVICE]'))
  return [
    ...wrapped(command.about, width),
    '',
    'Usage:',
    ...lines,
    ...(isOfService ? ['', serviceHelp] : []),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n')
}
