// Unknown members are never ignored in silence: every route with a body, at every level that is not free-form.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { documentedRoutes } from '../../src/http/registry.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

const document: Json = JSON.parse(JSON.stringify(openApiDocument(documentedRoutes, 'http://localhost:3000')))

let app: TestApp
let strict: TestApp
let session: string

before(async () => {
  app = await createTestApp()
  strict = await createTestApp({ nodeOf: app, unknownMembers: 'refuse' })
  const environment = await app.call('GET', '/v1/environments/me')
  const opened = await app.call('POST', '/v1/inbox/session', {
    key: null,
    body: { applicationIdentifier: environment.body.identifier, subscriber: 'reader' },
  })
  session = opened.body.data.token
})

after(async () => {
  await strict.close()
  await app.close()
})

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly opens: 'key' | 'session' | 'nothing'
  readonly schema: Json
}

const operations: Operation[] = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).flatMap(([method, operation]) => {
    const schema = operation.requestBody?.content?.['application/json']?.schema
    if (schema === undefined) return []
    const [security] = operation.security as Json[]
    const opens = security === undefined || Object.keys(security).length === 0 ? 'nothing' : undefined
    const isSession = security?.InboxSession !== undefined
    const name = `${method.toUpperCase()} ${path}`
    return [{ name, method: method.toUpperCase(), path, opens: opens ?? (isSession ? 'session' : 'key'), schema }]
  }),
)

function resolved(schema: Json): Json {
  if (schema?.$ref === undefined) return schema ?? {}
  return resolved(document.components.schemas[schema.$ref.split('/').at(-1)])
}

/** For each level that names its members: a value with an unknown one there, and its path. */
function* plantings(given: Json, path: string[] = []): Generator<{ value: Json; path: string[] }> {
  const schema = resolved(given)
  for (const way of schema.anyOf ?? schema.oneOf ?? []) yield* plantings(way, path)
  if (schema.properties !== undefined) {
    if (schema.additionalProperties !== true) yield { value: { zzz: 1 }, path: [...path, 'zzz'] }
    for (const [name, member] of Object.entries<Json>(schema.properties)) {
      for (const inner of plantings(member, [...path, name])) yield { ...inner, value: { [name]: inner.value } }
    }
  }
  const others = Object.values<Json>(schema.patternProperties ?? {})
  if (typeof schema.additionalProperties === 'object') others.push(schema.additionalProperties)
  for (const member of others) {
    for (const inner of plantings(member, [...path, 'any'])) yield { ...inner, value: { any: inner.value } }
  }
  if (schema.items !== undefined) {
    for (const inner of plantings(schema.items, [...path, '0'])) yield { ...inner, value: [inner.value] }
  }
}

async function call(on: TestApp, operation: Operation, body: Json) {
  const path = operation.path.replaceAll(/\{\w+\}/g, '019b7ca9-8f2e-70df-8841-dcc93f08a181')
  const headers = {
    ...(operation.opens === 'session' ? { authorization: `Bearer ${session}` } : {}),
    'x-posthorn-dashboard': '*',
  }
  return on.call(operation.method, path, { body, headers, ...(operation.opens === 'key' ? {} : { key: null }) })
}

/** Asked of the stricter app: what a route refuses there it reports elsewhere, and nothing is validated or written. */
test('every route with a body knows an unknown member at each level that is not free-form', async () => {
  assert.ok(operations.length > 75, `${operations.length} routes have a body`)
  let planted = 0
  const silent: string[] = []
  for (const operation of operations) {
    for (const { value, path } of plantings(operation.schema)) {
      planted += 1
      const { status, body } = await call(strict, operation, value)
      const place = path.join('.')
      const isNamed = path[0] === 'events' ? namesInBulk(body, place) : body.errors?.[place] !== undefined
      if (!isNamed) silent.push(`${operation.name} ${place}: ${status} ${JSON.stringify(body)}`)
    }
  }
  assert.ok(planted > 350, `${planted} levels`)
  assert.deepEqual(silent, [])
})

/** Each event is refused by itself; those that lack more are refused for that. */
const namesInBulk = (body: Json, place: string): boolean =>
  body[0]?.error?.some((words: string) => words.startsWith(`${place} is not a known field`))

const workflow = (name: string): Json => ({
  name,
  active: true,
  steps: [{ template: { type: 'in_app', content: 'Hello' } }],
})

test('the answer is as it was, and a header names the member and the nearest name', async () => {
  const made = await app.call('POST', '/v1/workflows', { body: { ...workflow('Known'), stepz: [], descripton: 'x' } })
  assert.equal(made.status, 201)
  assert.equal(
    made.headers['posthorn-warnings'],
    'unknown-member;path="stepz";nearest="steps", unknown-member;path="descripton";nearest="description"',
  )
  const person = await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ann', fistName: 'Ann' } })
  assert.equal(person.status, 201)
  assert.equal(person.headers['posthorn-warnings'], 'unknown-member;path="fistName";nearest="firstName"')
  const authorization = `Bearer ${session}`
  const marked = await app.call('POST', '/v1/inbox/notifications/read', {
    key: null,
    headers: { authorization, origin: 'https://shop.example' },
    body: { tag: ['a'] },
  })
  assert.equal(marked.status, 204)
  assert.equal(marked.headers['posthorn-warnings'], 'unknown-member;path="tag";nearest="tags"')
  assert.match(String(marked.headers['access-control-expose-headers']), /posthorn-warnings/)
})

test('a call that is refused says what was misspelt as well', async () => {
  const { status, headers } = await app.call('POST', '/v2/subscribers', { body: { subscriberid: 'ann' } })
  assert.equal(status, 422)
  assert.equal(headers['posthorn-warnings'], 'unknown-member;path="subscriberid";nearest="subscriberId"')
})

test('an unknown parameter of a query is named, and never refused', async () => {
  for (const on of [app, strict]) {
    const { status, headers } = await on.call('GET', '/v2/subscribers?limt=5&_=1')
    assert.equal(status, 200)
    assert.equal(
      headers['posthorn-warnings'],
      'unknown-parameter;name="limt";nearest="limit", unknown-parameter;name="_"',
    )
  }
})

test('an unknown parameter that means something to another list means nothing here', async () => {
  for (const parameter of ['orderBy=nothing', 'orderBy=_id', 'includeCursor=true']) {
    const { status, headers } = await app.call('GET', `/v1/audit?${parameter}`)
    assert.equal(status, 200, parameter)
    assert.match(String(headers['posthorn-warnings']), /^unknown-parameter;name=/)
  }
})

test('a trigger: the event runs, the header warns, and the activity shows it', async () => {
  const body = {
    name: 'known',
    to: ['ann', { topicKey: 'none', excluded: [] }],
    payloads: { a: 1 },
    overrides: { emial: {}, email: { ccc: 'x' }, providers: { sengrid: {} }, steps: { a: { layoutID: 'x' } } },
    tenant: { identifer: 'x', identifier: 'acme' },
    actor: { subscriberId: 'bob', mail: 1 },
  }
  const paths = [
    'to.1.excluded exclude',
    'payloads payload',
    'overrides.emial email',
    'overrides.email.ccc cc',
    'overrides.providers.sengrid sendgrid',
    'overrides.steps.a.layoutID layoutId',
    'tenant.identifer identifier',
    'actor.mail email',
  ]
  const { tenant: _tenant, ...runs } = body
  const first = await app.call('POST', '/v1/events/trigger', { body })
  const shown = (header: unknown): string[] =>
    [...String(header).matchAll(/path="([^"]*)"(?:;nearest="([^"]*)")?/g)].map(([, path, near]) => `${path} ${near}`)
  assert.deepEqual(shown(first.headers['posthorn-warnings']), paths)
  const triggered = await app.call('POST', '/v1/events/trigger', { body: runs })
  assert.equal(triggered.body.status, 'processed')
  const progress = await app.call('GET', `/v1/events/${triggered.body.transactionId}`)
  assert.ok(progress.body.warnings.includes('payloads is not a known member and was ignored; did you mean payload?'))
  await app.pipeline.work()
  const list = await app.call('GET', `/v1/notifications?transactionId=${triggered.body.transactionId}`)
  const [{ _id }] = list.body.data
  const detail = await app.call('GET', `/v1/notifications/${_id}`)
  assert.ok(detail.body.warnings.some((words: string) => words.startsWith('overrides.emial is not a known member')))
  const why = await app.call('GET', `/v1/notifications/${_id}/why`)
  assert.ok(why.body.warnings.some((words: string) => words.startsWith('payloads is not a known member')))
})

test('in bulk each warning names its event, and where unknown members are refused that event alone is', async () => {
  const events = [
    { name: 'known', to: 'ann' },
    { name: 'known', to: 'ann', payloads: {}, transactionId: 'own-id' },
  ]
  const warned = await app.call('POST', '/v1/events/trigger/bulk', { body: { events, event: [] } })
  assert.deepEqual(
    warned.body.map(({ status }: Json) => status),
    ['processed', 'processed'],
  )
  assert.equal(
    warned.headers['posthorn-warnings'],
    'unknown-member;path="event";nearest="events", unknown-member;path="events.1.payloads";nearest="payload"',
  )
  const refused = await strict.call('POST', '/v1/events/trigger/bulk', { body: { events } })
  assert.equal(refused.status, 201)
  assert.equal(refused.body[0].status, 'processed')
  assert.deepEqual(refused.body[1], {
    acknowledged: true,
    status: 'error',
    error: ['events.1.payloads is not a known field; did you mean payload?'],
    transactionId: 'own-id',
  })
})

test('the header is safe and short, whatever the names are', async () => {
  const odd = { 'a"b\\c': 1, 'naïve\n\r': 1, '50%': 1, ['x'.repeat(5_000)]: 1 }
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`member${index}`, 1]))
  const { headers } = await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ann', ...odd, ...many } })
  const text = String(headers['posthorn-warnings'])
  assert.match(text, /^[\x20-\x7e]+$/)
  assert.ok(text.startsWith('unknown-member;path="a\\"b\\\\c", unknown-member;path="na%C3%AFve%0A%0D", '))
  assert.ok(text.includes('path="50%25"'))
  assert.match(text, /, more;count=10$/)
  assert.ok(text.length < 2_000)
})

test('a call without unknown members has no header', async () => {
  const { headers } = await app.call('POST', '/v1/events/trigger', {
    body: {
      name: 'known',
      to: { type: 'Topic', topicKey: 'a' },
      payload: { any: { thing: 1 }, attachments: [{ what: 1 }] },
      overrides: {
        sendgrid: { any: 1 },
        push: { any: 1 },
        fcm: { _passthrough: {} },
        channels: { email: { layoutId: null } },
      },
      context: { team: { id: 'a', data: { any: 1 } } },
    },
  })
  assert.equal(headers['posthorn-warnings'], undefined)
})
