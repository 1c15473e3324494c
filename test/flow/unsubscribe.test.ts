// Unsubscribe links in a run: which e-mails carry them, where they lead, and what a click does to the next run.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { unsignedToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { linkFor, oneClick } from '../support/unsubscribe-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const linkBase = 'https://posthorn.example.com'

/** With an address that mail can point to, and without. */
let linked: TestApp
let unlinked: TestApp
before(async () => {
  unlinked = await createTestApp()
  const { db } = unlinked.database
  linked = { ...unlinked, pipeline: createTestPipeline(db, unlinked.world, { linkBase }) }
  scene = new FlowScene(linked)
  mail = new MailScript(scene)
})
after(() => unlinked.close())
let scene: FlowScene
let mail: MailScript
beforeEach(async () => {
  await mail.clear()
  await mail.account('good')
})

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
const withLink = {
  template: {
    type: 'email',
    subject: 'News',
    contentType: 'customHtml',
    content: '<p><a href="{{ unsubscribe.url }}">Stop</a> [{{ unsubscribe.url }}]</p>',
  },
}

const sent = (): Json => JSON.parse(mail.asked.at(-1)?.body ?? assert.fail('no one was asked'))
const htmlOf = (body: Json): string => body.content.find((one: Json) => one.type === 'text/html').value
const unsubscribeHeaders = (body: Json): string[] =>
  Object.keys(body.headers ?? {}).filter((name) => /unsubscribe/i.test(name))

test('an e-mail carries the one-click headers, and templates the same link', async () => {
  const person = newSubscriber()
  const workflow = await scene.created([withLink])
  await scene.run(workflow.triggers[0].identifier, person)
  const subscriber = await scene.subscriber(person.subscriberId)
  const url = `${linkBase}${await linkFor(linked, subscriber._id, workflow._id)}`
  assert.equal(sent().headers['List-Unsubscribe'], `<${url}>`)
  assert.equal(sent().headers['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click')
  assert.ok(htmlOf(sent()).includes(`href="${url}"`))
  assert.ok(htmlOf(sent()).includes(`[${url}]`))
})

test('a repeated call says the same, though the database holds no link that works', async () => {
  const person = newSubscriber()
  const workflow = await scene.created([withLink])
  mail.answers('good', 503, 202)
  await scene.run(workflow.triggers[0].identifier, person)
  linked.world.advance(10 * 60_000)
  await scene.work()
  const bodies = mail.asked.map(({ body }) => body)
  assert.equal(bodies.length, 2)
  assert.equal(bodies[0], bodies[1])
  const subscriber = await scene.subscriber(person.subscriberId)
  const link = await linkFor(linked, subscriber._id, workflow._id)
  assert.ok(bodies[0]?.includes(link))
  const stored = await linked.database.db.rows<{ row: string }>(
    sql`select m::text as row from messages m where m.subscriber_id = ${subscriber._id}`,
  )
  assert.equal(stored.length, 1)
  // The name of whom it is for is no secret; the signature at its end is.
  assert.ok(stored[0]?.row.includes(link.slice(0, 80)))
  assert.ok(!stored[0]?.row.includes(link.slice(-21)))
  const [, unsigned = ''] = /(\/v1\/unsubscribe\/[\w-]+)/.exec(stored[0]?.row ?? '') ?? []
  assert.equal(unsigned.length, link.length)
  assert.equal((await oneClick(linked, unsigned)).status, 404)
})

test('a link that a template encodes works; one that a payload names for another workflow is not signed', async () => {
  const person = newSubscriber()
  const other = await scene.created([withLink])
  const content = '<p>[{{ unsubscribe.url | base64_encode }}] {{ payload.link }}</p>'
  const workflow = await scene.created([{ template: { ...withLink.template, content } }])
  await scene.run(other.triggers[0].identifier, person)
  const subscriber = await scene.subscriber(person.subscriberId)
  const { id: environmentId } = await environmentOf(linked)
  const unsigned = unsignedToken({ environmentId, subscriberId: subscriber._id, workflowId: other._id })
  await scene.run(workflow.triggers[0].identifier, person, { payload: { link: `/v1/unsubscribe/${unsigned}` } })
  const html = htmlOf(sent())
  assert.ok(html.includes(unsigned))
  const [, encoded = ''] = /\[([\w+/=]+)\]/.exec(html) ?? []
  const url = Buffer.from(encoded, 'base64').toString()
  assert.equal(url, `${linkBase}${await linkFor(linked, subscriber._id, workflow._id)}`)
})

test('e-mails of critical workflows carry neither', async () => {
  const workflow = await scene.workflow([withLink], { critical: true })
  await scene.run(workflow, newSubscriber())
  assert.deepEqual(unsubscribeHeaders(sent()), [])
  assert.ok(htmlOf(sent()).includes('[]'))
})

test('without an address that mail can point to there are no links', async () => {
  const workflow = await scene.workflow([withLink])
  await new FlowScene(unlinked).run(workflow, newSubscriber())
  assert.deepEqual(unsubscribeHeaders(sent()), [])
  assert.ok(htmlOf(sent()).includes('[]'))
})

test('a payload cannot say where the headers lead', async () => {
  const payload = { unsubscribe: { url: 'https://evil.example.com' } }
  const workflow = await scene.workflow([withLink])
  await scene.run(workflow, newSubscriber(), { payload })
  assert.match(sent().headers['List-Unsubscribe'], /^<https:\/\/posthorn\.example\.com\//)
  assert.ok(!htmlOf(sent()).includes('evil'))
  await new FlowScene(unlinked).run(workflow, newSubscriber(), { payload })
  assert.deepEqual(unsubscribeHeaders(sent()), [])
})

test('the caller’s own header stands', async () => {
  const workflow = await scene.workflow([email('News')])
  const own = { 'list-unsubscribe': '<mailto:stop@example.com>' }
  await scene.run(workflow, newSubscriber(), { overrides: { email: { headers: own } } })
  assert.deepEqual(sent().headers, own)
})

test('mail to several people carries none: one of them would speak for another', async () => {
  const workflow = await scene.workflow([email('News')])
  for (const [overrides, expected] of [
    [{ to: ['other@example.org'] }, 0],
    [{ cc: ['other@example.org'] }, 0],
    [{ bcc: ['archive@example.org'] }, 2],
  ] as const) {
    await scene.run(workflow, newSubscriber(), { overrides: { email: overrides } })
    assert.equal(unsubscribeHeaders(sent()).length, expected, JSON.stringify(overrides))
  }
})

test('after a click the workflow’s e-mail is skipped; its other steps and other workflows are not', async () => {
  const person = newSubscriber()
  const workflow = await scene.workflow([email('News'), inApp('News')])
  const other = await scene.workflow([email('Other')])
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['completed', 'completed'])
  const [, url = ''] = /^<(.+)>$/.exec(sent().headers['List-Unsubscribe']) ?? []
  assert.equal((await oneClick(linked, url.slice(linkBase.length))).status, 200)
  const asked = mail.asked.length
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped', 'completed'])
  assert.equal(mail.asked.length, asked)
  assert.deepEqual(statuses(await scene.run(other, person)), ['completed'])
  assert.deepEqual(statuses(await scene.run(workflow, newSubscriber())), ['completed', 'completed'])
})
