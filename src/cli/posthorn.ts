// The posthorn command.
import { ordersIn } from '../main/cluster.ts'
import { createLog } from '../world/pino-log.ts'
import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { loadedAlone } from './loaded-alone.ts'
import { serviceHelp } from './terminal/arguments.ts'
import type { Host } from './terminal/host.ts'
import { settingsOf, terminalOf } from './terminal/host.ts'
import { wrapped } from './terminal/table.ts'
import { visibleLines } from './terminal/visible-text.ts'

export type { Host } from './terminal/host.ts'

/**
 * Runs one command and sets the exit code; errors that the operator can fix are shown as a sentence, without a stack.
 */
export async function main(args: readonly string[], host: Host = process): Promise<void> {
  const [name, ...rest] = args
  const command = await commandNamed(name)
  if (command === undefined) {
    const { commands } = await import('./commands.ts')
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      host.stdout.write(usage(commands))
      return
    }
    host.stderr.write(`Unknown command "${name}".\n\n${usage(commands)}`)
    host.exitCode = 2
    return
  }
  if (rest.some((argument) => argument === '--help' || argument === '-h')) {
    host.stdout.write(helpOf(command, host.stdout.isTTY === true ? host.stdout.columns : undefined))
    return
  }
  // Now, and not when it is needed: an installation that is replaced under a command that runs would hide what went wrong.
  const { isOperatorError } = await import('./operator-error.ts')
  try {
    const { config, warnings, mistakes } = settingsOf(command, host.env)
    // The output of a command may be read by a program, so its log goes to stderr; the service has no other output.
    const stream = command.name === 'start' ? host.stdout : host.stderr
    const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && stream.isTTY === true)
    const orders = ordersIn(host.env)
    const log = createLog({ level: config.logLevel, pretty, process: orders?.number }, stream)
    // Unknown settings are reported once, by the parent.
    if (command.runsWithMistakes !== true && orders === undefined) for (const warning of warnings) log.warn({}, warning)
    // The service writes its log to it, and has its own ways to stop.
    const terminal = terminalOf(host, { outlivesReader: command.name === 'start' })
    await command.run({ config, settings: { mistakes, warnings }, log, orders, ...terminal }, rest)
  } catch (error) {
    if (!isOperatorError(error)) throw error
    // It may quote text from others.
    host.stderr.write(`${visibleLines(error.message)}\n`)
    host.exitCode = error instanceof UsageError ? 2 : 1
  }
}

async function commandNamed(name: string | undefined): Promise<Command | undefined> {
  const load = name !== undefined && Object.hasOwn(loadedAlone, name) ? loadedAlone[name] : undefined
  if (load !== undefined) return load()
  const { commands } = await import('./commands.ts')
  return commands.find((candidate) => candidate.name === name)
}

function usage(commands: readonly Command[]): string {
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
