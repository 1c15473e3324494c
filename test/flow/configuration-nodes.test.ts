// Two nodes that keep what they know of the configuration: a change that one answered binds the other's next request.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
/** Changes are made here, events are accepted and run there. */
let here: FlowScene
let there: FlowScene
let mail: MailScript

/** On a node whose jobs have their own turn, and on one that decides them with their acceptance. */
function onBoth(name: string, run: () => Promise<void>): void {
  for (const [kind, options] of Object.entries({ 'in their own turn': {}, 'at once': { works: true } as const })) {
    test(`${name}: jobs that are decided ${kind}`, async () => {
      const node = await createTestApp({ nodeOf: app, ...options })
      try {
        there = new FlowScene(node)
        mail = new MailScript(there)
        await mail.account('one')
        await run()
        await mail.clear()
      } finally {
        await node.close()
      }
    })
  }
}

before(async () => {
  app = await createTestApp()
  here = new FlowScene(app)
})
after(() => app.close())

const newSubscriber = () => {
  const subscriberId = fresh('person')
  return { subscriberId, email: `${subscriberId}@example.org` }
}

onBoth('another text of a workflow, and one that is switched off', async () => {
  const { _id, triggers, steps } = await here.created([inApp('First')])
  const name = triggers[0].identifier
  const person = newSubscriber()
  await there.run(name, person)
  const template = { ...steps[0].template, content: 'Second' }
  await here.expect(200, 'PATCH', `/v1/workflows/${_id}`, { steps: [{ ...steps[0], template }] })
  await there.run(name, person)
  assert.deepEqual((await there.texts(person.subscriberId)).sort(), ['First', 'Second'])
  await here.expect(200, 'PUT', `/v1/workflows/${_id}/status`, { active: false })
  const reply = await there.single({ name, to: person })
  assert.equal(reply.body.status, 'trigger_not_active')
})

onBoth('a layout of another look', async () => {
  const identifier = fresh('layout')
  const given = { name: identifier, identifier, content: '<b>{{ body }}</b>', isDefault: true }
  const layout = await here.expect(201, 'POST', '/v1/layouts', given)
  const name = await here.workflow([email('Hello')])
  await there.run(name, newSubscriber())
  await here.expect(200, 'PATCH', `/v1/layouts/${layout._id}`, { content: '<i>{{ body }}</i>' })
  await there.run(name, newSubscriber())
  assert.deepEqual(
    mail.asked.map(({ body }) => /<([bi])>/.exec(JSON.parse(body).content.at(-1).value)?.[1]),
    ['b', 'i'],
  )
})

onBoth('the first address that may not be written to', async () => {
  const name = await here.workflow([email('Hello')])
  const person = newSubscriber()
  await there.run(name, person)
  const suppression = { channel: 'email', address: person.email, reason: 'bounced' }
  await here.expect(201, 'POST', '/v1/suppressions', suppression)
  assert.deepEqual(statuses(await there.run(name, person)), ['skipped'])
  assert.equal(mail.asked.length, 1)
  // While the list holds anyone, jobs have their own turn.
  await here.rows(sql`delete from suppressions`)
})

onBoth('someone who does not want it any more', async () => {
  const name = await here.workflow([inApp('Hello')])
  const person = newSubscriber()
  await there.run(name, person)
  await here.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}/preferences`, { channels: { in_app: false } })
  assert.deepEqual(statuses(await there.run(name, person)), ['skipped'])
  assert.equal((await there.feed(person.subscriberId)).length, 1)
})

onBoth('an integration that is switched off, and on again', async () => {
  const name = await here.workflow([email('Hello')])
  assert.deepEqual(statuses(await there.run(name, newSubscriber())), ['completed'])
  const all: Json[] = await here.expect(200, 'GET', '/v1/integrations')
  const emails = all.filter((one) => one.channel === 'email' && one.active)
  for (const { _id } of emails) await here.expect(200, 'PUT', `/v1/integrations/${_id}`, { active: false })
  assert.deepEqual(statuses(await there.run(name, newSubscriber())), ['failed'])
  for (const { _id } of emails) await here.expect(200, 'PUT', `/v1/integrations/${_id}`, { active: true })
  assert.deepEqual(statuses(await there.run(name, newSubscriber())), ['completed'])
})
