// Events whose calls carry an idempotency key, as those of the public client always do: as quick as the others, and never run twice.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { grouped } from '../../src/domain/grouped.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { Fate } from '../support/faulty-db.ts'
import { createFaultyDb } from '../support/faulty-db.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { eventually } from '../support/service.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const hourMs = 60 * 60 * 1000

let app: TestApp
let node: TestApp
let scene: FlowScene
let mail: MailScript
let order: string
let fate: ((statement: Statement) => Fate) | undefined
before(async () => {
  app = await createTestApp({ works: true, faulty: (db) => createFaultyDb(db, (statement) => fate?.(statement)) })
  node = await createTestApp({ nodeOf: app, works: true })
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  await mail.account('provider')
  order = await scene.workflow([inApp('{{ payload.text }}'), email('{{ payload.text }}')])
  // It fills what is kept of the configuration, so the next is decided at once.
  for (const at of [app, node]) await single(at, eventTo(fresh('first')), fresh('key'))
  await settled()
})
after(async () => {
  await node.close()
  await app.close()
})
afterEach(() => {
  fate = undefined
})

const eventTo = (person: string, text = 'Hello', more: object = {}) => ({
  name: order,
  to: { subscriberId: person, email: `${person}@example.org` },
  payload: { text },
  ...more,
})

const headersOf = (key: string | undefined) => (key === undefined ? {} : { 'idempotency-key': key })

const single = (at: TestApp, body: object, key?: string): Promise<TestReply> =>
  at.call('POST', '/v1/events/trigger', { body, headers: headersOf(key) })

const bulk = (at: TestApp, events: readonly object[], key?: string): Promise<TestReply> =>
  at.call('POST', '/v1/events/trigger/bulk', { body: { events }, headers: headersOf(key) })

const settled = (): Promise<void> =>
  eventually(async () => {
    const open = await scene.rows(sql`select 1 from jobs where due_at is not null and status in ('queued', 'running')`)
    return open.length === 0
  })

/** How many e-mails someone was sent. */
const mailsTo = (person: string): number =>
  mail.asked.filter(({ to: [address] }) => address === `${person}@example.org`).length

const eventCount = async (person: string): Promise<number> =>
  (
    await scene.rows(sql`
      select 1 from notifications n join subscribers s on s.id = n.subscriber_id where s.subscriber_id = ${person}`)
  ).length

test('a call with a key is one statement, which stores its answer and what was decided', async () => {
  const person = fresh('person')
  const writing: string[] = []
  fate = ({ text }) => {
    if (/insert into/.test(text)) writing.push(text)
    return undefined
  }
  const key = fresh('key')
  const first = await single(app, eventTo(person), key)
  fate = undefined
  assert.equal(first.status, 201, first.text)
  const [only, ...others] = writing.filter((text) => /insert into (events|idempotency_keys)/.test(text))
  assert.deepEqual(others, [])
  for (const table of ['idempotency_keys', 'events', 'jobs', 'messages'])
    assert.match(only ?? '', new RegExp(`insert into ${table}`))
  await settled()
  const again = await single(node, eventTo(person), key)
  assert.deepEqual([again.status, again.text, again.headers['idempotency-replay']], [201, first.text, 'true'])
  await settled()
  assert.deepEqual([await eventCount(person), mailsTo(person)], [1, 1])
})

test('a bulk call with a key: the same, and of its repeats with other events nothing runs', async () => {
  const [one, other] = [fresh('person'), fresh('person')]
  const key = fresh('key')
  const first = await bulk(app, [eventTo(one), eventTo(other)], key)
  assert.equal(first.status, 201, first.text)
  const again = await bulk(app, [eventTo(one), eventTo(other)], key)
  assert.deepEqual([again.status, again.text, again.headers['idempotency-replay']], [201, first.text, 'true'])
  assert.equal((await bulk(app, [eventTo(one)], key)).status, 422)
  await settled()
  assert.deepEqual([mailsTo(one), mailsTo(other)], [1, 1])
})

test('a repeat whose transaction id was used by then gets the answer of its key, and another body is refused', async () => {
  const person = fresh('person')
  const [key, transactionId] = [fresh('key'), fresh('transaction')]
  const event = eventTo(person, 'Hello', { transactionId })
  const first = await single(app, event, key)
  const again = await single(app, event, key)
  assert.deepEqual([again.status, again.text, again.headers['idempotency-replay']], [201, first.text, 'true'])
  assert.equal((await single(app, eventTo(person, 'Other', { transactionId }), key)).status, 422)
  // The key is kept before the transaction id is looked at, in whichever order they come.
  const late = await single(app, eventTo(person, 'Other', { transactionId }), fresh('key'))
  assert.deepEqual([late.status, late.body.transactionId], [201, transactionId])
  await settled()
  assert.equal(mailsTo(person), 1)
})

test('a day later a key is free, whether or not its answer was swept', async () => {
  const person = fresh('person')
  const key = fresh('key')
  const first = await single(app, eventTo(person), key)
  app.world.advance(24 * hourMs)
  const later = await single(app, eventTo(person), key)
  assert.equal(later.status, 201)
  assert.equal(later.headers['idempotency-replay'], undefined)
  assert.notEqual(later.body.transactionId, first.body.transactionId)
  const again = await single(app, eventTo(person), key)
  assert.equal(again.text, later.text)
  await settled()
  assert.equal(mailsTo(person), 2)
})

test('a commit whose answer is lost: the repeat gets the answer that was stored with it', async () => {
  const person = fresh('person')
  const key = fresh('key')
  let lost = 0
  fate = ({ text }) => {
    if (lost > 0 || !/insert into idempotency_keys/.test(text)) return undefined
    lost += 1
    return 'answer lost'
  }
  const first = await single(app, eventTo(person), key)
  assert.deepEqual([first.status, lost], [503, 1])
  const again = await single(app, eventTo(person), key)
  assert.deepEqual([again.status, again.headers['idempotency-replay']], [201, 'true'], again.text)
  await settled()
  assert.equal(mailsTo(person), 1)
})

test('a repeat neither fails a statement nor takes a slot of the provider', async () => {
  const person = fresh('person')
  const key = fresh('key')
  const first = await single(app, eventTo(person), key)
  await settled()
  let written = 0
  fate = ({ text }) => {
    if (/insert into events/.test(text)) written += 1
    return undefined
  }
  for (let repeat = 0; repeat < 60; repeat += 1)
    assert.equal((await single(app, eventTo(person), key)).text, first.text)
  assert.equal(written, 0)
})

interface Sent {
  readonly kind: 'runs' | 'refused'
  readonly key: string | undefined
  readonly person: string
  readonly text: string
  readonly reply: TestReply
}

/**
 * A crowd of calls on both nodes: some have a key of their own, some share one, some have none; some reuse a key for another event,
 * some name a workflow that no one knows, some are bulk calls, some have a transaction id.
 */
function crowd(random: Random): Promise<Sent[]> {
  const shared = Array.from({ length: 1 + random.integer(4) }, () => ({
    key: fresh('key'),
    person: fresh('person'),
    isBulk: random.chance(0.3),
    more: random.chance(0.3) ? { transactionId: fresh('transaction') } : {},
  }))
  const calls = Array.from({ length: 10 + random.integer(30) }, async (): Promise<Sent> => {
    const at = random.chance(0.5) ? app : node
    const own = { key: fresh('key'), person: fresh('person'), isBulk: random.chance(0.2), more: {} }
    const isShared = random.chance(0.4)
    const one = isShared ? random.oneOf(shared) : own
    const key = !isShared && random.chance(0.5) ? undefined : one.key
    const kind = !isShared && random.chance(0.1) ? 'refused' : 'runs'
    const text = isShared && random.chance(0.15) ? 'Other' : 'Hello'
    const body = eventTo(one.person, text, { ...one.more, ...(kind === 'refused' ? { name: 'unknown-workflow' } : {}) })
    for (let turns = random.integer(6); turns > 0; turns -= 1) await new Promise(setImmediate)
    const reply = one.isBulk && kind === 'runs' ? await bulk(at, [body], key) : await single(at, body, key)
    return { kind, key, person: one.person, text, reply }
  })
  return Promise.all(calls)
}

/** Of the calls with one key: one ran, those like it got its answer or were asked to wait, the others were refused. */
function checkKey(name: string, calls: readonly Sent[]): void {
  const isReplay = ({ reply }: Sent): boolean => reply.headers['idempotency-replay'] === 'true'
  const accepted = calls.filter(({ reply }) => reply.status === 201)
  const [winner, ...others] = accepted.filter((call) => !isReplay(call))
  assert.ok(winner !== undefined && others.length === 0, `${name}: ${others.length + 1} of them ran`)
  for (const { text, reply } of calls) {
    if (reply.status === 201) assert.deepEqual([text, reply.text], [winner.text, winner.reply.text], name)
    else if (reply.status === 409) assert.equal(reply.headers['retry-after'], '1', name)
    else assert.ok(reply.status === 422 && text !== winner.text, `${name}: ${reply.status} ${reply.text}`)
  }
}

test('whoever repeats what, and whenever: a key runs once, everyone else runs', { timeout: 280_000 }, async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const statuses = new Map<number, number>()
  for (let round = 0; round < fuzzRounds(15); round += 1) {
    const sent = await crowd(createRandom(seed + round))
    const name = `seed ${seed + round}`
    for (const { reply } of sent) statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
    await settled()
    for (const [person, calls] of grouped(sent, (call) => call.person)) {
      const [first] = calls
      if (first?.kind === 'refused') assert.deepEqual([calls.length, first.reply.status], [1, 422], name)
      else if (first?.key === undefined) assert.equal(first?.reply.status, 201, `${name}: ${first?.reply.text}`)
      else checkKey(name, calls)
      const expected = first?.kind === 'refused' ? 0 : 1
      assert.deepEqual([await eventCount(person), mailsTo(person)], [expected, expected], `${name}: ${person}`)
    }
  }
  t.diagnostic(`replies: ${JSON.stringify([...statuses])}`)
})
