// Layouts and translations at work: what e-mails are put into, what changes while they run, and who is notified which
// words.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, rawOf, reported } from '../support/flow-scene.ts'

let app: TestApp
let scene: FlowScene
let mails: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mails = new MailScript(scene)
})
after(() => app.close())
beforeEach(async () => {
  await mails.clear()
  await mails.account('mail')
  await scene.rows(sql`update layouts set is_default = false where is_default`)
})

const to = { subscriberId: 'ann', email: 'ann@example.org', firstName: 'Ann' }
const email = (more: object = {}) => ({
  template: { type: 'email', subject: 'Hi', contentType: 'customHtml', content: '<p>Hello</p>', ...more },
})

async function layout(mark: string, more: object = {}): Promise<Json> {
  const identifier = fresh(mark)
  const content = `<main title="${mark}">{{{body}}} for {{ subscriber.firstName }}</main>`
  return scene.expect(201, 'POST', '/v1/layouts', { name: identifier, identifier, content, ...more })
}

/** The HTML of the last mail. */
function sentHtml(): string {
  const asked = mails.asked.at(-1) ?? assert.fail('nothing was sent')
  return JSON.parse(asked.body).content.find((part: Json) => part.type === 'text/html').value
}

async function run(workflow: string, more: object = {}): Promise<Json> {
  const notification = await scene.run(workflow, to, more)
  assert.equal(notification.jobs[0].status, 'completed', JSON.stringify(reported(notification.jobs[0])))
  return notification.jobs[0]
}

test('the default layout frames every e-mail that names none, from the next one on', async () => {
  const workflow = await scene.workflow([email()])
  await run(workflow)
  assert.match(sentHtml(), /<!DOCTYPE html>[\s\S]*<p>Hello<\/p>/)
  await layout('house', { isDefault: true })
  const job = await run(workflow)
  assert.equal(sentHtml(), '<main title="house"><p>Hello</p> for Ann</main>')
  assert.ok(reported(job).every(([detail]) => !detail.startsWith('Layout')))
})

test('a layout that is changed, and another that becomes the default, are seen by the next e-mail', async () => {
  const workflow = await scene.workflow([email()])
  const first = await layout('first', { isDefault: true })
  const second = await layout('second')
  await run(workflow)
  assert.match(sentHtml(), /title="first"/)
  await scene.expect(200, 'PATCH', `/v1/layouts/${first._id}`, { content: '<i>{{ body }}</i>' })
  await run(workflow)
  assert.equal(sentHtml(), '<i><p>Hello</p></i>')
  await scene.expect(200, 'POST', `/v1/layouts/${second._id}/default`)
  await run(workflow)
  assert.match(sentHtml(), /title="second"/)
})

test('a workflow names a layout by id or identifier, or none', async () => {
  await layout('house', { isDefault: true })
  const acme = await layout('acme')
  for (const layoutId of [acme._id, acme.identifier]) {
    await run(await scene.workflow([email({ layoutId })]))
    assert.match(sentHtml(), /title="acme"/)
  }
  await run(await scene.workflow([email({ layoutId: null })]))
  assert.equal(sentHtml(), '<p>Hello</p>')
})

test('a workflow that names a layout or a feed we do not know is refused', async () => {
  const save = (template: object) =>
    app.call('POST', '/v1/workflows', { body: { name: fresh('w'), steps: [{ template }] } })
  const mail = await save({ ...email().template, layoutId: 'absent' })
  assert.equal(mail.status, 422)
  assert.deepEqual(Object.keys(mail.body.errors), ['steps.0.template.layoutId'])
  const item = await save({ type: 'in_app', content: 'x', feedId: 'absent' })
  assert.equal(item.status, 422)
  assert.deepEqual(Object.keys(item.body.errors), ['steps.0.template.feedId'])
})

test('a trigger chooses a layout, which is reported, or none', async () => {
  const acme = await layout('acme')
  const workflow = await scene.workflow([email()])
  const job = await run(workflow, { overrides: { channels: { email: { layoutId: acme.identifier } } } })
  assert.match(sentHtml(), /title="acme"/)
  assert.deepEqual(rawOf(job, 'Layout selected'), { layoutId: acme._id, identifier: acme.identifier })
  await run(workflow, { overrides: { layoutIdentifier: null } })
  assert.equal(sentHtml(), '<p>Hello</p>')
})

test('a layout that was deleted in the meantime is reported, and the default stands in', async () => {
  await layout('house', { isDefault: true })
  const gone = await layout('gone')
  const created = await scene.created([email({ layoutId: gone.identifier })])
  assert.equal((await app.call('DELETE', `/v1/layouts/${gone._id}`)).status, 409)
  // As it is with runs of a version that no workflow has any more.
  await scene.rows(sql`update layouts set deleted_at = now() where id = ${gone._id}`)
  const job = await run(created.triggers[0].identifier)
  assert.match(sentHtml(), /title="house"/)
  assert.deepEqual(rawOf(job, 'Layout not found '), { layoutId: gone.identifier })
  assert.ok(reported(job).some(([detail, status]) => detail === 'Layout not found ' && status === 'Failed'))
})

test('another environment’s default frames nothing here', async () => {
  const reply = await app.call('POST', '/v1/layouts', {
    key: app.productionKey,
    body: { name: 'theirs', content: '<u>{{body}}</u>', isDefault: true },
  })
  assert.equal(reply.status, 201)
  await run(await scene.workflow([email()]))
  assert.match(sentHtml(), /<!DOCTYPE html>/)
})

test('templates and layouts speak the subscriber’s language, and hear of new texts at once', async () => {
  const put = (locale: string, texts: object) => scene.expect(200, 'PUT', `/v1/translations/${locale}`, { texts })
  await put('en', { hello: 'Hello {name}', foot: 'Bye' })
  await put('de', { hello: 'Hallo {name}' })
  await scene.expect(201, 'POST', '/v1/layouts', {
    name: fresh('spoken'),
    content: "{{{body}}} {{ 'foot' | t }}",
    isDefault: true,
  })
  const spoken = await scene.workflow([
    email({ subject: "{{ 'hello' | t: name: payload.name }}", content: "{{ 'hello' | t: name: payload.name }}" }),
    { template: { type: 'in_app', content: "{{ 'hello' | t: name: payload.name }}" } },
  ])
  const german = { subscriberId: 'gerd', email: 'gerd@example.org', locale: 'de-AT' }
  await scene.run(spoken, german, { payload: { name: '<Gerd>' } })
  assert.equal(mails.asked.at(-1)?.subject, 'Hallo <Gerd>')
  assert.equal(sentHtml(), 'Hallo &lt;Gerd&gt; Bye')
  assert.deepEqual(await scene.texts('gerd'), ['Hallo &lt;Gerd&gt;'])
  await put('de', { hello: 'Servus {name}', foot: 'Tschüss' })
  await scene.run(spoken, german, { payload: { name: 'Gerd' } })
  assert.equal(sentHtml(), 'Servus Gerd Tschüss')
  // The layout alone uses them.
  await scene.run(await scene.workflow([email()]), german)
  assert.equal(sentHtml(), '<p>Hello</p> Tschüss')
})
