// Every setting of Posthorn: its variable, default and meaning. docs/configuration.md is generated from this file.

import { isIP } from 'node:net'
import type { OperatorMail } from './config/smtp-url.ts'
import { smtpUrl } from './config/smtp-url.ts'

/** What one node does of the whole: answer requests, send, or both. */
export const roles = ['api', 'worker', 'all'] as const

export interface Config {
  readonly role: (typeof roles)[number]
  readonly port: number
  readonly host: string
  readonly baseUrl: string | undefined
  readonly databaseUrl: string | undefined
  readonly databasePoolSize: number
  readonly databaseWaitMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly dataDirectory: string
  readonly stateHome: string | undefined
  readonly apiKey: string | undefined
  readonly productionApiKey: string | undefined
  readonly encryptionKey: Buffer | undefined
  readonly previousEncryptionKey: Buffer | undefined
  readonly rateLimit: 'on' | 'off'
  readonly rateLimitTriggerPerSecond: number
  readonly rateLimitConfigurationPerSecond: number
  readonly rateLimitGlobalPerSecond: number
  readonly outboundAllow: readonly string[]
  readonly smtp: OperatorMail | undefined
  readonly vendor: 'platform' | 'novu'
  readonly corsOrigins: readonly string[]
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly logFormat: 'auto' | 'json' | 'pretty'
}

/** A setting: how its text is read, and the sentence that explains it. `read` throws a sentence when the text is no good. */
interface Setting<Value> {
  readonly variable: string
  readonly meaning: string
  readonly shownDefault: string
  readonly secret?: true
  readonly defaultValue: Value
  read(text: string): Value
}

const keyLengthMin = 16
const keyLengthMax = 255
const encryptionKeyBytes = 32
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']

const text = (value: string): string => value

function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    }
    return number
  }
}

function oneOf<const Values extends readonly string[]>(...values: Values): (value: string) => Values[number] {
  return (value) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}, not "${value}"`)
    return value
  }
}

function list(value: string): readonly string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function apiKey(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value) || value.length < keyLengthMin || value.length > keyLengthMax) {
    throw new Error(`must be ${keyLengthMin} to ${keyLengthMax} visible ASCII characters without spaces`)
  }
  return value
}

function encryptionKey(value: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex')
  // The pattern first: Buffer.from skips what is no base64 and would make a key of a typing mistake.
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (key.length !== encryptionKeyBytes) {
    throw new Error(
      `must be ${encryptionKeyBytes} random bytes in base64 or hex; make one with: openssl rand -base64 32`,
    )
  }
  return key
}

function databaseUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error('must be an address such as postgres://user:password@host:5432/database')
  }
  const { hostname, searchParams } = new URL(value)
  if (hostname === '' && !searchParams.get('host')) throw new Error('must name the host of the database')
  const mode = searchParams.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) {
    throw new Error(`must have an sslmode of ${sslModes.join(', ')}, not "${mode}"`)
  }
  return value
}

function hostsAndNetworks(value: string): readonly string[] {
  const entries = list(value)
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address)
    const isNetwork = family !== 0 && /^\d{1,3}$/.test(bits ?? '0') && Number(bits ?? 0) <= (family === 4 ? 32 : 128)
    if (!isNetwork && !/^(?!-)[a-z0-9.-]{1,253}$/i.test(entry)) {
      throw new Error(`must list host names, addresses or networks such as 10.1.0.0/16, not "${entry}"`)
    }
  }
  return entries
}

function webAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new Error(`must be an http(s) address, not "${value}"`)
  return value.replace(/\/+$/, '')
}

function webOrigins(value: string): readonly string[] {
  const origins = list(value)
  for (const origin of origins) {
    if (origin !== '*' && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
      throw new Error(`must list origins such as https://app.example.com, not "${origin}"`)
    }
  }
  return origins
}

type Settings = { readonly [Name in keyof Config]: Setting<Config[Name]> }

export const settings: Settings = {
  role: {
    variable: 'POSTHORN_ROLE',
    meaning:
      'What this node does: `api` answers requests, `worker` sends, `all` does both. `posthorn start --role` wins over it.',
    shownDefault: 'all',
    defaultValue: 'all',
    read: oneOf(...roles),
  },
  port: {
    variable: 'PORT',
    meaning: 'The TCP port to listen on; 0 takes a free one.',
    shownDefault: '3000',
    defaultValue: 3000,
    read: wholeNumber(0, 65_535),
  },
  host: {
    variable: 'HOST',
    meaning: 'The address to listen on. `0.0.0.0` opens the service to the network.',
    shownDefault: '127.0.0.1',
    defaultValue: '127.0.0.1',
    read: text,
  },
  baseUrl: {
    variable: 'POSTHORN_BASE_URL',
    meaning:
      'The address under which callers reach the service; written into the OpenAPI document. With `https` (or for `localhost`) e-mails carry links to unsubscribe, which begin with it.',
    shownDefault: 'none',
    defaultValue: undefined,
    read: webAddress,
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    meaning:
      'A PostgreSQL server (15 or later) to use instead of the embedded one. `sslmode` may be `disable` (the default), `require`, `verify-ca` or `verify-full`; `sslrootcert`, `sslcert` and `sslkey` name files.',
    shownDefault: 'none: the embedded database',
    secret: true,
    defaultValue: undefined,
    read: databaseUrl,
  },
  databasePoolSize: {
    variable: 'POSTHORN_DATABASE_POOL_SIZE',
    meaning: 'How many database connections this node may hold.',
    shownDefault: '10',
    defaultValue: 10,
    read: wholeNumber(2, 500),
  },
  databaseWaitMs: {
    variable: 'POSTHORN_DATABASE_WAIT_MS',
    meaning: 'How long a start waits for a database that does not answer, before it gives up.',
    shownDefault: '30000',
    defaultValue: 30_000,
    read: wholeNumber(0, 3_600_000),
  },
  statementTimeoutMs: {
    variable: 'POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS',
    meaning: 'A statement that takes longer is cancelled and the request answered with 503.',
    shownDefault: '15000',
    defaultValue: 15_000,
    read: wholeNumber(100, 600_000),
  },
  lockTimeoutMs: {
    variable: 'POSTHORN_DATABASE_LOCK_TIMEOUT_MS',
    meaning: 'A statement that waits longer for a lock is cancelled and the request answered with 503.',
    shownDefault: '5000',
    defaultValue: 5_000,
    read: wholeNumber(100, 600_000),
  },
  dataDirectory: {
    variable: 'POSTHORN_DATA_DIR',
    meaning: 'Where the embedded database and the encryption key file live.',
    shownDefault: '.posthorn',
    defaultValue: '.posthorn',
    read: text,
  },
  stateHome: {
    variable: 'XDG_STATE_HOME',
    meaning:
      'Where the embedded database goes (in `posthorn`) when its user cannot enter the data directory, as below a home that only root may enter.',
    shownDefault: '/var/lib',
    defaultValue: undefined,
    read: text,
  },
  apiKey: {
    variable: 'POSTHORN_API_KEY',
    meaning:
      'Fixes the API key of the Development environment: 16 to 255 visible ASCII characters. Without it the first start makes one and shows it once.',
    shownDefault: 'made at first start',
    secret: true,
    defaultValue: undefined,
    read: apiKey,
  },
  productionApiKey: {
    variable: 'POSTHORN_API_KEY_2',
    meaning: 'Fixes an API key of the Production environment, as POSTHORN_API_KEY does for Development.',
    shownDefault: 'none',
    secret: true,
    defaultValue: undefined,
    read: apiKey,
  },
  encryptionKey: {
    variable: 'POSTHORN_ENCRYPTION_KEY',
    meaning:
      'The key that seals credentials at rest: 32 random bytes in base64 or hex. Required when several nodes share one database.',
    shownDefault: 'made at first start, in `encryption.key` of the data directory',
    secret: true,
    defaultValue: undefined,
    read: encryptionKey,
  },
  previousEncryptionKey: {
    variable: 'POSTHORN_ENCRYPTION_KEY_PREVIOUS',
    meaning: 'The key before, while `posthorn reseal` moves everything to the new one.',
    shownDefault: 'none',
    secret: true,
    defaultValue: undefined,
    read: encryptionKey,
  },
  rateLimit: {
    variable: 'POSTHORN_RATE_LIMIT',
    meaning: '`off` switches rate limits off.',
    shownDefault: 'on',
    defaultValue: 'on',
    read: oneOf('on', 'off'),
  },
  rateLimitTriggerPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_TRIGGER',
    meaning: 'Tokens a second for triggering events, in each environment. A bulk call costs 100.',
    shownDefault: '6000',
    defaultValue: 6_000,
    read: wholeNumber(1, 1_000_000),
  },
  rateLimitConfigurationPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_CONFIGURATION',
    meaning: 'Tokens a second for subscribers, topics and tenants, in each environment.',
    shownDefault: '2000',
    defaultValue: 2_000,
    read: wholeNumber(1, 1_000_000),
  },
  rateLimitGlobalPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_GLOBAL',
    meaning: 'Tokens a second for everything else, in each environment.',
    shownDefault: '3000',
    defaultValue: 3_000,
    read: wholeNumber(1, 1_000_000),
  },
  outboundAllow: {
    variable: 'POSTHORN_OUTBOUND_ALLOW',
    meaning:
      'Private addresses that outbound calls may reach all the same: host names, addresses or networks (`10.1.0.0/16`), separated by commas.',
    shownDefault: 'none',
    defaultValue: [],
    read: hostsAndNetworks,
  },
  smtp: {
    variable: 'POSTHORN_SMTP_URL',
    meaning:
      'A mail server through which the built-in e-mail is sent instead of kept: `smtp://user:password@host:587?from=hello@example.com`, `smtps://` for TLS from the start. Parameters: `from` (required), `senderName`, `requireTls`, `ignoreTls`, `rejectUnauthorized=false`.',
    shownDefault: 'none: built-in e-mail is kept, not sent',
    secret: true,
    defaultValue: undefined,
    read: smtpUrl,
  },
  vendor: {
    variable: 'POSTHORN_VENDOR',
    meaning:
      'How the built-in provider ids are written in answers: `platform` as the interface says, `novu` for clients with closed enums. Both are accepted in requests.',
    shownDefault: 'platform',
    defaultValue: 'platform',
    read: oneOf('platform', 'novu'),
  },
  corsOrigins: {
    variable: 'POSTHORN_CORS_ORIGINS',
    meaning: 'Web origins that may call the API from a browser, separated by commas; `*` for any.',
    shownDefault: 'none',
    defaultValue: [],
    read: webOrigins,
  },
  logLevel: {
    variable: 'POSTHORN_LOG_LEVEL',
    meaning: 'The least serious level that is logged: `debug`, `info`, `warn`, `error` or `silent`.',
    shownDefault: 'info',
    defaultValue: 'info',
    read: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  },
  logFormat: {
    variable: 'POSTHORN_LOG_FORMAT',
    meaning: '`json`, `pretty`, or `auto`: pretty on a terminal, JSON elsewhere.',
    shownDefault: 'auto',
    defaultValue: 'auto',
    read: oneOf('auto', 'json', 'pretty'),
  },
}

/** All mistakes of a configuration at once, each with its variable's name. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(`The configuration has mistakes:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`)
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

export interface Environment {
  readonly [variable: string]: string | undefined
}

/** Reads the settings from the environment's variables. An empty variable counts as not set. */
export function readConfig(environment: Environment): { config: Config; warnings: string[] } {
  const mistakes: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const given = environment[setting.variable]
    if (given === undefined || given === '') {
      values[name] = setting.defaultValue
      continue
    }
    try {
      values[name] = setting.read(given)
    } catch (mistake) {
      mistakes.push(`${setting.variable} ${(mistake as Error).message}`)
    }
  }
  if (values['apiKey'] !== undefined && values['apiKey'] === values['productionApiKey']) {
    mistakes.push('POSTHORN_API_KEY_2 must differ from POSTHORN_API_KEY: a key opens one environment')
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return { config: values as unknown as Config, warnings: unknownVariables(environment) }
}

function unknownVariables(environment: Environment): string[] {
  const known = new Set(Object.values(settings).map((setting) => setting.variable))
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('POSTHORN_') && !known.has(variable))
    .map((variable) => `${variable} is not a setting of Posthorn and is ignored`)
}
