// An e-mail's HTML is stored once, with what is sent: whoever reads the message sees no difference.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  await new MailScript(scene).account('provider')
})
after(() => app.close())

const html = '<p>Dear {{ subscriber.subscriberId }}, a rare word</p>'
const template = { type: 'email', subject: 'Hi', contentType: 'customHtml', content: html }

async function stored(transactionId: string) {
  const [row] = await scene.rows(sql`
    select m.content, m.envelope->>'html' as html, m.envelope is not null as is_sent from messages m
    join events e on e.id = m.event_id where e.transaction_id = ${transactionId} and m.channel = 'email'`)
  return row
}

async function mailed(
  to: object,
  step: object = { template: { ...template, layoutId: null } },
): Promise<{ transactionId: string; shown: unknown }> {
  const workflow = await scene.workflow([step])
  const transactionId = await scene.trigger(workflow, to)
  await scene.work()
  return { transactionId, shown: (await scene.message(transactionId)).content }
}

test('an e-mail that is nothing but its HTML has it in what is sent, and is read as before', async () => {
  const subscriberId = fresh('ada')
  const { transactionId, shown } = await mailed({ subscriberId, email: 'ada@example.org' })
  const row = await stored(transactionId)
  assert.equal(row.content, null)
  assert.match(row.html, new RegExp(`Dear ${subscriberId}, a rare word`))
  assert.equal(shown, row.html)
  const [activity] = await scene.notifications(transactionId)
  const { jobs } = await scene.expect(200, 'GET', `/v1/notifications/${activity._id}`)
  assert.equal(jobs.length, 1)
  const exported = await app.call('GET', `/v1/subscribers/${subscriberId}/export`)
  assert.equal(exported.status, 200)
  const line = exported.text
    .split('\n')
    .find((text) => text.includes('"channel":"email"') && text.includes('"content"'))
  assert.ok(line !== undefined && JSON.stringify(JSON.parse(line)).includes('"content":"<p>Dear'), exported.text)
})

test('an e-mail in a layout has its own part beside the whole', async () => {
  const created = { name: 'Frame', content: '<html><body><h1>Shop</h1>{{{ body }}}</body></html>', isDefault: false }
  const layout = await scene.expect(201, 'POST', '/v1/layouts', { ...created, identifier: fresh('frame') })
  const step = { template: { ...template, layoutId: layout._id } }
  const { transactionId, shown } = await mailed({ subscriberId: fresh('ada'), email: 'ada@example.org' }, step)
  const row = await stored(transactionId)
  assert.equal(row.content, shown)
  assert.match(row.html, /<h1>Shop<\/h1>.*Dear/s)
  assert.doesNotMatch(row.content, /Shop/)
})

test('blocks are stored as they are, beside the HTML that they become', async () => {
  const blocks = [{ type: 'text', content: 'A block' }]
  const step = { template: { type: 'email', subject: 'Hi', contentType: 'editor', content: blocks } }
  const { transactionId, shown } = await mailed({ subscriberId: fresh('ada'), email: 'ada@example.org' }, step)
  const row = await stored(transactionId)
  assert.deepEqual([row.content, shown], [shown, row.content])
  assert.ok(Array.isArray(row.content))
  assert.match(row.html, /A block/)
})

test('an e-mail that no one can be sent has its content, as it has nothing to be sent', async () => {
  const { transactionId, shown } = await mailed({ subscriberId: fresh('nowhere') })
  const row = await stored(transactionId)
  assert.equal(row.is_sent, false)
  assert.deepEqual([row.content, typeof shown], [shown, 'string'])
})

test('a template that cuts a character in half, or makes a NUL, spoils neither its message nor the pages that show it', async () => {
  const content = "<p>Dear {{ subscriber.firstName | split: '' | first }}{{ '%00' | url_decode }}.</p>"
  const steps = [inApp(content), { template: { ...template, layoutId: null, content } }]
  const subscriberId = fresh('party')
  const workflow = await scene.workflow(steps)
  const transactionId = await scene.trigger(workflow, { subscriberId, firstName: '🎉 Ann', email: 'ann@example.org' })
  await scene.work()
  const messages = await scene.messages(transactionId)
  assert.deepEqual(
    messages.map(({ status, content: shown }) => [status, shown]),
    Array.from({ length: 2 }, () => ['sent', '<p>Dear \uFFFD.</p>']),
  )
  const { html: sent } = await stored(transactionId)
  assert.equal(sent, '<p>Dear \uFFFD.</p>')
  assert.equal((await app.call('GET', `/v1/subscribers/${subscriberId}/export`)).status, 200)
  await scene.expect(200, 'GET', '/v1/messages?limit=50')
})

test('an in-app message keeps its content', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  const subscriberId = fresh('reader')
  await scene.trigger(workflow, { subscriberId })
  await scene.work()
  assert.deepEqual(await scene.texts(subscriberId), ['Hello'])
})
