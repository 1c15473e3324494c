// Every setting of Posthorn: its variable, default and meaning. docs/configuration.md is generated from this file.

import type { CommandConfig } from './config/commands.ts'
import { commandSettings } from './config/commands.ts'
import type { DatabaseConfig } from './config/database.ts'
import { databaseMistakes, databaseSettings } from './config/database.ts'
import type { InboxConfig } from './config/inbox.ts'
import { inboxSettings } from './config/inbox.ts'
import type { OidcConfig } from './config/oidc.ts'
import { oidcMistakes, oidcSettings } from './config/oidc.ts'
import type { AllowEntry } from './config/outbound-allow.ts'
import { allowWarnings, outboundAllow } from './config/outbound-allow.ts'
import type { ProcessConfig } from './config/processes.ts'
import { connectionsFor, processMistakes, processSettings } from './config/processes.ts'
import { noProxy, proxyUrl } from './config/proxy.ts'
import { fileVariable, secretIn } from './config/secret-files.ts'
import type { SecurityConfig } from './config/security.ts'
import { securitySettings } from './config/security.ts'
import type { OperatorMail } from './config/smtp-url.ts'
import { smtpUrl } from './config/smtp-url.ts'
import type { TraceConfig } from './config/traces.ts'
import { traceSettings } from './config/traces.ts'
import {
  apiKeys,
  encryptionKey,
  files,
  oneOf,
  orOff,
  text,
  webAddress,
  webOrigins,
  wholeNumber,
} from './config/values.ts'

/** What one node does of the whole: answer requests, send, or both. */
export const roles = ['api', 'worker', 'all'] as const

export interface Config
  extends CommandConfig,
    DatabaseConfig,
    InboxConfig,
    OidcConfig,
    ProcessConfig,
    SecurityConfig,
    TraceConfig {
  readonly role: (typeof roles)[number]
  readonly port: number
  readonly host: string
  readonly baseUrl: string | undefined
  readonly dataDirectory: string
  readonly stateHome: string | undefined
  readonly apiKeys: readonly string[]
  readonly productionApiKeys: readonly string[]
  readonly encryptionKey: Buffer | undefined
  readonly previousEncryptionKey: Buffer | undefined
  readonly rateLimit: 'on' | 'off'
  readonly rateLimitTriggerPerSecond: number
  readonly rateLimitConfigurationPerSecond: number
  readonly rateLimitGlobalPerSecond: number
  readonly rateLimitInboxPerSecond: number
  readonly outboundAllow: readonly AllowEntry[]
  readonly providersDirectory: string | undefined
  readonly httpsProxy: string | undefined
  readonly httpProxy: string | undefined
  readonly noProxy: readonly string[]
  readonly proxyTarget: 'address' | 'name'
  readonly caFiles: readonly string[]
  readonly nodeCaFiles: readonly string[]
  readonly smtp: OperatorMail | undefined
  readonly vendor: 'platform' | 'novu'
  readonly retentionDays: number | 'off'
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
  /** Other programs read the variable by this name too. */
  readonly otherName?: string
  readonly defaultValue: Value
  read(text: string): Value
}

type Settings = { readonly [Name in keyof Config]: Setting<Config[Name]> }

export const settings: Settings = {
  role: {
    variable: 'POSTHORN_ROLE',
    meaning:
      'What this node does: `api` serves requests, `worker` sends, `all` does both. `posthorn start --role` takes precedence.',
    shownDefault: 'all',
    defaultValue: 'all',
    read: oneOf(...roles),
  },
  ...processSettings,
  port: {
    variable: 'PORT',
    meaning: 'The TCP port to listen on; 0 selects a free port.',
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
      'The public URL of the service, used in the OpenAPI document. With `https` (or for `localhost`), e-mails contain unsubscribe links that begin with it.',
    shownDefault: 'none',
    defaultValue: undefined,
    read: webAddress,
  },
  ...commandSettings,
  ...databaseSettings,
  dataDirectory: {
    variable: 'POSTHORN_DATA_DIR',
    meaning: 'The directory of the embedded database and the encryption key file.',
    shownDefault: '.posthorn',
    defaultValue: '.posthorn',
    read: text,
  },
  stateHome: {
    variable: 'XDG_STATE_HOME',
    meaning:
      'The directory for the embedded database (in `posthorn`) if its user cannot enter the data directory, for example inside a home directory that only root can enter.',
    shownDefault: '/var/lib',
    defaultValue: undefined,
    read: text,
  },
  apiKeys: {
    variable: 'POSTHORN_API_KEY',
    meaning:
      'Sets the API key of the Development environment: 16 to 255 visible ASCII characters. During a rotation it may contain two keys, separated by white space: both work. Without it, the first start generates a key and shows it once.',
    shownDefault: 'generated at the first start',
    secret: true,
    defaultValue: [],
    read: apiKeys,
  },
  productionApiKeys: {
    variable: 'POSTHORN_API_KEY_2',
    meaning: 'Sets an API key of the Production environment, as POSTHORN_API_KEY does for Development.',
    shownDefault: 'none',
    secret: true,
    defaultValue: [],
    read: apiKeys,
  },
  encryptionKey: {
    variable: 'POSTHORN_ENCRYPTION_KEY',
    meaning:
      'The key that encrypts credentials at rest: 32 random bytes in base64 or hex. Required if several nodes share one database.',
    shownDefault: 'generated at the first start, in `encryption.key` of the data directory',
    secret: true,
    defaultValue: undefined,
    read: encryptionKey,
  },
  previousEncryptionKey: {
    variable: 'POSTHORN_ENCRYPTION_KEY_PREVIOUS',
    meaning: 'The previous key, while `posthorn reseal` re-encrypts everything with the new one.',
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
    meaning:
      'Tokens per second for triggering events, per environment. A bulk request costs 100, and each 8 KiB of the body beyond the first 64 KiB costs one more.',
    shownDefault: '6000',
    defaultValue: 6_000,
    read: wholeNumber(1, 1_000_000),
  },
  rateLimitConfigurationPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_CONFIGURATION',
    meaning: 'Tokens per second for subscribers, topics and tenants, per environment.',
    shownDefault: '2000',
    defaultValue: 2_000,
    read: wholeNumber(1, 1_000_000),
  },
  rateLimitGlobalPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_GLOBAL',
    meaning: 'Tokens per second for everything else, per environment.',
    shownDefault: '3000',
    defaultValue: 3_000,
    read: wholeNumber(1, 1_000_000),
  },
  rateLimitInboxPerSecond: {
    variable: 'POSTHORN_RATE_LIMIT_INBOX',
    meaning:
      'Requests per second that the inbox of one subscriber may send to each node; bursts of five times as many are allowed.',
    shownDefault: '20',
    defaultValue: 20,
    read: wholeNumber(1, 1_000_000),
  },
  outboundAllow: {
    variable: 'POSTHORN_OUTBOUND_ALLOW',
    meaning:
      'Private addresses that outbound requests may reach, separated by commas: a scheme, a host name, an address or a network, and a port (`https://10.1.2.3:8443`, `http://10.1.0.0/16:8080`, `smtp://mail.internal:25`). With the prefix `accounts+`, an entry applies only to URLs of integrations and workflows, not to URLs from subscribers or events. Without a scheme, an entry opens every port to all of them; the service logs a warning about it at startup.',
    shownDefault: 'none',
    defaultValue: [],
    read: outboundAllow,
  },
  ...securitySettings,
  ...oidcSettings,
  providersDirectory: {
    variable: 'POSTHORN_PROVIDERS_DIR',
    meaning:
      'A folder with your own providers: every `.mjs` file in it is loaded at startup, as CONTRIBUTING.md describes. These files run with the permissions of the service, so only trusted users may write to the folder.',
    shownDefault: 'none',
    defaultValue: undefined,
    read: text,
  },
  httpsProxy: {
    variable: 'HTTPS_PROXY',
    otherName: 'https_proxy',
    meaning:
      'The proxy for requests to https URLs, also as `https_proxy`: `http://user:password@proxy.example.com:3128`, or `https://` for TLS to the proxy itself. SMTP does not use it.',
    shownDefault: 'none',
    secret: true,
    defaultValue: undefined,
    read: proxyUrl,
  },
  httpProxy: {
    variable: 'HTTP_PROXY',
    otherName: 'http_proxy',
    meaning: 'The proxy for requests to http URLs, also as `http_proxy`; same format as HTTPS_PROXY.',
    shownDefault: 'none',
    secret: true,
    defaultValue: undefined,
    read: proxyUrl,
  },
  noProxy: {
    variable: 'NO_PROXY',
    otherName: 'no_proxy',
    meaning:
      'Destinations that bypass the proxy, also as `no_proxy`, separated by commas: hosts (including subdomains), `.suffixes`, addresses, networks (`10.1.0.0/16`), each optionally with a `:port`; `*` for everything. The machine itself is always included.',
    shownDefault: 'none',
    defaultValue: [],
    read: noProxy,
  },
  proxyTarget: {
    variable: 'POSTHORN_PROXY_TARGET',
    meaning:
      'What the proxy connects to: `address`, which Posthorn resolved and checked, or `name`, for proxies that filter by host name; the DNS of the proxy must then be trusted.',
    shownDefault: 'address',
    defaultValue: 'address',
    read: oneOf('address', 'name'),
  },
  caFiles: {
    variable: 'POSTHORN_CA_FILE',
    meaning:
      'Files with certificates (PEM) of additional certificate authorities that outbound requests trust, separated by commas; NODE_EXTRA_CA_CERTS applies as well.',
    shownDefault: 'none',
    defaultValue: [],
    read: files,
  },
  nodeCaFiles: {
    variable: 'NODE_EXTRA_CA_CERTS',
    meaning: 'The variable of Node.js for one such file, for all TLS connections. SMTP uses only this one.',
    shownDefault: 'none',
    defaultValue: [],
    read: (value) => [value],
  },
  smtp: {
    variable: 'POSTHORN_SMTP_URL',
    meaning:
      'A mail server that sends the built-in e-mail instead of capturing it: `smtp://user:password@host:587?from=hello@example.com`, `smtps://` for TLS from the start. Parameters: `from` (required), `senderName`, `requireTls`, `ignoreTls`, `rejectUnauthorized=false`.',
    shownDefault: 'none: built-in e-mail is captured, not sent',
    secret: true,
    defaultValue: undefined,
    read: smtpUrl,
  },
  vendor: {
    variable: 'POSTHORN_VENDOR',
    meaning:
      'How the ids of the built-in providers appear in responses: `platform` by default, `novu` for clients with closed enums. Both are accepted in requests.',
    shownDefault: 'platform',
    defaultValue: 'platform',
    read: oneOf('platform', 'novu'),
  },
  retentionDays: {
    variable: 'POSTHORN_RETENTION_DAYS',
    meaning:
      'How many days events, notifications, steps and messages are kept, by the month of the event: a month is dropped once all of it is older, unless one of its steps still has to run. `off` keeps everything. See `posthorn retention --dry-run`.',
    shownDefault: '90',
    defaultValue: 90,
    read: orOff(wholeNumber(1, 36_500)),
  },
  corsOrigins: {
    variable: 'POSTHORN_CORS_ORIGINS',
    meaning: 'Web origins that may call the API from a browser, separated by commas; `*` allows any.',
    shownDefault: 'none',
    defaultValue: [],
    read: webOrigins,
  },
  ...inboxSettings,
  logLevel: {
    variable: 'POSTHORN_LOG_LEVEL',
    meaning: 'The lowest level that is logged: `debug`, `info`, `warn`, `error` or `silent`.',
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
  ...traceSettings,
}

/** All mistakes of a configuration at once, each with its variable's name. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(`The configuration is invalid:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`)
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

export interface Environment {
  readonly [variable: string]: string | undefined
}

/** Reads the settings from the environment's variables, and secrets from the files that these name. An empty variable counts as not set. */
export function readConfig(environment: Environment): { config: Config; warnings: string[] } {
  const mistakes: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    try {
      const given = givenText(setting, environment)
      values[name] = given === undefined ? setting.defaultValue : setting.read(given)
    } catch (mistake) {
      mistakes.push(`${setting.variable} ${(mistake as Error).message}`)
    }
  }
  if (hasShared(values['apiKeys'], values['productionApiKeys'])) {
    mistakes.push('POSTHORN_API_KEY_2 must differ from POSTHORN_API_KEY: a key belongs to one environment')
  }
  // Only where each is right by itself: one mistake is not named twice.
  if (mistakes.length === 0) {
    if (!environment[settings.databasePoolSize.variable]) {
      const isEmbedded = values['databaseUrl'] === undefined
      const usual = settings.databasePoolSize.defaultValue
      values['databasePoolSize'] = connectionsFor(values['processes'] as number, usual, isEmbedded)
    }
    mistakes.push(...databaseMistakes(values), ...processMistakes(values), ...oidcMistakes(values))
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const config = values as unknown as Config
  return { config, warnings: [...unknownVariables(environment), ...allowWarnings(config.outboundAllow)] }
}

function hasShared(some: unknown, others: unknown): boolean {
  return Array.isArray(some) && Array.isArray(others) && some.some((key) => others.includes(key))
}

/** Secrets may be given in a file. */
function givenText(setting: Setting<unknown>, environment: Environment): string | undefined {
  const { variable, otherName = variable, secret } = setting
  const given = environment[variable] || environment[otherName] || undefined
  const path = secret === true ? environment[fileVariable(variable)] : undefined
  if (path === undefined || path === '') return given
  if (given !== undefined) throw new Error(`must not be set together with ${fileVariable(variable)}`)
  return secretIn(path)
}

function unknownVariables(environment: Environment): string[] {
  const known = new Set(
    Object.values(settings).flatMap(({ variable, secret }) =>
      secret === true ? [variable, fileVariable(variable)] : [variable],
    ),
  )
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('POSTHORN_') && !known.has(variable))
    .map((variable) => `${variable} is not a setting of Posthorn and is ignored`)
}
