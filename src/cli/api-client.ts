// Calls a running service over HTTP with an API key, for commands that also work from another machine.
import { open } from 'node:fs/promises'
import { apiKeys, webAddress } from '../config/values.ts'
import type { Config } from '../config.ts'
import type { Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import type { Profile } from './profiles.ts'
import { readProfiles } from './profiles.ts'
import { warningNotes } from './terminal/warnings.ts'

/** For any request of a command; waiting for something to happen takes longer and says so. */
const callTimeoutMs = 30_000
/** A simulation for a hundred people with large e-mails; an e-mail with its files. */
const answerBytesMax = 64 * 1024 * 1024
/** A key, and what an editor puts around it. */
const keyFileBytesMax = 4 * 1024

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

export interface CallOptions {
  readonly query?: Query
  readonly body?: unknown
  /** The service carries out what has the same one once. */
  readonly idempotencyKey?: string
  /** Beside the time that every call has: for calls that wait. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface ApiAnswer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface ApiClient {
  /** Without a slash at its end. */
  readonly url: string
  /** The response of the service; anything but a success is thrown as an ApiError. */
  call<Body>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options?: CallOptions,
  ): Promise<ApiAnswer<Body>>
  /** The same as bytes, for what is no JSON. */
  bytes(path: string): Promise<Buffer>
}

/** The service rejected the request, or did not respond; the message is for people. */
export class ApiError extends CommandFailed {
  /** Undefined if there was no response. */
  readonly status: number | undefined
  readonly body: unknown
  /** When the service wants to be asked again. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, status?: number, body?: unknown, retryAfterMs?: number) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}

export interface ServiceValues {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly 'key-file'?: string | undefined
  readonly profile?: string | undefined
  /** The environment that is meant: the key must open it. */
  readonly environment?: string | undefined
  /** Which option of the command gives the file: to name it where a key is missing. */
  readonly keyOption?: string
}

type Place = Pick<Terminal, 'config' | 'note'>

export async function clientFor(terminal: Place, values: ServiceValues): Promise<ApiClient> {
  const { url, key } = await serviceFor(terminal, values)
  const { environment, keyOption = '--key-file' } = values
  if (key === undefined) throw noKey(url, environment, keyOption)
  const client = createClient(url, key, warningNotes(terminal))
  if (environment === undefined) return client
  const { body: own } = await client.call<{ name: string }>('GET', '/v1/environments/me?secrets=false')
  if (own.name === environment) return client
  throw new UsageError(
    `The API key opens ${own.name}, not ${environment}: use \`${keyOption}\`, or \`posthorn login\` with a key of ${environment}.`,
  )
}

const noKey = (url: string, environment: string | undefined, keyOption: string): UsageError =>
  new UsageError(
    `No API key${environment === undefined ? '' : ` of ${environment}`} for ${url}: use \`posthorn login\`, set POSTHORN_API_KEY, or give a file that contains the key with ${keyOption}. ` +
      `\`posthorn keys create${environment === undefined ? '' : ` --environment ${environment}`}\` creates one.`,
  )

/** Where the service is, and the key for it; without a key only public endpoints can be called. */
export async function serviceFor(
  terminal: Pick<Terminal, 'config'>,
  values: ServiceValues,
): Promise<{ url: string; key: string | undefined }> {
  const { config } = terminal
  const url = serviceUrl(terminal, values)
  const given = await givenKey(values)
  if (given !== undefined) return { url, key: given }
  const isUrlGiven = values.url !== undefined || config.serviceUrl !== undefined
  const { profile, environment } = values
  if (profile !== undefined) return profileNamed(config, profile, isUrlGiven ? url : undefined)
  const ofSettings = keyOfSettings(config, environment)
  if (ofSettings !== undefined) return { url, key: ofSettings }
  // A key is for the URL it was stored with, and sent to no other.
  const fitting = (await readProfiles(config)).filter((one) => !isUrlGiven || one.url === url)
  const found = fitting.find((one) => environment === undefined || one.environment === environment)
  if (found !== undefined) return found
  return { url, key: config.apiKeys[0] }
}

/** The settings have keys for two environments. */
function keyOfSettings(config: Config, environment = 'Development'): string | undefined {
  if (environment === 'Development') return config.apiKeys[0]
  return environment === 'Production' ? config.productionApiKeys[0] : undefined
}

async function profileNamed(config: Config, name: string, url: string | undefined): Promise<Profile> {
  const all = await readProfiles(config)
  const found = all.find((one) => one.name === name)
  if (found === undefined) {
    const known = all.length === 0 ? 'there are none' : `there are ${all.map((one) => one.name).join(', ')}`
    throw new UsageError(`Unknown profile "${name}"; ${known}. \`posthorn login --profile ${name}\` makes it`)
  }
  if (url === undefined || url === found.url) return found
  throw new UsageError(`The profile ${name} is for ${found.url}, not for ${url}`)
}

export function serviceUrl({ config }: Pick<Terminal, 'config'>, { url }: ServiceValues): string {
  const given = url === undefined ? (config.serviceUrl ?? `http://localhost:${config.port}`) : addressOf(url)
  const { username, password } = new URL(given)
  if (username === '' && password === '') return given
  throw new UsageError('The URL of the service must not contain a user name or a password')
}

function addressOf(url: string): string {
  try {
    return webAddress(url)
  } catch (mistake) {
    throw new UsageError(`--url ${(mistake as Error).message}`)
  }
}

/** Undefined if the command line gives none. */
async function givenKey(values: ServiceValues): Promise<string | undefined> {
  const { key, 'key-file': file } = values
  if (key !== undefined && file !== undefined)
    throw new UsageError('The API key is given twice: use --key or --key-file')
  if (key !== undefined) return keyIn('--key', key)
  if (file === undefined) return undefined
  const text = await readStart(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message})`)
  })
  return keyIn(`The key in ${file}`, text)
}

export function keyIn(source: string, text: string): string {
  try {
    return apiKeys(text)[0] ?? ''
  } catch (mistake) {
    throw new UsageError(`${source} ${(mistake as Error).message}`)
  }
}

async function readStart(file: string): Promise<string> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(keyFileBytesMax) })
    return buffer.subarray(0, bytesRead).toString('utf8')
  } finally {
    await handle.close()
  }
}

/** Without a key only public endpoints can be called. `onWarnings` receives what the service did not understand. */
export function createClient(url: string, key?: string, onWarnings?: (header: string) => void): ApiClient {
  const ask = async (method: string, path: string, options: CallOptions): Promise<ApiAnswer<Buffer>> => {
    const timeout = AbortSignal.timeout(callTimeoutMs + (options.waitMs ?? 0))
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal])
    const body = options.body === undefined ? undefined : JSON.stringify(options.body)
    try {
      const answer = await fetch(`${url}${path}${queryText(options.query ?? {})}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `ApiKey ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
        },
        ...(body === undefined ? {} : { body }),
        // The key is for this address alone.
        redirect: 'manual',
        signal,
      })
      const warnings = answer.headers.get('posthorn-warnings')
      if (warnings !== null) onWarnings?.(warnings)
      return { status: answer.status, headers: answer.headers, body: await bytesOf(answer) }
    } catch (error) {
      if (error instanceof ApiError || options.signal?.aborted === true) throw error
      throw new ApiError(unansweredWords(url, error))
    }
  }
  return {
    url,
    call: async <Body>(method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer<Body>> => {
      const { status, headers, body } = await ask(method, path, options)
      const value = jsonOf(url, status, headers, body)
      if (status >= 200 && status < 300) return { status, headers, body: value as Body }
      throw new ApiError(refusalWords(url, status, headers, value), status, value, retryAfterMs(headers))
    },
    bytes: async (path) => {
      const { status, headers, body } = await ask('GET', path, {})
      if (status === 200) return body
      const value = jsonOf(url, status, headers, body)
      throw new ApiError(refusalWords(url, status, headers, value), status, value)
    },
  }
}

/** Seconds or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    const values = value === undefined ? [] : typeof value === 'object' ? value : [String(value)]
    for (const one of values) parameters.append(name, one)
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

async function bytesOf(answer: Response): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    if (bytes > answerBytesMax) throw new ApiError(`The response is larger than ${answerBytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function jsonOf(url: string, status: number, headers: Headers, bytes: Buffer): unknown {
  if (status >= 300 && status < 400) {
    const place = headers.get('location') ?? 'another place'
    throw new ApiError(`${url} redirects to ${place}: set POSTHORN_URL or --url to that URL.`, status)
  }
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    const type = headers.get('content-type') ?? 'no content type'
    throw new ApiError(`${url} is not a Posthorn service: it responded ${status} with ${type}.`, status)
  }
}

/** Fetch hides what happened behind the word "failed". */
function unansweredWords(url: string, error: unknown): string {
  if ((error as Error).name === 'TimeoutError') return `${url} did not respond in time. Is the service overloaded?`
  const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
  const code = cause?.code ?? (cause as { errors?: NodeJS.ErrnoException[] } | undefined)?.errors?.[0]?.code
  if (code === 'ECONNREFUSED') {
    return `No response from ${url}. Is the service running (\`posthorn start\`)? Use POSTHORN_URL or --url to set another URL.`
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host ${new URL(url).hostname} could not be resolved.`
  return `The request to ${url} failed: ${code ?? cause?.message ?? (error as Error).message}`
}

/** The service's own message, with the errors field by field, and what to do about it. */
function refusalWords(url: string, status: number, headers: Headers, body: unknown): string {
  const { message, errors } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const said = typeof message === 'string' ? message : `The service responded ${status}`
  if (status === 401) {
    return `${url} rejected the API key (${said}). POSTHORN_API_KEY, a file with the key or \`posthorn login\` must give a key of this service; \`posthorn keys create\` creates one.`
  }
  if (status === 404 && said.startsWith('Cannot ')) {
    return `${url} does not know this endpoint (${said}): it is an older version of Posthorn, or a worker-only node.`
  }
  if (status === 429 || status === 503) {
    const after = headers.get('retry-after')
    return after === null ? said : `${said} (in ${after} s)`
  }
  return [said, ...fieldWords(errors)].join('\n')
}

function fieldWords(errors: unknown): string[] {
  // Under /v1/events it is a list that repeats the message.
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return []
  return Object.entries(errors).flatMap(([field, value]) => {
    const messages = (value as { messages?: unknown } | null)?.messages
    return (Array.isArray(messages) ? messages : []).map((one) => `  ${field}: ${one}`)
  })
}
