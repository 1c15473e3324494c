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

/** At the same millisecond as whatever was before: no clock shows that something changed in between. */
async function runNow(name: string, to: object, more: object = {}): Promise<void> {
  const transactionId = await there.trigger(name, to, more)
  await there.work()
  await there.inNobodysHands(transactionId)
}

const urlsAsked = (): string[] => mail.asked.map(({ account }) => account)

onBoth('an integration, changed twice within a millisecond', async () => {
  const name = await here.workflow([email('Hello')])
  const [{ _id, credentials }] = (await here.expect(200, 'GET', '/v1/integrations')).filter(
    (one: Json) => one.providerId === 'sendgrid' && one.active,
  )
  const movedTo = (account: string): Promise<Json> => {
    const moved = { ...credentials, apiKey: 'SG.one', baseUrl: `https://${account}.example.com` }
    return here.expect(200, 'PUT', `/v1/integrations/${_id}`, { credentials: moved })
  }
  for (const account of ['first', 'second', 'third']) {
    await movedTo(account)
    await runNow(name, newSubscriber())
  }
  assert.deepEqual(urlsAsked(), ['first', 'second', 'third'])
})

onBoth('a layout, changed, and texts, deleted and made again within a millisecond', async () => {
  const identifier = fresh('layout')
  const framed = (tag: string) => ({ content: `<${tag}>{{{ body }}}</${tag}>` })
  const { _id } = await here.expect(201, 'POST', '/v1/layouts', { name: identifier, identifier, ...framed('s') })
  const content = "<p>{{ 'hi' | t }}</p>"
  const template = { type: 'email', subject: 's', contentType: 'customHtml', content, layoutId: identifier }
  const name = await here.workflow([{ template }])
  for (const tag of ['b', 'i', 'u']) {
    await here.expect(200, 'PATCH', `/v1/layouts/${_id}`, framed(tag))
    await here.expect(200, 'PUT', '/v1/translations/en', { texts: { hi: `Hello ${tag}` } })
    await runNow(name, newSubscriber())
    await here.expect(204, 'DELETE', '/v1/translations/en')
  }
  assert.deepEqual(
    mail.asked.map(({ body }) => /<([biu])><p>(.*?)</.exec(JSON.parse(body).content.at(-1).value)?.slice(1)),
    ['b', 'i', 'u'].map((tag) => [tag, `Hello ${tag}`]),
  )
})

onBoth('a variable, a tenant and a context', async () => {
  const { _id: _environmentId } = await here.expect(200, 'GET', '/v1/environments/me')
  const [tenant, team, key] = [fresh('tenant'), fresh('team'), `SHOP_${fresh('x').replace('-', '_')}`]
  const valued = (value: string) => ({ values: [{ _environmentId, value }] })
  await here.expect(200, 'POST', '/v1/environment-variables', { key, ...valued('one') })
  await here.expect(201, 'POST', '/v1/tenants', { identifier: tenant, name: 'one' })
  await here.expect(201, 'POST', '/v2/contexts', { type: 'team', id: team, data: { lead: 'one' } })
  const name = await here.workflow([inApp(`{{ env.${key} }} {{ tenant.name }} {{ context.team.data.lead }}`)])
  const person = newSubscriber()
  const more = { tenant, context: { team } }
  await runNow(name, person, more)
  for (const value of ['two', 'three']) {
    await here.expect(200, 'PATCH', `/v1/environment-variables/${key}`, valued(value))
    await here.expect(200, 'PATCH', `/v1/tenants/${tenant}`, { name: value })
    await here.expect(200, 'PATCH', `/v2/contexts/team/${team}`, { data: { lead: value } })
    await runNow(name, person, more)
  }
  assert.deepEqual((await there.texts(person.subscriberId)).sort(), ['one one one', 'three three three', 'two two two'])
  await here.expect(204, 'DELETE', `/v1/tenants/${tenant}`)
  assert.equal((await there.single({ name, to: person, tenant })).body.status, 'no_tenant_found')
})

onBoth('a tenant for whom the workflow is off, and an environment that captures', async () => {
  const identifier = fresh('tenant')
  await here.expect(201, 'POST', '/v1/tenants', { identifier })
  const name = await here.workflow([email('Hello')])
  const more = { tenant: identifier }
  await runNow(name, newSubscriber(), more)
  const override = { workflowId: name, tenantId: identifier, active: false }
  const { _id } = await here.expect(201, 'POST', '/v1/workflow-overrides', override)
  await runNow(name, newSubscriber(), more)
  assert.equal(mail.asked.length, 1, 'off')
  await here.expect(200, 'PUT', `/v1/workflow-overrides/${_id}`, { active: true })
  await runNow(name, newSubscriber(), more)
  assert.equal(mail.asked.length, 2, 'on again')
  await here.expect(200, 'PATCH', '/v1/environments/me', { configurations: { capture: true } })
  await runNow(name, newSubscriber(), more)
  assert.equal(mail.asked.length, 2, 'captured')
  await here.expect(200, 'PATCH', '/v1/environments/me', { configurations: { capture: false } })
  await runNow(name, newSubscriber(), more)
  assert.equal(mail.asked.length, 3, 'sent again')
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
