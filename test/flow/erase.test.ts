// Privacy erase in virtual time: nothing of the person is left anywhere, others keep theirs, and a kill in the middle changes nothing.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { reseal } from '../../src/manage/operate/reseal.ts'
import { findAddressKey } from '../../src/store/operate/installation.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { testEncryptionKey } from '../support/fake-world.ts'
import { FlowScene, rawOf, statuses } from '../support/flow-scene.ts'
import { marker, PersonScene } from '../support/person-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

/** An erase waits so long for calls that were under way. */
const graceMs = 60_000

const path = (subscriberId: string): string => `/v1/subscribers/${encodeURIComponent(subscriberId)}/erase`

describe('the erase of someone of whom everything is kept', () => {
  let app: TestApp
  let scene: PersonScene
  let receipt: Json
  before(async () => {
    app = await createTestApp()
    scene = new PersonScene(app)
    await scene.live()
  })
  after(() => app.close())

  test('before it, the search finds the person in many tables', async () => {
    const tables = new Set((await scene.traces()).map((trace) => trace.split(':')[0]))
    for (const name of [
      'subscribers',
      'suppressions',
      'attachments',
      'events_default',
      'messages_default',
      'jobs_default',
    ])
      assert.ok(tables.has(name), `${name} is not among ${[...tables]}`)
  })

  test('calls to send again what failed for the person are there too', async () => {
    const filter = { filter: { subscriberId: marker.subscriberId } }
    const reply = await app.call('POST', '/v1/redrives', { body: filter })
    assert.ok([200, 201, 202].includes(reply.status), reply.text)
    await scene.flow.work()
    assert.ok((await scene.traces([marker.subscriberId])).some((trace) => trace.startsWith('redrives:')))
  })

  test('it is accepted with a receipt, and the person is gone at once', async () => {
    const reply = await app.call('POST', path(marker.subscriberId))
    assert.equal(reply.status, 202, reply.text)
    assert.deepEqual([reply.body.status, reply.body.phase, reply.body.completedAt], ['running', 'canceling', null])
    assert.equal(reply.body.requestedAt, app.world.now().toISOString())
    assert.match(reply.body.subscriberHash, /^[0-9a-f]{64}$/)
    receipt = reply.body
    assert.equal((await app.call('GET', `/v2/subscribers/${marker.subscriberId}`)).status, 404)
  })

  test('a second one is refused while the first one runs', async () => {
    const again = await app.call('POST', path(marker.subscriberId))
    assert.deepEqual([again.status, again.body.erasureId], [409, receipt._id])
  })

  test('afterwards no table holds their name, address, device, files or what was said to them alone', async () => {
    await scene.flow.advance(graceMs)
    assert.deepEqual(await scene.traces(), [])
    const done = await scene.erasure(receipt._id)
    assert.deepEqual([done.status, done.phase], ['completed', 'completed'])
    assert.equal(done.completedAt, app.world.now().toISOString())
    assert.deepEqual([done.requestedBy, done.subscriberHash], [receipt.requestedBy, receipt.subscriberHash])
    const { removed } = done
    // In-app and e-mail of three, the digest, the delay, the throttle, and the simple ones.
    assert.deepEqual([removed.subscribers, removed.channels, removed.topicSubscriptions], [1, 1, 1])
    assert.deepEqual([removed.events, removed.attachments], [4, 1])
    assert.equal(removed.notifications, 7)
    assert.equal(removed.canceledSteps, 2)
    assert.deepEqual([removed.digestWindows, removed.throttleWindows, removed.suppressedAddresses], [1, 1, 1])
    assert.ok(removed.mentionsInEvents >= 3, JSON.stringify(removed))
  })

  test('what others were notified stays, with the event’s payload, and without the person', async () => {
    const { flow, transactions } = scene
    assert.deepEqual(await flow.recipients(transactions['shared'] ?? ''), ['bob'])
    const [shared] = await flow.notifications(transactions['shared'] ?? '')
    assert.equal(shared.payload.orderId, 'for all')
    assert.equal((await app.call('GET', '/v1/events/alone')).status, 404)
    const [excluded] = await flow.rows(
      sql`select excluded from events where transaction_id = ${transactions['excluded']}`,
    )
    assert.deepEqual(excluded.excluded, [])
    const [actor] = await flow.rows(sql`select actor_id from events where transaction_id = ${transactions['actor']}`)
    assert.equal(actor.actor_id, null)
    const [many] = await flow.rows(sql`
      select jsonb_array_length(recipients) as count, warnings from events where transaction_id = ${transactions['many']}`)
    assert.deepEqual([many.count, many.warnings], [120, []])
    assert.equal((await flow.feed('bob')).length, 4)
  })

  test('the receipt can be read later, and says nothing of who it was', async () => {
    const text = JSON.stringify(await scene.erasure(receipt._id))
    for (const word of Object.values(marker)) assert.ok(!text.includes(word))
    assert.equal((await app.call('GET', `/v1/erasures/${receipt._id}`, { key: app.productionKey })).status, 404)
  })

  test('the address is still not written to, by its hash, and whoever comes later under the id is someone new', async () => {
    const { flow } = scene
    const name = await flow.workflow([email('Again'), inApp('Welcome')])
    const run = await flow.run(name, { subscriberId: marker.subscriberId, email: marker.email.toUpperCase() })
    assert.deepEqual(statuses(run), ['skipped', 'completed'])
    const detail = 'Nothing was sent: the address is on the suppression list'
    assert.equal(rawOf(run.jobs[0], detail).reason, 'bounced')
    assert.equal((await flow.feed(marker.subscriberId)).length, 1)
    const other = await flow.run(name, { subscriberId: 'somebody', email: 'somebody@else.example' })
    assert.deepEqual(statuses(other), ['completed', 'completed'])
  })

  test('the list shows that an address is kept, not which; and the address can be taken off', async () => {
    const { data } = await scene.flow.expect(200, 'GET', '/v1/suppressions')
    assert.equal(data.length, 1)
    assert.match(data[0].address, /^#[0-9a-f]{64}$/)
    assert.deepEqual([data[0].reason, data[0].note], ['bounced', undefined])
    const address = encodeURIComponent(marker.email)
    assert.equal((await app.call('DELETE', `/v1/suppressions/email/${address}`)).status, 204)
    assert.equal((await app.call('DELETE', `/v1/suppressions/email/${address}`)).status, 404)
    assert.deepEqual((await scene.flow.expect(200, 'GET', '/v1/suppressions')).data, [])
  })

  test('it can be asked for again, for the new one', async () => {
    const again = await app.call('POST', path(marker.subscriberId))
    assert.equal(again.status, 202, again.text)
    assert.equal(again.body.subscriberHash, receipt.subscriberHash)
    await scene.flow.advance(graceMs)
    assert.equal((await scene.erasure(again.body._id)).status, 'completed')
    assert.deepEqual(await scene.traces(), [])
    assert.equal((await app.call('POST', path(marker.subscriberId))).status, 404)
  })
})

describe('the erase', () => {
  let app: TestApp
  let flow: FlowScene
  before(async () => {
    app = await createTestApp()
    flow = new FlowScene(app)
  })
  after(() => app.close())
  const erase = async (subscriberId: string): Promise<string> =>
    (await flow.expect(202, 'POST', path(subscriberId)))._id
  const receiptOf = (id: string): Promise<Json> => flow.expect(200, 'GET', `/v1/erasures/${id}`)

  test('no one, a key that may only read or trigger, and another environment cannot erase', async () => {
    await flow.subscribers('target')
    assert.equal((await app.call('POST', path('nobody'))).status, 404)
    assert.equal((await app.call('POST', path('target'), { key: app.productionKey })).status, 404)
    assert.equal((await app.call('POST', path('target'), { key: null })).status, 401)
    assert.equal((await app.call('POST', path('x'.repeat(256)))).status, 422)
    for (const scope of ['read', 'trigger']) {
      const { key } = await flow.expect(201, 'POST', '/v1/environments/api-keys', { name: scope, scopes: [scope] })
      assert.equal((await app.call('POST', path('target'), { key })).status, 403)
      assert.equal((await app.call('GET', '/v1/erasures/x', { key })).status, 403)
    }
    assert.equal((await app.call('GET', '/v1/erasures/not-an-id')).status, 404)
    assert.equal((await app.call('GET', `/v1/erasures/${app.world.newId(app.world.now())}`)).status, 404)
    assert.equal((await app.call('GET', '/v2/subscribers/target')).status, 200)
  })

  test('someone who was deleted, and made again, is erased with all that was before', async () => {
    const name = await flow.workflow([inApp('Before')])
    await flow.run(name, 'twice')
    await flow.expect(200, 'DELETE', '/v2/subscribers/twice')
    await flow.run(name, 'twice')
    const id = await erase('twice')
    await flow.advance(graceMs)
    const { removed } = await receiptOf(id)
    assert.deepEqual([removed.subscribers, removed.notifications], [2, 2])
  })

  test('a repeat with the same idempotency key gets the first receipt', async () => {
    await flow.subscribers('repeated')
    const headers = { 'idempotency-key': 'erase-once' }
    const first = await app.call('POST', path('repeated'), { headers })
    const second = await app.call('POST', path('repeated'), { headers })
    assert.deepEqual([first.status, second.status], [202, 202])
    assert.equal(second.body._id, first.body._id)
    await flow.advance(graceMs)
  })

  test('a step that a provider is being asked for is waited for, and nothing comes after it', async () => {
    const name = await flow.workflow([delay(), inApp('Never')])
    const transactionId = await flow.trigger(name, 'held')
    await flow.work()
    const until = new Date(app.world.now().getTime() + 30_000)
    await flow.rows(sql`
      update jobs set status = 'running', lease = ${app.world.newId(app.world.now())}, due_at = ${until}
      where event_id = (select id from events where transaction_id = ${transactionId})`)
    const id = await erase('held')
    await flow.work()
    assert.deepEqual([(await receiptOf(id)).status, (await receiptOf(id)).phase], ['running', 'canceling'])
    await flow.advance(graceMs + 10_000, 5_000)
    assert.equal((await receiptOf(id)).status, 'completed')
    assert.deepEqual(await flow.rows(sql`select 1 from jobs where event_id::text = ${transactionId}`), [])
  })

  test('an event that is still being expanded is waited for: no one it names is notified after the erase, nor made again', async () => {
    const name = await flow.workflow([inApp('To many')])
    const many = Array.from({ length: 150 }, (_, index) => `crowd-${index}`)
    await flow.subscribers('crowded')
    const transactionId = await flow.trigger(name, [
      ...many.slice(0, 75),
      { subscriberId: 'crowded', firstName: 'Pressed' },
      ...many.slice(75),
    ])
    const later = new Date(app.world.now().getTime() + graceMs + 3_000)
    await flow.rows(sql`update tasks set due_at = ${later} where kind = 'expand'`)
    const id = await erase('crowded')
    await flow.advance(graceMs)
    assert.equal((await receiptOf(id)).phase, 'waiting')
    await flow.advance(12_000, 3_000)
    assert.equal((await receiptOf(id)).status, 'completed')
    // Everyone else is notified: no one was skipped over because of the one who is gone.
    assert.equal((await flow.progress(transactionId)).counts.recipients, 150)
    const reported = await flow.rows(sql`
      select count(*) as count from notifications n join subscribers s on s.id = n.subscriber_id where s.subscriber_id like 'crowd-%'`)
    assert.deepEqual(reported, [{ count: 150 }])
    assert.deepEqual(await flow.rows(sql`select 1 from subscribers where subscriber_id = 'crowded'`), [])
    const [{ recipients }] = await flow.rows(
      sql`select recipients::text from events where transaction_id = ${transactionId}`,
    )
    assert.ok(!/crowded|Pressed/.test(recipients))
  })

  test('one that failed for good is stuck, and the same call sets it going again', async () => {
    await flow.subscribers('unlucky')
    const id = await erase('unlucky')
    await flow.rows(sql`update tasks set due_at = null, error = 'broken' where id = ${id}`)
    assert.equal((await receiptOf(id)).status, 'stuck')
    // What was buried long ago is swept.
    await flow.rows(sql`delete from tasks where id = ${id}`)
    assert.equal((await receiptOf(id)).status, 'stuck')
    assert.equal(await erase('unlucky'), id)
    await flow.advance(graceMs)
    assert.equal((await receiptOf(id)).status, 'completed')
  })

  test('killed after any number of pages, it continues where it was and counts nothing twice', async () => {
    const name = await flow.workflow([inApp('One of many {{ payload.n }}')])
    for (const kills of [1, 2, 3, 4, 5]) {
      const subscriberId = `killed-${kills}`
      await flow.results(Array.from({ length: 60 }, (_, n) => ({ name, to: subscriberId, payload: { n } })))
      await flow.results(Array.from({ length: 60 }, (_, n) => ({ name, to: subscriberId, payload: { n } })))
      await flow.work()
      const id = await erase(subscriberId)
      app.world.advance(graceMs)
      const dying = createTestPipeline(dyingAfter(app.database.db, kills), app.world)
      await dying.work().catch(() => 0)
      assert.equal((await receiptOf(id)).status, 'running', `it was killed after ${kills}`)
      await flow.advance(70_000)
      const { status, removed } = await receiptOf(id)
      assert.equal(status, 'completed')
      const { notifications, steps, messages, events, subscribers } = removed
      assert.deepEqual(
        { notifications, steps, messages, events, subscribers },
        { notifications: 120, steps: 120, messages: 120, events: 120, subscribers: 1 },
      )
      const left = await flow.rows(sql`
        select 1 from notifications n join subscribers s on s.id = n.subscriber_id where s.subscriber_id = ${subscriberId}`)
      assert.deepEqual(left, [])
    }
  })

  test('hashes survive a change of the encryption key', async () => {
    const { db } = app.database
    const environment = await environmentOf(app)
    const newKey = Buffer.alloc(32, 9)
    const key = await findAddressKey(db, app.world.sealer, environment)
    const changing = { ...app.world, sealer: createSealer([newKey, testEncryptionKey]) }
    const resealed: string[] = []
    await reseal(db, changing, (what) => void resealed.push(what))
    assert.ok(resealed.includes('address keys'), resealed.join())
    assert.deepEqual(await findAddressKey(db, createSealer([newKey]), environment), key)
  })
})

/** A database that lets so many transactions of pages through, and then answers nothing: as after a kill. */
function dyingAfter(db: Database, transactions: number): Database {
  let left = transactions
  const dead = async (): Promise<never> => {
    throw new Error('killed')
  }
  const alive = (): boolean => left > 0
  return {
    ...db,
    rows: (statement) => (alive() ? db.rows(statement) : dead()),
    row: (statement) => (alive() ? db.row(statement) : dead()),
    run: (statement) => (alive() ? db.run(statement) : dead()),
    together: (work) => (alive() ? db.together(work) : dead()),
    transaction: async (work) => {
      if (!alive()) return dead()
      left -= 1
      return db.transaction(work)
    },
  }
}
