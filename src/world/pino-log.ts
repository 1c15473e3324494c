// The process's log: pino, pretty on a terminal, with every secret redacted that has a sensitive name or format.
import { hostname } from 'node:os'
import { pino } from 'pino'
import pretty from 'pino-pretty'
import type { Log } from './log.ts'

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly pretty: boolean
  /** The number of this process, where several are one service. */
  readonly process?: number | undefined
}

const struckOut = '[redacted]'
/** Compared with a member's name in small letters, without dashes and underscores. */
const secretName =
  /^key$|authorization|password|passphrase|secret|token|credential|cookie|(api|signing|encryption|private|license)key|databaseurl|connectionstring/
/** Texts that are secret wherever they stand: our own keys, an Authorization header, the password in an address. */
const secretTexts: readonly [RegExp, string][] = [
  [/\bph_[0-9A-Za-z]{43}\b/g, struckOut],
  [/\b(ApiKey|Bearer|Basic) +[^\s"',]+/g, `$1 ${struckOut}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${struckOut}@`],
]
/** Deeper facts than any we log; a cycle ends here as well. */
const depthMax = 8
const itemsMax = 100

export function createLog(options: LogOptions, destination?: NodeJS.WritableStream): Log {
  // Not pino's own `pid`: facts refer to other processes by that name, and a line must not have it twice.
  const number = options.process === undefined ? {} : { process: options.process }
  const base = { processId: process.pid, ...number, hostname: hostname() }
  // Errors are written out below; pino's own way would fold their cause into the message.
  const settings = { level: options.level, base, serializers: { err: (error: unknown) => error } }
  // In this thread: a worker for pretty printing would cost 30 MB.
  const stream = options.pretty
    ? pretty({ sync: true, ignore: 'processId,hostname', ...(destination ? { destination } : {}) })
    : destination
  const logger = stream === undefined ? pino(settings) : pino(settings, stream)
  const line = (level: 'debug' | 'info' | 'warn' | 'error') => (facts: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](withoutSecrets(facts, 0) as object, withoutSecretTexts(message))
  }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutSecretTexts(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth === depthMax) return '[…]'
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => withoutSecrets(item, depth + 1))
  const result: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value instanceof Error ? membersOf(value) : value)) {
    const isSecret = secretName.test(name.toLowerCase().replaceAll(/[-_]/g, ''))
    result[name] = isSecret && member !== undefined ? struckOut : withoutSecrets(member, depth + 1)
  }
  return result
}

/** The message and stack of an error are not its own enumerable fields, and would be omitted. */
function membersOf(error: Error): object {
  const { name, message, stack, cause } = error
  const members = { ...error, type: name, message, stack, ...(cause === undefined ? {} : { cause }) }
  return isOfDatabase(error) ? withoutValues(members) : members
}

/** An error of PostgreSQL's own, by the members that the driver gives it. */
const isOfDatabase = (error: Error): boolean => 'severity' in error && 'code' in error && 'routine' in error

/** Fields that repeat the content of a row or a statement: addresses and texts of people. */
const valueMembers = ['detail', 'hint', 'where', 'internalQuery', 'parameters', 'query'] as const

/** Where a value could not be read, the message quotes it. */
function withoutValues(members: Record<string, unknown>): object {
  const shown = { ...members }
  for (const name of valueMembers) if (shown[name] !== undefined && shown[name] !== null) shown[name] = struckOut
  if (!String(shown['code']).startsWith('22')) return shown
  const message = String(shown['message'] ?? '')
  shown['message'] = message.replace(/".*"/s, `"${struckOut}"`)
  shown['stack'] = String(shown['stack'] ?? '').replace(message, String(shown['message']))
  return shown
}

function withoutSecretTexts(text: string): string {
  return secretTexts.reduce((all, [pattern, instead]) => all.replaceAll(pattern, instead), text)
}
