// Thousands of nasty requests to every route there is: whatever is sent, the answer is below 500 and errors have their body.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { routes } from '../../src/http/registry.ts'
import type { Route } from '../../src/http/route.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'

const requestsMin = fuzzRounds(1_500)
const atOnce = 20
/** Of the ids learned on the way the latest are tried. */
const idsMax = 14

let app: TestApp
before(async () => {
  app = await createTestApp()
  // Whom a request may make us ask: answers of every kind, and once in a while none.
  let asked = 0
  const answers = [401, 200, 500, 429, 204, 302]
  const bodies = ['', '{', '{}', 'null', '[]', '{"scopes":5}', '<html>']
  app.world.onFetch = () => {
    asked += 1
    if (asked % 7 === 0) throw new OutboundError('unsure', 'The provider did not answer')
    return { status: answers[asked % 6] ?? 200, headers: new Headers(), body: bodies[asked % bodies.length] ?? '' }
  }
})
after(() => app.close())

interface Attempt {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** Ids that exist now and then, so that requests get past "not found". */
const ids = ['ada', 'grace', 'acme', 'release-notes', '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21', 'fcm', 'slack']
const idsKept = ids.length

const nastyTexts = [
  '',
  ' ',
  'a',
  '0',
  '-1',
  '1e999',
  'null',
  'true',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; drop table subscribers; --",
  '" or 1=1',
  '%',
  '_%\\',
  '\\',
  '$1',
  '{{constructor.constructor("return 1")()}}',
  '<script>',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00\ud800',
  '\u202e',
  '\ufeff',
  '\r\n',
  '\t',
  '😀'.repeat(100),
  'é'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(5000),
  'ada@example.com',
  'Europe/Berlin',
  'en-US',
  'https://example.com/hook',
  '2026-02-30T25:61:61Z',
  '99999-01-01T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  Buffer.from('["_id","x","00000000-0000-0000-0000-000000000000"]').toString('base64url'),
  Buffer.from('["updatedAt","2026-99-99T00:00:00.000Z","00000000-0000-0000-0000-000000000000"]').toString('base64url'),
  Buffer.from('["createdAt","0000-01-01T00:00:00.000Z","00000000-0000-0000-0000-000000000000"]').toString('base64url'),
  Buffer.from('["key","\\u0000","00000000-0000-0000-0000-000000000000"]').toString('base64url'),
]

const nastyScalars = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  1e-308,
  [],
  {},
  [[]],
  [{}],
]

const rawPathParts = [
  '%FF',
  '%00',
  '%2F',
  '%2e%2e%2f',
  '%',
  '%zz',
  '%ED%A0%80',
  '%E0%80%80',
  '*',
  ':',
  ';',
  'a;b',
  '%0d%0a',
]

const rawBodies = [
  '',
  ' ',
  '{',
  '[',
  'null',
  '"x"',
  '{"a":1}}',
  '[1,]',
  '\u0000',
  '{"__proto__":{"a":1}}',
  '1e999',
  '{"a":1,"a":2}',
]

function nastyValue(random: Random, depth = 0): unknown {
  const kind = random.integer(10)
  if (kind < 4) return random.oneOf(nastyTexts)
  if (kind < 6) return random.oneOf(ids)
  if (kind < 8 || depth > 3) return random.oneOf(nastyScalars)
  const values = Array.from({ length: random.integer(4) }, () => nastyValue(random, depth + 1))
  if (kind === 8) return values
  return Object.fromEntries(values.map((value) => [random.oneOf([...nastyTexts, ...ids]), value]))
}

/** A value that fits the schema, or nearly: so that requests get beyond validation. */
function fittingValue(random: Random, schema: Json, depth = 0): unknown {
  if (random.chance(0.1) || depth > 6) return nastyValue(random)
  if (Array.isArray(schema?.enum)) return random.oneOf(schema.enum)
  const examples = schema?.examples
  if (Array.isArray(examples) && random.chance(0.4)) return random.oneOf(examples)
  const type = Array.isArray(schema?.type) ? random.oneOf(schema.type) : schema?.type
  switch (type) {
    case 'object': {
      const required = new Set<string>(schema.required ?? [])
      const members = Object.entries(schema.properties ?? {}).filter(
        ([name]) => random.chance(0.5) || (required.has(name) && random.chance(0.9)),
      )
      const known = members.map(([name, member]) => [name, fittingValue(random, member, depth + 1)])
      const unknown = random.chance(0.3) ? [[random.oneOf(nastyTexts), nastyValue(random)]] : []
      return Object.fromEntries([...known, ...unknown])
    }
    case 'array':
      return Array.from({ length: random.integer(5) }, () => fittingValue(random, schema.items, depth + 1))
    case 'integer':
    case 'number':
      return random.oneOf([0, 1, 2, 10, 100, 101, -1, 1.5, 2 ** 31, 1e308])
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      return random.chance(0.6) ? random.oneOf(ids) : random.oneOf(nastyTexts)
  }
}

function asText(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()
}

function pathOf(random: Random, route: Route): string {
  const path = route.path.replaceAll(/\{\w+\}/g, () => {
    if (random.chance(0.1)) return random.oneOf(rawPathParts)
    return encodeURIComponent(asText(random.chance(0.7) ? random.oneOf(ids) : nastyValue(random)))
  })
  const properties = (route.query as Json)?.properties ?? {}
  const names = [...Object.keys(properties), 'unknown', '__proto__', 'a[b]']
  const pairs = Array.from({ length: random.chance(0.5) ? random.integer(5) : 0 }, () => {
    const name = random.oneOf(names)
    const value = asText(fittingValue(random, properties[name]))
    return `${name}${random.chance(0.1) ? '[]' : ''}=${random.chance(0.1) ? random.oneOf(rawPathParts) : encodeURIComponent(value)}`
  })
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/** Cuts, doubles or overwrites a piece of the text. */
function damaged(random: Random, text: string): string {
  const at = random.integer(text.length + 1)
  return random.oneOf([
    text.slice(0, at),
    text.slice(0, at) + text.slice(at).repeat(2),
    `${text.slice(0, at)}${random.oneOf(['"', '\\', '}', ',', '\\u0000', '\\ud800', '1e999'])}${text.slice(at + 1)}`,
  ])
}

function attemptOf(random: Random, route: Route): Attempt {
  const headers: Record<string, string> = {}
  if (random.chance(0.3)) headers['idempotency-key'] = random.oneOf(['k1', 'k2', 'k3', 'x'.repeat(256), '"', ' '])
  let body: string | undefined
  if (route.body !== undefined ? random.chance(0.97) : random.chance(0.1)) {
    const kind = random.integer(20)
    const fitting = JSON.stringify(fittingValue(random, route.body)) ?? ''
    if (kind === 0) body = random.oneOf(rawBodies)
    else if (kind === 1) body = JSON.stringify(nastyValue(random)) ?? ''
    else body = kind < 4 ? damaged(random, fitting) : fitting
    const odd = random.chance(0.05)
    headers['content-type'] = odd
      ? random.oneOf(['text/plain', 'a', 'application/json; charset=x'])
      : 'application/json'
    if (random.chance(0.02)) headers['content-encoding'] = 'gzip'
  }
  return { method: random.chance(0.02) ? 'HEAD' : route.method, path: pathOf(random, route), headers, body }
}

function assertAnswer(attempt: Attempt, reply: TestReply): void {
  const reported = `${JSON.stringify(attempt).slice(0, 2000)} was answered ${reply.status} ${reply.text.slice(0, 500)}`
  const failed = app.world.logged.find(({ level }) => level === 'error')
  assert.ok(reply.status < 500, `${reported} ${String((failed?.facts as { err?: Error })?.err?.stack)}`)
  assert.notEqual(reply.status, 401, reported)
  if (reply.status < 400 || attempt.method === 'HEAD') return
  assert.equal(reply.body?.statusCode, reply.status, reported)
  assert.equal(typeof reply.body.message, 'string', reported)
  assert.equal(typeof reply.body.path, 'string', reported)
  assert.equal(new Date(reply.body.timestamp).toISOString(), reply.body.timestamp, reported)
  assert.doesNotMatch(reply.text, /\\n\s+at |"stack"/, reported)
  if (reply.status === 422) assert.equal(typeof reply.body.errors, 'object', reported)
}

/** The ids that were made, except of keys: the one we call with must not be revoked. */
function learn(attempt: Attempt, reply: TestReply): void {
  const id = reply.body?._id
  if (reply.status >= 300 || typeof id !== 'string' || attempt.path.includes('api-keys') || ids.includes(id)) return
  ids.push(id)
  if (ids.length > idsMax) ids.splice(idsKept, 1)
}

async function carryOut({ method, path, headers, body }: Attempt): Promise<TestReply> {
  return app.call(method, path, { headers, ...(body === undefined ? {} : { body }) })
}

test('nothing that is sent to any route is answered with a fault', async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}: repeat with POSTHORN_FUZZ_SEED=${seed}`)
  const random = createRandom(seed)
  const rounds = Math.ceil(requestsMin / routes.length)
  const targets = Array.from({ length: rounds }, () => routes).flat()
  const statuses = new Map<number, number>()
  for (let at = 0; at < targets.length; at += atOnce) {
    const batch = targets.slice(at, at + atOnce).map((route) => attemptOf(random, route))
    const replies = await Promise.all(batch.map(carryOut))
    for (const [index, reply] of replies.entries()) {
      assertAnswer(batch[index] as Attempt, reply)
      learn(batch[index] as Attempt, reply)
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
    }
  }
  t.diagnostic(`${targets.length} requests to ${routes.length} routes: ${JSON.stringify([...statuses].sort())}`)
  const succeeded = [...statuses].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0)
  assert.ok(succeeded > targets.length / 20, 'too few requests got beyond validation to prove anything')
  for (const status of [400, 404, 415, 422]) assert.ok(statuses.has(status), `no answer was ${status}`)
  // Keys do not manage users.
  const isReadable = ({ method, path }: { method: string; path: string }): boolean =>
    method === 'GET' && !path.includes('{') && path !== '/v1/users'
  for (const route of routes.filter(isReadable)) {
    const list = await app.call('GET', route.path)
    assert.equal(list.status, 200, `${route.path} can still be read: ${list.text}`)
  }
})
