// Parses the arguments of a command: options, numbers, durations and timestamps, each rejected with an example of a
// valid value.
import type { ParseArgsConfig } from 'node:util'
import { parseArgs } from 'node:util'
import { timestampOfText } from '../../domain/time/iso-timestamp.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'
import { refuseForeign } from './usage-lines.ts'

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<Own extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; strict: true; options: Own & typeof serviceOptions }>
>

/** Of every command that asks a running service. */
const serviceOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  profile: { type: 'string' },
  environment: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** The end of the usage line of such a command. */
export const serviceUsage = '[--json] [SERVICE]'

/** What SERVICE stands for in usage lines. */
export const serviceHelp = `SERVICE is where the service is and the API key that opens it:
  --url URL            else POSTHORN_URL, else the URL of the login, else http://localhost:3000
  --key KEY            visible to every user of this machine in the process list; safer: --key-file FILE,
                       POSTHORN_API_KEY (for Production: POSTHORN_API_KEY_2), or \`posthorn login\`
  --profile NAME       a login made with \`posthorn login --profile NAME\`
  --environment NAME   refuse unless the key opens this environment`

/** Those of the command and of SERVICE; refused where the usage lines of the action that is called do not name them. */
export function readOptions<const Own extends Options>(
  command: Command,
  args: readonly string[],
  options: Own,
): Parsed<Own> {
  const read = parsed({
    args: [...args],
    allowPositionals: true,
    strict: true,
    options: { ...options, ...serviceOptions },
  })
  refuseForeign(command, args, read.positionals[0])
  return read
}

/** `parseArgs`, with a mistake in the arguments as an error of usage. */
export function parsed<const Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** It was called in a way that matches none of its usage lines. */
export const wrongCall = ({ usage }: Command): UsageError =>
  new UsageError(`Usage:\n${usage.map((line) => `  posthorn ${line}`).join('\n')}`)

export function countOf(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= max) return count
  throw new UsageError(`${option} must be a whole number from 1 to ${max}, not "${text}"`)
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `500ms`, `30s`, `5m`, `2h`, `1d`; undefined when it is none. */
export function durationOf(text: string): number | undefined {
  const match = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text)
  return match === null ? undefined : Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0)
}

/** An ISO 8601 timestamp, or an age: `5m`. */
export function timestampOf(option: string, text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined
  const ms = durationOf(text)
  const timestamp = ms === undefined ? timestampOfText(text)?.at : new Date(now.getTime() - ms)
  if (timestamp !== undefined) return timestamp
  throw new UsageError(
    `${option} must be a timestamp such as 2026-01-31T12:00:00Z, or an age such as 5m, not "${text}"`,
  )
}

export function oneOf<const Value extends string>(
  option: string,
  text: string | undefined,
  known: readonly Value[],
): Value | undefined {
  if (text === undefined) return undefined
  const found = known.find((value) => value === text)
  if (found !== undefined) return found
  throw new UsageError(`${option} must be one of ${known.join(', ')}, not "${text}"`)
}
