// One request of a seed: which operation, with what in its path, query, headers and body.
import type { Random } from '../test/support/random.ts'
import { createRandom } from '../test/support/random.ts'
import { arrangedBody } from './arranged.ts'
import type { Document, Operation } from './document.ts'
import { hostileBody } from './hostile-values.ts'
import type { Known } from './known.ts'
import type { Maker, Mode } from './values.ts'
import { valueFor } from './values.ts'

export interface FuzzRequest {
  readonly index: number
  readonly operation: Operation
  readonly mode: Mode
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Whether its path is one that no other route takes, so that its answer has to be this operation's. */
  readonly isOwnPath: boolean
}

export interface Keys {
  readonly full: string
  readonly production: string
  readonly read: string
  readonly trigger: string
  readonly session: string
}

export interface Source {
  readonly seed: number
  readonly document: Document
  readonly operations: readonly Operation[]
  readonly known: Known
  readonly keys: Keys
}

const rawPathParts = ['%FF', '%00', '%2F', '%2e%2e%2f', '%', '%zz', '%ED%A0%80', '*', ':', ';', 'a;b', '%0d%0a', '']
/** A key of ours is revoked, a session of ours ended, or an answer waited for: what the run itself needs. */
const leftOut = [
  /^(DELETE|PATCH) .*api-keys/,
  /api-keys\/\{keyId\}\/rotate$/,
  /^DELETE .*\/sessions$/,
  /^(DELETE|PUT) \/v1\/environments\//,
]

export const isLeftOut = ({ method, path, isStream }: Operation): boolean =>
  isStream || leftOut.some((one) => one.test(`${method} ${path}`))

export function requestOf(source: Source, index: number): FuzzRequest {
  // Each has randomness of its own: request 1,234 of a seed is the same whatever was sent before it, but for what was learned.
  const random = createRandom(Math.imul(source.seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const drawn = random.oneOf(source.operations)
  // What was made should be there for a while.
  const operation = drawn.method === 'DELETE' && random.chance(0.7) ? random.oneOf(source.operations) : drawn
  const mode = modeOf(random)
  const maker: Maker = { random, document: source.document, known: source.known, mode, size: sizeOf(random) }
  const { path, isOwnPath } = pathOf(maker, operation)
  const body = bodyOf(maker, operation)
  const headers = { ...accessFor(random, operation, source.keys), ...headersOf(random, mode, body) }
  return { index, operation, mode, method: operation.method, path, headers, body, isOwnPath }
}

function modeOf(random: Random): Mode {
  const kind = random.integer(100)
  return kind < 40 ? 'valid' : kind < 70 ? 'nearly' : 'hostile'
}

function sizeOf(random: Random): number {
  const kind = random.integer(1_000)
  return kind < 930 ? 40 : kind < 990 ? 2_000 : kind < 998 ? 20_000 : 80_000
}

function pathOf(maker: Maker, operation: Operation): { path: string; isOwnPath: boolean } {
  const { random, known, mode } = maker
  let isOwnPath = true
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (mode !== 'valid' && random.chance(0.05)) {
      isOwnPath = false
      return random.oneOf(rawPathParts)
    }
    const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === name)
    const hint = hintOf(operation.path, name)
    const value =
      random.chance(0.75) && parameter?.schema.enum === undefined
        ? known.idFor(random, hint)
        : valueFor(maker, parameter?.schema ?? {}, hint)
    const text = asText(value).slice(0, 2_000)
    if (text === '' || text === '.' || text === '..') isOwnPath = false
    return encodeURIComponent(text.toWellFormed())
  })
  // Long enough to wait at all.
  const given = queryOf(maker, operation)
  const query = operation.path.endsWith('/wait') ? `timeout=1&${given.replaceAll('timeout', 'unknown')}` : given
  return { path: query === '' ? path : `${path}?${query}`, isOwnPath }
}

/** What a parameter names, where its own name does not say it. */
function hintOf(path: string, name: string): string {
  if (/^\/v1\/outbox/.test(path)) return 'outbox'
  if (name === 'notificationId' && path.includes('/inbox/')) return 'mine'
  if (name === 'notificationId' && path.startsWith('/v2/subscribers')) return 'message'
  return name === 'id' || name === 'identifier' ? (path.split('/')[2] ?? name) : name
}

function queryOf(maker: Maker, operation: Operation): string {
  const { random, mode } = maker
  const pairs: string[] = []
  for (const { name, schema } of operation.parameters.filter((one) => one.in === 'query')) {
    if (!random.chance(0.3)) continue
    const value = valueFor(maker, schema, name)
    for (const one of Array.isArray(value) ? value.slice(0, 50) : [value]) {
      pairs.push(
        `${name}${mode !== 'valid' && random.chance(0.05) ? '[]' : ''}=${encodeURIComponent(asText(one).slice(0, 3_000).toWellFormed())}`,
      )
    }
  }
  if (mode === 'hostile' && random.chance(0.2))
    pairs.push(
      random.oneOf(['__proto__=1', 'a[b]=1', '%zz', '=', '&&&', 'constructor[prototype]=1', 'limit=1&limit=2']),
    )
  return pairs.join('&')
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function bodyOf(maker: Maker, operation: Operation): string | undefined {
  const { random, mode, size } = maker
  if (operation.body === undefined) return mode === 'hostile' && random.chance(0.1) ? '{}' : undefined
  if (mode === 'hostile' && random.chance(0.1)) return hostileBody(random, size)
  const value = random.chance(0.35)
    ? (arrangedBody(maker, operation) ?? valueFor(maker, operation.body))
    : valueFor(maker, operation.body)
  const text = JSON.stringify(value) ?? ''
  return mode === 'hostile' && random.chance(0.08) ? damaged(random, text) : text
}

/** Cuts, doubles or overwrites a piece of the text. */
function damaged(random: Random, text: string): string {
  const at = random.integer(text.length + 1)
  return random.oneOf([
    text.slice(0, at),
    text.slice(0, at) + text.slice(at, at + 1_000).repeat(2),
    `${text.slice(0, at)}${random.oneOf(['"', '\\', '}', ',', '\\u0000', '\\ud800', '1e999'])}${text.slice(at + 1)}`,
  ])
}

function accessFor(random: Random, operation: Operation, keys: Keys): Record<string, string> {
  if (operation.access === 'open') return {}
  if (operation.access === 'inbox') return { authorization: `Bearer ${keys.session}` }
  const kind = random.integer(100)
  const key =
    kind < 80 ? keys.full : kind < 88 ? keys.production : kind < 94 ? keys.read : kind < 99 ? keys.trigger : 'none'
  return key === 'none' ? {} : { authorization: `ApiKey ${key}` }
}

function headersOf(random: Random, mode: Mode, body: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  if (random.chance(0.1))
    headers['idempotency-key'] = random.oneOf(['k1', 'k2', 'x'.repeat(256), '"', `k${random.integer(1_000)}`])
  if (body === undefined) return headers
  headers['content-type'] = 'application/json'
  if (mode !== 'hostile') return headers
  if (random.chance(0.04)) headers['content-type'] = random.oneOf(['text/plain', 'a', 'application/json; charset=x'])
  if (random.chance(0.02)) headers['content-encoding'] = 'gzip'
  return headers
}
