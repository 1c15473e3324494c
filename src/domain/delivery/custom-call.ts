// A custom step's request: what can never run in its settings, how often it is made, and what is stored of a response.
import { isObject, oneOf } from '../time/timing-mistakes.ts'
import type { CustomMetadata } from '../workflows/workflow.ts'

/** The path below the step, such as `metadata.url`. */
export interface CallMistake {
  readonly path: string
  readonly message: string
}

const callMethods = ['POST', 'PUT', 'PATCH'] as const
export const callTimeoutMs = 10_000
/** A third of a lease: enough time is left to record the result of the call. */
export const callTimeoutMsMax = 20_000
export const callTimeoutMsMin = 100
/** Servers refuse longer ones. */
const callUrlLengthMax = 4_000
const headersMax = 20
const headerLengthMax = 4_000
/** Texts in the body's own members, at any depth: each is a template. */
const bodyTextsMax = 200
const bodyDepthMax = 10
/** As long as a single value that is a template may be. */
const bodyTextLengthMax = 10_000

/** The fields that every request has; the fields of a body have other names. */
const reservedFields = ['subscriber', 'payload', 'workflow', 'step', 'transactionId', 'notificationId'] as const

/** What the request itself contains. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...[
    'content-type',
    'content-length',
    'host',
    'connection',
    'transfer-encoding',
    'accept-encoding',
    'expect',
    'upgrade',
  ],
  ...['idempotency-key', 'x-posthorn-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
])
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/

export function customMistakes(metadata: unknown, path = 'metadata'): CallMistake[] {
  if (!isObject(metadata)) return [{ path, message: 'is required: an object with type http and url' }]
  const type = oneOf(metadata['type'], ['http'], `${path}.type`)
  if (type.length > 0) return type
  const { method, timeoutMs, continueOnFailure } = metadata
  return [
    ...urlMistakes(metadata['url'], `${path}.url`),
    ...(method === undefined ? [] : oneOf(method, callMethods, `${path}.method`)),
    ...headerMistakes(metadata['headers'], `${path}.headers`),
    ...bodyMistakes(metadata['body'], `${path}.body`),
    ...(timeoutMs === undefined || isTimeout(timeoutMs)
      ? []
      : [{ path: `${path}.timeoutMs`, message: `must be a whole number, ${callTimeoutMsMin} to ${callTimeoutMsMax}` }]),
    ...(continueOnFailure === undefined || typeof continueOnFailure === 'boolean'
      ? []
      : [{ path: `${path}.continueOnFailure`, message: 'must be true or false' }]),
  ]
}

export const isCustomMetadata = (metadata: unknown): metadata is CustomMetadata => customMistakes(metadata).length === 0

const isTimeout = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= callTimeoutMsMin && value <= callTimeoutMsMax

function urlMistakes(url: unknown, path: string): CallMistake[] {
  if (typeof url !== 'string' || url.trim() === '') return [{ path, message: 'is required: the URL to call' }]
  if (url.length > callUrlLengthMax)
    return [{ path, message: `must not be longer than ${callUrlLengthMax} characters` }]
  const mistake = url.includes('{') ? templateMistake(url) : urlMistake(url)
  return mistake === undefined ? [] : [{ path, message: mistake }]
}

/** Up to where a host has ended, with a character after it that a template cannot take back. */
const writtenHost = /^\s*[a-z][a-z0-9+.-]*:\/\/[^/?#\\{}\s]+[/?#]/i

/**
 * The result of a template is known when it runs; but a payload must not decide who gets a request that carries our
 * signature.
 */
function templateMistake(url: string): string | undefined {
  const [written] = writtenHost.exec(url) ?? []
  if (written !== undefined) return urlMistake(written)
  return 'must have a host without a template, such as https://api.example.com/{{ payload.id }}: only the path and the query may contain one'
}

/** What is wrong with a URL as it is called; undefined if nothing is. */
export function urlMistake(url: string): string | undefined {
  if (!URL.canParse(url) || url.length > callUrlLengthMax) return 'must be a URL such as https://api.example.com/hooks'
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an http or https URL'
  return username === '' && password === ''
    ? undefined
    : 'must not contain a user name or a password: use a header instead'
}

function headerMistakes(headers: unknown, path: string): CallMistake[] {
  if (headers === undefined) return []
  if (!isObject(headers)) return [{ path, message: 'must be an object of names and strings' }]
  const names = Object.keys(headers)
  if (names.length > headersMax) return [{ path, message: `must not have more than ${headersMax} headers` }]
  return names.flatMap((name) => {
    const value = headers[name]
    if (!headerName.test(name)) return [{ path, message: `contains an invalid header name: ${name.slice(0, 100)}` }]
    if (ownHeaders.has(name.toLowerCase()))
      return [{ path: `${path}.${name}`, message: 'must be omitted: every request already has it' }]
    if (typeof value !== 'string' || value.length > headerLengthMax)
      return [{ path: `${path}.${name}`, message: `must be a string of at most ${headerLengthMax} characters` }]
    return []
  })
}

/** Whether a header can be sent as it is. */
export const isHeaderValue = (value: string): boolean =>
  value.length <= headerLengthMax && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

function bodyMistakes(body: unknown, path: string): CallMistake[] {
  if (body === undefined) return []
  if (!isObject(body)) return [{ path, message: 'must be an object: its fields are added to the body of the request' }]
  const taken = reservedFields.filter((member) => Object.hasOwn(body, member))
  if (taken.length > 0)
    return taken.map((member) => ({
      path: `${path}.${member}`,
      message: 'must have another name: every request already has this field',
    }))
  if (depthOf(body, bodyDepthMax) > bodyDepthMax)
    return [{ path, message: `must not be nested more than ${bodyDepthMax} levels deep` }]
  const texts = textsIn(body, path)
  if (texts.length > bodyTextsMax) return [{ path, message: `must not have more than ${bodyTextsMax} strings` }]
  return texts
    .filter(({ text }) => text.length > bodyTextLengthMax)
    .map((one) => ({ path: one.path, message: `must not be longer than ${bodyTextLengthMax} characters` }))
}

/** Every template in the settings, with its path: for the code that checks whether it can be parsed. */
export function customTexts(metadata: CustomMetadata, path = 'metadata'): { path: string; text: string }[] {
  return [
    { path: `${path}.url`, text: metadata.url },
    ...textsIn(metadata.headers ?? {}, `${path}.headers`),
    ...textsIn(metadata.body ?? {}, `${path}.body`),
  ]
}

/** In the order in which `withTexts` replaces them. */
export function textsIn(value: unknown, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, `${path}.${name}`))
}

/** The same value with every text replaced. */
export function withTexts(value: unknown, path: string, change: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((member, index) => withTexts(member, `${path}.${index}`, change))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withTexts(member, `${path}.${name}`, change)]),
  )
}

/** How deep a value is nested; one more than `max` for all that is deeper. */
function depthOf(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (max === 0) return 1
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, max - 1))
  return 1 + deepest
}

/** Upper bounds of the waits between calls; five calls, ten minutes in all. */
const callWaitsMs = [5_000, 30_000, 120_000, 445_000]
export const callsMax = callWaitsMs.length + 1

/** When a service that was busy is called again; undefined when it was called often enough. */
export function nextCallAt(
  calls: number,
  { now, random, retryAfterMs = 0 }: { now: Date; random: number; retryAfterMs?: number | undefined },
): Date | undefined {
  if (calls >= callsMax) return undefined
  const waits = callWaitsMs.slice(Math.max(0, calls - 1))
  // Full jitter, as for messages; a service that asks for a longer wait gets what is left of the time.
  const jitteredMs = Math.round((waits[0] ?? 0) * random)
  const retryAfterMaxMs = waits.reduce((sum, ms) => sum + ms, 0)
  return new Date(now.getTime() + Math.max(jitteredMs, Math.min(retryAfterMs, retryAfterMaxMs)))
}

/** What later steps see must fit into a row that is read with the job every time. */
export const resultBytesMax = 64 * 1024
/** Deeper than anything a template walks; databases reject unlimited nesting. */
const resultDepthMax = 50

/** What the service of a custom step answered. */
export type CustomResult = Readonly<Record<string, unknown>>

/** What is stored of a response; undefined if it is not a JSON object of a size and depth that can be stored. */
export function callResultOf(text: string): CustomResult | undefined {
  if (text === '' || Buffer.byteLength(text) > resultBytesMax) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || depthOf(value, resultDepthMax) > resultDepthMax) return undefined
  return storableObject(value)
}

/** Without NUL and unpaired surrogates, which databases reject, in names and texts. */
export function storableObject(value: Readonly<Record<string, unknown>>): CustomResult {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), storableValue(member)]))
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map(storableValue)
  return isObject(value) ? storableObject(value) : value
}

const clean = (text: string): string => text.replaceAll('\u0000', '').toWellFormed()
