// Triggers: depth, members, numbers and sizes that cannot be kept cost the event that has them, and no other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
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

const bulk = '/v1/events/trigger/bulk'
const single = '/v1/events/trigger'

/** A body as text: what it holds cannot be written by JSON.stringify. */
function send(path: string, body: string, headers: Record<string, string> = {}): Promise<TestReply> {
  return app.call('POST', path, { body, headers: { 'content-type': 'application/json', ...headers } })
}

const eventWith = (to: string, payload: string): string => `{"name":"${hello}","to":"${to}","payload":${payload}}`

const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const lists = (levels: number): string => `{"a":${'['.repeat(levels - 1)}1${']'.repeat(levels - 1)}}`

const unfit: [string, string, RegExp][] = [
  ['objects 101 levels deep', objects(100), /^The event is nested more than 100 levels deep$/],
  ['lists 101 levels deep', lists(100), /nested more than 100 levels/],
  ['objects 900 levels deep', objects(900), /nested more than 100 levels/],
  ['__proto__', '{"__proto__":{"polluted":1}}', /^payload\.__proto__ would change a prototype/],
  ['__proto__ further in', '{"list":[{"__proto__":null}]}', /^payload\.list\.0\.__proto__ /],
  ['__proto__ in other letters', '{"\\u005f_proto__":{"polluted":1}}', /^payload\.__proto__ /],
  ['constructor.prototype', '{"deep":{"constructor":{"prototype":{}}}}', /^payload\.deep\.constructor /],
  ['a number too large', '{"list":[1,1e400]}', /^payload\.list\.1 is a number too large/],
  ['a number too small', '{"n":-1e400}', /^payload\.n is a number too large/],
  ['NUL', '{"text":"a\\u0000b"}', /^payload\.text must not contain NUL/],
]

test('one event that cannot be kept costs no other', async () => {
  const people = unfit.map(() => fresh('good'))
  const events = unfit.flatMap(([, payload], index) => [eventWith('a', payload), eventWith(people[index] ?? '', '{}')])
  for (const headers of [{}, { 'idempotency-key': fresh('key') }]) {
    const reply = await send(bulk, `{"events":[${events}]}`, headers)
    assert.equal(reply.status, 201, reply.text)
    for (const [index, [name, , words]] of unfit.entries()) {
      assert.equal(reply.body[2 * index].status, 'error', name)
      assert.match(reply.body[2 * index].error[0], words, name)
      assert.equal(reply.body[2 * index + 1].status, 'processed', name)
    }
  }
  await scene.work()
  for (const person of people) assert.equal((await scene.feed(person)).length, 2)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('a single event that cannot be kept is 422 that says why', async () => {
  for (const [name, payload, words] of unfit) {
    const reply = await send(single, eventWith('a', payload))
    assert.equal(reply.status, 422, name)
    assert.match(reply.body.message, words, name)
  }
})

test('a forbidden member anywhere in the event costs it, beside the events it costs no one', async () => {
  const event = `{"name":"${hello}","to":{"subscriberId":"a","__proto__":{"email":"a@example.org"}}}`
  const own = `{"name":"${hello}","__proto__":{"to":"a"}}`
  const reply = await send(bulk, `{"__proto__":{"a":1},"events":[${event},${own},${eventWith('a', '{}')}]}`)
  assert.equal(reply.status, 201, reply.text)
  assert.match(reply.body[0].error[0], /^to\.__proto__ /)
  assert.match(reply.body[1].error[0], /^__proto__ /)
  assert.equal(reply.body[2].status, 'processed')
  const inherited = await send(bulk, `{"__proto__":{"events":[${eventWith('a', '{}')}]}}`)
  assert.equal(inherited.status, 422, 'members are not taken from a prototype')
})

test('a hundred levels are kept as they are, and so are members that only look dangerous', async () => {
  const [deep, named] = [fresh('person'), fresh('person')]
  const reply = await send(
    bulk,
    `{"events":[${eventWith(deep, objects(99))},${eventWith(named, '{"constructor":{"name":"x"},"prototype":1,"n":1e308}')}]}`,
  )
  assert.deepEqual(
    reply.body.map((result: { status: string }) => result.status),
    ['processed', 'processed'],
  )
  await scene.work()
  const { payload } = await scene.notification(reply.body[0].transactionId)
  assert.equal(JSON.stringify(payload), objects(99))
  const second = await scene.notification(reply.body[1].transactionId)
  assert.deepEqual(second.payload, { constructor: { name: 'x' }, prototype: 1, n: 1e308 })
})

test('a body too deep to be read safely is 400, with an idempotency key too', async () => {
  for (const headers of [{}, { 'idempotency-key': fresh('key') }]) {
    for (const levels of [1_001, 10_000, 200_000]) {
      assert.equal((await send(bulk, `{"events":[${eventWith('a', objects(levels))}]}`, headers)).status, 400)
      assert.equal((await send(single, eventWith('a', lists(levels)), headers)).status, 400)
    }
    assert.equal((await send(bulk, '['.repeat(900), headers)).status, 400)
  }
})

test('a trigger may start with a byte order mark', async () => {
  const reply = await send(single, `\uFEFF${eventWith(fresh('person'), '{}')}`)
  assert.equal(reply.status, 201, reply.text)
})

test('a single event of more than 512 KB is 422 that reports the limit, one beyond the body limit 413', async () => {
  const large = (bytes: number) => eventWith(fresh('person'), `{"text":"${'x'.repeat(bytes)}"}`)
  for (const bytes of [512 * 1024, 2 * 1024 * 1024]) {
    const reply = await send(single, large(bytes))
    assert.equal(reply.status, 422, reply.text)
    assert.match(reply.body.message, /^The event is \d+ bytes; at most 524288 are allowed$/)
  }
  assert.equal((await send(single, large(26 * 1024 * 1024))).status, 413)
  assert.equal((await send(single, large(500 * 1024))).status, 201)
})
