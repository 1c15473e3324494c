// What an integration says of messages that were perhaps sent, and of how many go out a second.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { FlowScene, fresh, MailScript, reported, statuses } from '../support/flow-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let vendors: VendorScript
let smsWorkflow: string
let mailWorkflow: string
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
  smsWorkflow = await scene.workflow([{ template: { type: 'sms', content: 'Hello' } }, inApp('After')])
  mailWorkflow = await scene.workflow([email('Hello'), inApp('After')])
})
after(() => app.close())
beforeEach(async () => {
  await mail.clear()
  await vendors.clear()
})

const person = (): Json => ({
  subscriberId: fresh('person'),
  email: `${fresh('ada')}@example.org`,
  phone: '+4915112345',
})
const notAgain = ['It is unknown whether the message was sent; it is not sent again', 'Warning']
const tenMinutesMs = 600_000

test('an SMS that was perhaps sent is sent again where its integration says retry: twice, ten minutes apart', async () => {
  await vendors.twilio('phones', { configurations: { whenUnsure: 'retry' } })
  vendors.does('phones', 'cut')
  const { transactionId } = await scene.run(smsWorkflow, person())
  await scene.advance(tenMinutesMs - 1)
  assert.equal(vendors.asked.length, 1)
  await scene.advance(3_600_000, 1_000 * 30)
  assert.equal(vendors.asked.length, 3)
  for (const [index, { atMs }] of vendors.asked.slice(1).entries()) {
    assert.ok(atMs - (vendors.asked[index]?.atMs ?? 0) >= tenMinutesMs)
  }
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual(statuses({ jobs }), ['skipped', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), notAgain)
})

test('an SMS that a node did not survive is sent again where its integration says retry', async () => {
  await vendors.twilio('phones', { configurations: { whenUnsure: 'retry' } })
  const transactionId = await scene.trigger(smsWorkflow, person())
  const dying = createTestPipeline(app.database.db, app.world)
  await new Promise<void>((asked) => {
    vendors.meanwhile = () => {
      asked()
      return new Promise<never>(() => {})
    }
    // A call that hangs ends some day; by then nothing is left to write to.
    dying.work().catch(() => {})
  })
  await dying.died()
  vendors.meanwhile = undefined
  await scene.work()
  await scene.advance(2_000)
  assert.equal(vendors.asked.length, 2)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

test('an e-mail that was perhaps sent is not sent again where its integration says skip', async () => {
  await mail.account('provider', { configurations: { whenUnsure: 'skip' } })
  mail.answers('provider', 'cut')
  const { transactionId } = await scene.run(mailWorkflow, person())
  await scene.advance(3_600_000, tenMinutesMs)
  assert.equal(mail.asked.length, 1)
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual(statuses({ jobs }), ['skipped', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), notAgain)
})

test('what is ours in the configurations stays when an update leaves it out, and null clears it', async () => {
  const configurations = { whenUnsure: 'retry', maxPerSecond: 7 }
  const { _id } = await vendors.twilio('phones', { configurations })
  const put = (given: Json): Promise<Json> =>
    scene.expect(200, 'PUT', `/v1/integrations/${_id}`, { configurations: given })
  await put({ inboundWebhookEnabled: true })
  const read = async (): Promise<Json> =>
    (await scene.expect(200, 'GET', '/v1/integrations')).find((one: Json) => one._id === _id).configurations
  assert.deepEqual(await read(), { ...configurations, inboundWebhookEnabled: true })
  await put({ whenUnsure: null })
  const cleared = await read()
  assert.deepEqual([cleared.whenUnsure ?? null, cleared.maxPerSecond], [null, 7])
  vendors.does('phones', 'cut')
  const { jobs } = await scene.run(smsWorkflow, person())
  assert.equal(jobs[0].status, 'skipped')
  await put({ maxPerSecond: null })
  assert.equal((await read()).maxPerSecond ?? null, null)
})

test('two nodes share an integration’s rate: together they send no more a second than it allows', async () => {
  const perSecond = 20
  await mail.account('provider', { configurations: { maxPerSecond: perSecond } })
  const people = Array.from({ length: 60 }, person)
  const transactionId = await scene.trigger(mailWorkflow, people)
  const atMs: number[] = []
  mail.meanwhile = () => void atMs.push(performance.now())
  const nodes = [1, 2].map(() => createTestPipeline(app.database.another(), app.world))
  const isOver = async (): Promise<boolean> =>
    (await scene.rows(sql`select 1 from jobs where due_at is not null limit 1`)).length === 0
  // Before the first share is drawn: however long a message waits between its share and its call, it is not early.
  const firstMs = performance.now()
  // The database counts in real time: sixty messages take the two seconds that they should.
  for (let rounds = 0; rounds < 2_000 && !(await isOver()); rounds += 1) {
    await Promise.all(nodes.map((node) => node.work()))
    app.world.advance(1_000)
  }
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 60)
  assert.equal(mail.asked.length, 60)
  for (const [index, ms] of atMs.entries()) {
    const allowed = perSecond + ((ms - firstMs) * perSecond) / 1_000
    assert.ok(index <= allowed + 1, `${index + 1} messages after ${ms - firstMs} ms`)
  }
  const lastMs = (atMs.at(-1) ?? 0) - firstMs
  assert.ok(lastMs >= ((60 - perSecond - 2) / perSecond) * 1_000, `all were sent within ${lastMs} ms`)
})
