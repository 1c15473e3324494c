// Commits whose answer is lost: whatever the database kept of them, every message is sent once and every run ends.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { createFaultyDb } from '../support/faulty-db.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import type { TestPipeline } from '../support/pipeline.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let vendors: VendorScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  vendors = new VendorScript(scene)
  const toVendors = app.world.onFetch
  mail = new MailScript(scene)
  const toMail = app.world.onFetch
  app.world.onFetch = (request, options) => {
    const answer = new URL(request.url).hostname.startsWith('phones') ? toVendors : toMail
    return (answer ?? assert.fail('there is no answer'))(request, options)
  }
})
after(() => app.close())
beforeEach(async () => {
  await mail.clear()
  await vendors.clear()
})

const sms = { template: { type: 'sms', content: 'Hello' } }
/** More than an integration takes at once: some begin with the decision, others when they have a slot. */
const people = (count = 60): Json[] =>
  Array.from({ length: count }, (_, index) => ({
    subscriberId: fresh('person'),
    email: `${fresh('ada')}@example.org`,
    phone: `+49151${10_000 + index}`,
  }))

/** A node that hears nothing of the first commits that match. */
function deaf(matches: (statement: Statement) => boolean, losses: number): { node: TestPipeline; lost(): number } {
  let lost = 0
  const db = createFaultyDb(app.database.db, (statement) => {
    if (lost >= losses || !matches(statement)) return undefined
    lost += 1
    return 'answer lost'
  })
  return { node: createTestPipeline(db, app.world), lost: () => lost }
}

const marksCalls = ({ text }: Statement): boolean =>
  /insert into messages/.test(text) || /update messages m\s+set state = 'calling'/.test(text)
const settlesCalls = ({ text }: Statement): boolean => /update messages/.test(text) && !/'calling'/.test(text)

async function assertAllOver(transactionId: string, steps: number, count: number): Promise<void> {
  const rows = await scene.rows(sql`
    select status, count(*) as count, bool_or(lease is not null or due_at is not null) as open from jobs
    where event_id = (select id from events where transaction_id = ${transactionId}) group by status`)
  assert.deepEqual(rows, [{ status: 'completed', count: steps * count, open: false }])
  const messages = await scene.rows(sql`
    select state, status, count(*) as count from messages
    where event_id = (select id from events where transaction_id = ${transactionId}) group by 1, 2`)
  assert.deepEqual(messages, [{ state: 'done', status: 'sent', count: steps * count }])
}

const askedMail = (): string[] => mail.asked.flatMap(({ to }) => to)
const askedPhones = (): string[] => vendors.recipients()
const workflows = {
  email: [email('Hello')],
  sms: [sms],
  'in-app, email': [inApp('First'), email('Hello')],
  'in-app, SMS': [inApp('First'), sms],
}

for (const [name, steps] of Object.entries(workflows)) {
  test(`${name}: a begin that was committed unheard leads to one message each, and nothing is stuck`, async () => {
    await mail.account('provider')
    await vendors.twilio('phones')
    const to = people()
    const transactionId = await scene.trigger(await scene.workflow(steps), to)
    const { node, lost } = deaf(marksCalls, 4)
    await node.work()
    // What the next step was leased for is found when that lease ends.
    await node.advance(120_000, 10_000)
    assert.equal(lost(), 4)
    const isMail = name.includes('email')
    const asked = isMail ? askedMail() : askedPhones()
    assert.deepEqual(asked.sort(), to.map((one) => (isMail ? one.email : one.phone)).sort())
    await assertAllOver(transactionId, steps.length, 60)
  })
}

test('two commits in a row that were not heard of: the steps that waited for a slot are sent as well', async () => {
  await vendors.twilio('phones')
  const to = people()
  const transactionId = await scene.trigger(await scene.workflow([inApp('First'), sms]), to)
  // The first writes both steps of all; the second begins those that found no slot then.
  const { node, lost } = deaf(({ text }) => /insert into messages/.test(text), 2)
  await node.work()
  await node.advance(120_000, 10_000)
  assert.equal(lost(), 2)
  assert.deepEqual(askedPhones().sort(), to.map(({ phone }) => phone).sort())
  await assertAllOver(transactionId, 2, 60)
})

test('a retry whose begin was committed unheard is one call', async () => {
  await mail.account('provider')
  mail.answers('provider', 429, 202)
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), people(1))
  await scene.work()
  assert.equal(mail.asked.length, 1)
  const { node, lost } = deaf(marksCalls, 3)
  await node.advance(10_000, 1_000)
  assert.equal(lost(), 3)
  assert.equal(mail.asked.length, 2)
  await assertAllOver(transactionId, 1, 1)
})

test('an outcome that was committed unheard is not counted twice, and nothing is sent again', async () => {
  await mail.account('provider')
  const transactionId = await scene.trigger(await scene.workflow([email('Hello'), inApp('After')]), people(20))
  const { node, lost } = deaf(settlesCalls, 3)
  await node.work()
  await node.advance(120_000, 10_000)
  assert.equal(lost(), 3)
  assert.equal(mail.asked.length, 20)
  await assertAllOver(transactionId, 2, 20)
  const twice = await scene.rows(sql`
    select id from jobs where event_id = (select id from events where transaction_id = ${transactionId})
      and (select count(*) from jsonb_array_elements(details) d where d->>'code' = 'messageSent') > 1`)
  assert.deepEqual(twice, [])
})
