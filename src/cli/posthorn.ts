// The posthorn command.
import { createInterface } from 'node:readline/promises'
import type { Environment } from '../config.ts'
import { ConfigError, readConfig } from '../config.ts'
import { UnusableDatabase } from '../db/await-database.ts'
import { EmbeddedPostgresError } from '../db/embedded-error.ts'
import { MigrationError } from '../db/migrate.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import { Problem } from '../domain/problem.ts'
import { StartError } from '../manage/first-start.ts'
import { KeyFileError } from '../world/key-file.ts'
import { createLog } from '../world/pino-log.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { keysCommand } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { promoteCommand } from './promote.ts'
import { resealCommand } from './reseal.ts'
import { startCommand } from './start.ts'
import { visibleLines } from './visible-text.ts'
import { workflowsCommand } from './workflows.ts'

const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  keysCommand,
  workflowsCommand,
  promoteCommand,
  resealCommand,
]

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** What a command runs in: the process, or a test's stand-in. */
export interface Host {
  readonly env: Environment
  readonly stdout: Stream
  readonly stderr: Stream
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
}

/** Runs one command and sets the exit code; what the operator can mend is told in a sentence, without a stack. */
export async function main(args: readonly string[], host: Host = process): Promise<void> {
  const [name, ...rest] = args
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      host.stdout.write(usage())
      return
    }
    host.stderr.write(`There is no command "${name}".\n\n${usage()}`)
    host.exitCode = 2
    return
  }
  try {
    const { config, warnings } = readConfig(host.env)
    // What a command answers may be read by a program, so its log goes beside it; the service has no other answer.
    const stream = command === startCommand ? host.stdout : host.stderr
    const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && stream.isTTY === true)
    const log = createLog({ level: config.logLevel, pretty }, stream)
    for (const warning of warnings) log.warn({}, warning)
    const print = (line: string): void => {
      host.stdout.write(`${line}\n`)
    }
    await command.run({ config, log, print, ...askOn(host) }, rest)
  } catch (error) {
    if (!isOperatorError(error)) throw error
    // It may quote what somebody else wrote.
    host.stderr.write(`${visibleLines(error.message)}\n`)
    host.exitCode = error instanceof UsageError ? 2 : 1
  }
}

/** Only where somebody sits at both ends. */
function askOn({ stdin, stdout }: Host): Pick<Terminal, 'ask'> {
  if (stdin === undefined || stdin.isTTY !== true || stdout.isTTY !== true) return {}
  return {
    ask: async (question) => {
      const reader = createInterface({ input: stdin, output: stdout })
      try {
        return await reader.question(question)
      } finally {
        reader.close()
      }
    },
  }
}

function isOperatorError(error: unknown): error is Error {
  const kinds = [
    ConfigError,
    DatabaseUnavailable,
    EmbeddedPostgresError,
    KeyFileError,
    MigrationError,
    Problem,
    StartError,
    UnusableDatabase,
    UsageError,
  ]
  return kinds.some((kind) => error instanceof kind)
}

function usage(): string {
  const lines = commands.flatMap((command) => command.usage.map((line) => `  posthorn ${line}`))
  return `Usage:\n${lines.join('\n')}\n\nSettings come from the environment: see docs/configuration.md\n`
}
