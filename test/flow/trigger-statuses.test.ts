// Triggers: which status each event gets, in which order it is judged, and that one bad event never costs a good one.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTriggers } from '../../src/accept/accept-events.ts'
import type { GivenEvent } from '../../src/accept/judge-events.ts'
import { createCheckedVersions } from '../../src/accept/judge-events.ts'
import { sql } from '../../src/db/sql.ts'
import { Problem } from '../../src/domain/problem.ts'
import { findEnvironments } from '../../src/store/operate/installation.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { testQueue } from '../support/pipeline.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hello: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  hello = await scene.workflow([inApp('Hello')])
})
after(() => app.close())

const statusOf = (result: Json): string => result.status

/** The names of the six refusals, each by an event that deserves nothing worse. */
async function refusedEvents(): Promise<[string, object][]> {
  const sleeping = await scene.workflow([inApp()], { active: false })
  const empty = await scene.workflow([], {})
  const inactive = await scene.workflow([inApp('Hello', { active: false })])
  return [
    ['error', { name: 'not-there', to: 'a' }],
    ['no_tenant_found', { name: hello, to: 'a', tenant: 'nobody' }],
    ['trigger_not_active', { name: sleeping, to: 'a' }],
    ['no_workflow_steps_defined', { name: empty, to: 'a' }],
    ['no_workflow_active_steps_defined', { name: inactive, to: 'a' }],
    ['invalid_recipients', { name: hello, to: [] }],
  ]
}

test('every status can be reached, and results come in the order of the events', async () => {
  const refused = await refusedEvents()
  const person = fresh('person')
  const events = [...refused.map(([, event]) => event), { name: hello, to: person, transactionId: fresh('given') }]
  const results = await scene.results(events)
  assert.deepEqual(results.map(statusOf), [...refused.map(([status]) => status), 'processed'])
  for (const result of results) assert.equal(result.acknowledged, true)
  assert.equal(results[0].error[0], 'workflow_not_found')
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['Hello'])
  const backwards = await scene.results([...events].reverse().map((event) => ({ ...event, transactionId: undefined })))
  assert.deepEqual(backwards.map(statusOf), ['processed', ...refused.map(([status]) => status).reverse()])
})

test('a refused event answers the caller’s own transactionId, and none otherwise', async () => {
  for (const [status, event] of await refusedEvents()) {
    const [given, none] = await scene.results([{ ...event, transactionId: 'mine' }, event])
    assert.equal(given.transactionId, 'mine', status)
    assert.equal('transactionId' in none, false, status)
  }
  await scene.expect(404, 'GET', '/v1/events/mine')
})

/** Triggers on a node whose machine is too busy for payloads that say `costly`; how often each group was judged. */
async function busyNode() {
  const { db } = app.database
  const row = await db.row<{ id: string }>(sql`select id from environments where name = 'Development'`)
  const [environment] = await findEnvironments(db, [row?.id ?? ''])
  assert.ok(environment !== undefined)
  const seen = { costly: 0, isBusy: true }
  const check = (payload: Record<string, unknown>): string[] => {
    if (payload['costly'] !== true) return []
    seen.costly += 1
    if (!seen.isBusy) return []
    throw new Problem(503, 'The service is too busy', { headers: { 'retry-after': '1' } })
  }
  const compile = () => ({ ok: true, check, slowPatterns: [], isQuick: () => false }) as const
  const known = createCheckedVersions(10, { compile })
  const name = await scene.workflow([inApp('Hello')], { payloadSchema: { type: 'object' } })
  const eventOf = (subscriberId: string, costly: boolean): GivenEvent => ({
    request: {
      ...{ name, payload: { costly }, overrides: {}, recipients: [{ subscriberId, fields: {}, channels: [] }] },
      ...{ topics: [], isBroadcast: false, attachments: [], context: [] },
    },
    warnings: [],
  })
  const triggers = createTriggers(db, app.world, testQueue(app.world), undefined, known)
  return { environment, eventOf, triggers, seen }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const idempotencyOf = (key: string) => ({ key, scopeHash: sha256(key), requestHash: sha256('request') })

test('of single calls, only the one that the machine is too busy for is a 503; the group is not judged again', async () => {
  const { environment, eventOf, triggers, seen } = await busyNode()
  const people = Array.from({ length: 8 }, () => fresh('person'))
  const calls = people.map((person, at) =>
    triggers.single(environment, { event: eventOf(person, at === 3), idempotency: undefined }),
  )
  const settled = await Promise.allSettled(calls)
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.body.status : one.reason.status)),
    people.map((_, at) => (at === 3 ? 503 : 'processed')),
  )
  const refused = settled[3]
  assert.ok(refused?.status === 'rejected' && refused.reason instanceof Problem)
  assert.deepEqual(refused.reason.headers, { 'retry-after': '1' })
  assert.equal(seen.costly, 4, 'at once, and in three turns')
  await scene.work()
  const [refusedPerson = ''] = people.splice(3, 1)
  for (const person of people) assert.deepEqual(await scene.texts(person), ['Hello'])
  await scene.expect(404, 'GET', `/v1/subscribers/${refusedPerson}`)
})

test('in a bulk call only that event is an error; where all are, its key may carry them again', async () => {
  const { environment, eventOf, triggers, seen } = await busyNode()
  const [ada, bea] = [fresh('person'), fresh('person')]
  const [mixed, costly] = [[eventOf(ada, false), eventOf(bea, true)], [eventOf(bea, true)]]
  const call = async (key: string, events: readonly GivenEvent[]) => {
    const { body, replayed } = await triggers.bulk(environment, { events, idempotency: idempotencyOf(key) })
    return [...body.map((one) => one.error?.[0] ?? one.status), replayed === true ? 'replayed' : 'first']
  }
  const [mixedKey, costlyKey] = [fresh('key'), fresh('key')]
  const busy = 'The service is too busy'
  assert.deepEqual(await call(mixedKey, mixed), ['processed', busy, 'first'])
  assert.deepEqual(await call(costlyKey, costly), [busy, 'first'])
  seen.isBusy = false
  assert.deepEqual(await call(mixedKey, mixed), ['processed', busy, 'replayed'])
  assert.deepEqual(await call(costlyKey, costly), ['processed', 'first'])
  await scene.work()
  assert.deepEqual([await scene.texts(ada), await scene.texts(bea)], [['Hello'], ['Hello']])
})

test('a single call that was put off is carried out with the same key', async () => {
  const { environment, eventOf, triggers, seen } = await busyNode()
  const key = fresh('key')
  const call = { event: eventOf(fresh('person'), true), idempotency: idempotencyOf(key) }
  await assert.rejects(triggers.single(environment, call), (error) => error instanceof Problem && error.status === 503)
  seen.isBusy = false
  assert.equal((await triggers.single(environment, call)).body.status, 'processed')
})

test('an event gets the first reason that keeps it from running', async () => {
  const schema = { type: 'object', required: ['orderId'] }
  const worst = await scene.workflow([], { active: false, payloadSchema: schema })
  const tenant = fresh('tenant')
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: tenant, name: 'Tenant' })
  const event = { name: worst, to: [], tenant: 'nobody', payload: {} }
  const [unfit, noTenant, asleep] = await scene.results([
    event,
    { ...event, payload: { orderId: 1 } },
    { ...event, payload: { orderId: 1 }, tenant },
  ])
  assert.equal(unfit.status, 'error')
  assert.match(unfit.error[0], /orderId/)
  assert.equal(noTenant.status, 'no_tenant_found')
  assert.equal(asleep.status, 'trigger_not_active')
  const inactive = await scene.workflow([inApp('Hello', { active: false })])
  assert.equal((await scene.results([{ name: inactive, to: [] }]))[0].status, 'no_workflow_active_steps_defined')
})

const nul = 'a\u0000b'
const half = 'a\ud800b'

test('one event that is ill-formed costs no other', async () => {
  const bad: [string, unknown][] = [
    ['no object', 'hello'],
    ['null', null],
    ['a list', []],
    ['no name', { to: 'a' }],
    ['an empty name', { name: '', to: 'a' }],
    ['no recipient', { name: hello }],
    ['a recipient that is a number', { name: hello, to: 5 }],
    ['a payload that is a list', { name: hello, to: 'a', payload: [] }],
    ['overrides that are text', { name: hello, to: 'a', overrides: 'none' }],
    ['a transactionId that is empty', { name: hello, to: 'a', transactionId: '' }],
    ['a transactionId that is too long', { name: hello, to: 'a', transactionId: 'x'.repeat(256) }],
    ['NUL in the payload', { name: hello, to: 'a', payload: { deep: [{ text: nul }] } }],
    ['half a surrogate pair in the payload', { name: hello, to: 'a', payload: { text: half } }],
    ['NUL in a payload member', { name: hello, to: 'a', payload: { [nul]: 1 } }],
    ['NUL in the overrides', { name: hello, to: 'a', overrides: { email: { subject: nul } } }],
    ['too large', { name: hello, to: 'a', payload: { text: 'x'.repeat(512 * 1024) } }],
    ['an actor without an id', { name: hello, to: 'a', actor: { email: 'a@example.org' } }],
    ['an actor with a bad address', { name: hello, to: 'a', actor: { subscriberId: 'b', email: 'nowhere' } }],
    ['a tenant without an identifier', { name: hello, to: 'a', tenant: { name: 'Tenant' } }],
    ['a context without an id', { name: hello, to: 'a', context: { project: {} } }],
    ['a context with a bad type', { name: hello, to: 'a', context: { 'pro ject': 'one' } }],
    ['six contexts', { name: hello, to: 'a', context: { a: '1', b: '1', c: '1', d: '1', e: '1', f: '1' } }],
    [
      'a context with too much data',
      { name: hello, to: 'a', context: { a: { id: '1', data: { x: 'x'.repeat(65_536) } } } },
    ],
  ]
  const people = bad.map(() => fresh('good'))
  const events = bad.flatMap(([, event], index) => [event, { name: hello, to: people[index] }])
  const results = await scene.results(events)
  for (const [index, [name]] of bad.entries()) {
    const result = results[2 * index]
    assert.equal(result.status, 'error', name)
    assert.equal(result.acknowledged, true)
    assert.ok(result.error.length > 0 && result.error.every((words: unknown) => typeof words === 'string'), name)
    assert.equal(results[2 * index + 1].status, 'processed', name)
  }
  await scene.work()
  for (const person of people) assert.equal((await scene.feed(person)).length, 1)
})

test('a mistake is reported with the name of its field', async () => {
  const [text, actor, context, size] = await scene.results([
    { name: hello, to: 'a', payload: { deep: [{ text: nul }] } },
    { name: hello, to: 'a', actor: { subscriberId: 'b', email: 'nowhere' } },
    { name: hello, to: 'a', context: { project: { id: 'one', data: [] } } },
    { name: hello, to: 'a', payload: { text: 'x'.repeat(512 * 1024) } },
  ])
  assert.match(text.error[0], /payload\.deep\.0\.text/)
  assert.match(actor.error.join(), /email/)
  assert.match(context.error[0], /project\.data/)
  assert.match(size.error[0], /524288/)
})

test('no event at all and more than a hundred are refused as a whole; a hundred run', async () => {
  const event = { name: hello, to: 'a' }
  assert.equal((await scene.bulk([])).status, 422)
  assert.equal((await scene.bulk(Array.from({ length: 101 }, () => event))).status, 422)
  assert.equal((await app.call('POST', '/v1/events/trigger/bulk', { body: {} })).status, 422)
  const results = await scene.results(Array.from({ length: 100 }, () => event))
  assert.equal(results.length, 100)
  assert.equal(new Set(results.map((result) => result.transactionId)).size, 100)
})

test('a single trigger is answered 201 with its status, and 422 where that is an error', async () => {
  for (const [status, event] of await refusedEvents()) {
    const reply = await scene.single(event)
    if (status === 'error') continue
    assert.equal(reply.status, 201, status)
    assert.deepEqual(reply.body, { acknowledged: true, status })
  }
  const unknown = await scene.single({ name: 'not-there', to: 'a' })
  assert.equal(unknown.status, 422)
  assert.equal(unknown.body.message, 'workflow_not_found')
  assert.match(unknown.body.errors.event.messages[1], /^there is no workflow not-there in this environment/)
  const missing = await scene.single({ name: hello })
  assert.equal(missing.status, 422)
  const unstorable = await scene.single({ name: hello, to: 'a', payload: { text: nul } })
  assert.equal(unstorable.status, 422)
  assert.match(unstorable.text, /payload\.text/)
})

test('a key that may trigger triggers; one that may only read does not', async () => {
  const keyOf = async (scope: string) =>
    (await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: scope, scopes: [scope] })).key
  const [trigger, read] = [await keyOf('trigger'), await keyOf('read')]
  const body = { name: hello, to: fresh('person') }
  assert.equal((await app.call('POST', '/v1/events/trigger', { body, key: trigger })).status, 201)
  assert.equal(
    (await app.call('POST', '/v1/events/trigger/bulk', { body: { events: [body] }, key: trigger })).status,
    201,
  )
  assert.equal((await app.call('POST', '/v1/events/trigger', { body, key: read })).status, 403)
  assert.equal((await app.call('POST', '/v1/events/trigger/bulk', { body: { events: [body] }, key: read })).status, 403)
  assert.equal((await app.call('POST', '/v1/events/trigger', { body, key: null })).status, 401)
})

test('a workflow of another environment is unknown here', async () => {
  const reply = await app.call('POST', '/v1/events/trigger', { body: { name: hello, to: 'a' }, key: app.productionKey })
  assert.equal(reply.status, 422)
})
