// Unsubscribe links over HTTP: one click, the page of preferences, and tokens that open nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { writeUnsubscribeToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { filled, inputsOf, linkFor, look, oneClick, post, secretOf, ticked } from '../support/unsubscribe-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

interface Made {
  readonly link: string
  readonly subscriberId: string
  readonly workflow: Json
}

async function made(more: object = {}): Promise<Made> {
  const subscriberId = fresh('person')
  const email_ = `${subscriberId}@example.org`
  const subscriber = await scene.expect(201, 'POST', '/v2/subscribers', {
    subscriberId,
    email: email_,
    lastName: 'Lovelace',
  })
  const workflow = await scene.created([email(), inApp()], more)
  return { link: await linkFor(app, subscriber._id, workflow._id), subscriberId, workflow }
}

async function preferencesOf(subscriberId: string): Promise<Json> {
  const [row] = await scene.rows(sql`select preferences from subscribers where subscriber_id = ${subscriberId}`)
  return row.preferences
}

const everywhere = ['everywhere/email', 'everywhere/in_app', 'everywhere/sms', 'everywhere/chat', 'everywhere/push']

test('one click switches the workflow’s e-mail off, and a second one changes nothing', async () => {
  const { link, subscriberId, workflow } = await made()
  const reply = await oneClick(app, link)
  assert.equal(reply.status, 200, reply.text)
  const preferences = await preferencesOf(subscriberId)
  assert.deepEqual(preferences.workflows[workflow._id].channels, { email: false })
  assert.deepEqual(Object.keys(preferences), ['workflows'])
  app.world.advance(1_000)
  assert.equal((await oneClick(app, link)).status, 200)
  assert.deepEqual(await preferencesOf(subscriberId), preferences)
  assert.match(reply.text, /You will not receive any more e-mails about “workflow-/)
})

test('one click may come as a form in several parts', async () => {
  const { link, subscriberId, workflow } = await made()
  const multipart = (name: string, value: string): Promise<TestReply> =>
    app.call('POST', link, {
      key: null,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`,
    })
  assert.equal((await multipart('List-Unsubscribe', 'Two-Clicks')).status, 400)
  assert.equal((await multipart('List-Subscribe', 'One-Click')).status, 400)
  assert.equal(await preferencesOf(subscriberId), null)
  assert.equal((await multipart('List-Unsubscribe', 'One-Click')).status, 200)
  assert.equal((await preferencesOf(subscriberId)).workflows[workflow._id].channels.email, false)
})

test('looking at the page changes nothing: mail scanners follow every link', async () => {
  const { link, subscriberId } = await made()
  assert.equal((await look(app, link)).status, 200)
  assert.equal((await app.call('HEAD', link, { key: null })).status, 200)
  assert.equal(await preferencesOf(subscriberId), null)
})

test('a post that does not say what RFC 8058 says unsubscribes no one', async () => {
  const { link, subscriberId } = await made()
  for (const fields of [[], [['List-Unsubscribe', 'yes']], [['save', 'other']], [['workflow', 'email']]] as const) {
    assert.equal((await post(app, link, fields)).status, 400, JSON.stringify(fields))
  }
  const asJson = await app.call('POST', link, { key: null, body: { 'List-Unsubscribe': 'One-Click' } })
  assert.equal(asJson.status, 400)
  const asText = await app.call('POST', link, {
    key: null,
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(asText.status, 415)
  const large = await post(app, link, [['save', 'x'.repeat(20_000)]])
  assert.equal(large.status, 413)
  for (const reply of [asJson, asText, large]) assert.match(String(reply.headers['content-type']), /^text\/html/)
  assert.equal(await preferencesOf(subscriberId), null)
})

test('the page shows the workflow’s channels and all channels, as they stand', async () => {
  const { link } = await made()
  const page = (await look(app, link)).text
  assert.deepEqual(ticked(page), ['workflow/email', 'workflow/in_app', ...everywhere])
  await oneClick(app, link)
  assert.deepEqual(ticked((await look(app, link)).text), ['workflow/in_app', ...everywhere])
})

test('saving keeps what was changed and says so; boxes left alone follow the rest', async () => {
  const { link, subscriberId, workflow } = await made()
  const untouched = await post(app, link, filled((await look(app, link)).text))
  assert.equal(untouched.status, 200)
  assert.equal(await preferencesOf(subscriberId), null)
  const first = await post(app, link, filled((await look(app, link)).text, ['workflow/in_app', 'everywhere/sms']))
  assert.equal(first.status, 200, first.text)
  assert.match(first.text, /<p class="notice" role="status">Your choices are saved\.<\/p>/)
  assert.match(first.text, /<title>Your choices are saved\. – Notification preferences<\/title>/)
  const saved = await preferencesOf(subscriberId)
  assert.deepEqual(saved.channels, { sms: false })
  assert.deepEqual(saved.workflows[workflow._id].channels, { in_app: false })
  const off = await post(app, link, filled((await look(app, link)).text, ['everywhere/email']))
  assert.ok(!ticked(off.text).includes('workflow/email'))
  assert.deepEqual((await preferencesOf(subscriberId)).channels, { sms: false, email: false })
  const back = await post(app, link, filled(off.text, ['workflow/email', 'workflow/in_app']))
  assert.deepEqual(ticked(back.text), [
    'workflow/email',
    'workflow/in_app',
    'everywhere/in_app',
    'everywhere/chat',
    'everywhere/push',
  ])
})

test('the schedule and other choices of the subscriber survive', async () => {
  const { link, subscriberId } = await made()
  const before = {
    doNotDisturbUntil: '2030-01-01T00:00:00.000Z',
    workflows: { other: { enabled: false, updatedAt: '' } },
  }
  await scene.rows(
    sql`update subscribers set preferences = ${JSON.stringify(before)}::jsonb where subscriber_id = ${subscriberId}`,
  )
  await post(app, link, filled((await look(app, link)).text, ['everywhere/email']))
  await oneClick(app, link)
  const saved = await preferencesOf(subscriberId)
  assert.equal(saved.doNotDisturbUntil, before.doNotDisturbUntil)
  assert.deepEqual(saved.workflows.other, before.workflows.other)
})

test('a critical workflow cannot be switched off, and the page says so', async () => {
  const { link } = await made({ critical: true })
  const page = (await look(app, link)).text
  assert.deepEqual(ticked(page), everywhere)
  assert.match(page, /cannot be switched off/)
  assert.doesNotMatch(page, /One-Click/)
})

test('a link to a workflow that is gone still opens the other preferences', async () => {
  const { link, workflow } = await made()
  await scene.expect(200, 'DELETE', `/v1/workflows/${workflow._id}`)
  assert.deepEqual(ticked((await look(app, link)).text), everywhere)
  assert.equal((await oneClick(app, link)).status, 200)
})

/** All that an unknown caller may learn: nothing. */
async function opensNothing(link: string, why: string): Promise<void> {
  const replies = [await look(app, link), await oneClick(app, link), await post(app, link, [['save', 'choices']])]
  for (const reply of replies) {
    assert.equal(reply.status, 404, why)
    assert.match(String(reply.headers['content-type']), /^text\/html/, why)
    assert.match(reply.text, /This link does not work/, why)
    assert.equal(reply.text, replies[0]?.text, why)
  }
}

test('forged and altered tokens, and those of another environment, open nothing', async () => {
  const { link, subscriberId, workflow } = await made()
  const subscriber = await scene.subscriber(subscriberId)
  const development = await environmentOf(app)
  const production = await environmentOf(app, 'Production')
  const ids = { environmentId: development.id, subscriberId: subscriber._id, workflowId: workflow._id }
  const linkOf = (claimed: typeof ids, secret: Buffer): string =>
    `/v1/unsubscribe/${writeUnsubscribeToken(claimed, secret)}`
  const own = await secretOf(app)
  const others = await secretOf(app, 'Production')
  assert.equal(linkOf(ids, own), link)
  await opensNothing(`${link.slice(0, -2)}AA`, 'altered')
  await opensNothing('/v1/unsubscribe/x', 'short')
  await opensNothing(`/v1/unsubscribe/${'A'.repeat(87)}`, 'of the right length')
  await opensNothing(linkOf(ids, others), 'signed by another environment')
  await opensNothing(linkOf({ ...ids, environmentId: production.id }, own), 'for another environment')
  await opensNothing(linkOf({ ...ids, environmentId: workflow._id }, own), 'for no environment')
  await opensNothing(
    linkOf({ ...ids, environmentId: production.id }, others),
    'of another environment, for our subscriber',
  )
  await opensNothing(linkOf({ ...ids, subscriberId: workflow._id }, own), 'for no one')
  assert.equal(await preferencesOf(subscriberId), null)
})

test('the link of a deleted subscriber opens nothing, though the same id was used again', async () => {
  const { link, subscriberId } = await made()
  await scene.expect(200, 'DELETE', `/v2/subscribers/${subscriberId}`)
  await opensNothing(link, 'deleted')
  await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId })
  await opensNothing(link, 'used again')
})

test('the page reveals no names or addresses, and a workflow’s name is text', async () => {
  const { link, subscriberId } = await made({ name: '<script>alert("x")</script> & \'co\'' })
  const page = (await look(app, link)).text
  assert.doesNotMatch(page, /Lovelace|example\.org|<script/)
  assert.ok(!page.includes(subscriberId))
  assert.match(page, /&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt; &amp; &#39;co&#39;/)
})

test('the page is whole: language, title, one heading, labelled boxes in named groups, no script', async () => {
  const { link } = await made()
  for (const page of [(await look(app, link)).text, (await oneClick(app, link)).text]) {
    assert.match(page, /^<!doctype html>\n<html lang="en">/)
    assert.match(page, /<title>[^<]*Notification preferences<\/title>/)
    assert.match(page, /<meta name="viewport" content="width=device-width, initial-scale=1">/)
    assert.equal(page.match(/<h1>/g)?.length, 1)
    assert.match(page, /<main>/)
    const boxes = inputsOf(page).filter((input) => input['type'] === 'checkbox')
    assert.equal(page.match(/<label><input type="checkbox"[^>]*> [^<]+<\/label>/g)?.length, boxes.length)
    assert.equal(page.match(/<fieldset[^>]*>\s*<legend>[^<]+<\/legend>/g)?.length, page.match(/<fieldset/g)?.length)
    assert.doesNotMatch(page, /<script|\son\w+=|style="|javascript:|http:/)
    for (const [, id] of page.matchAll(/aria-describedby="([^"]+)"/g)) assert.ok(page.includes(`id="${id}"`), id)
  }
})

test('the answer allows nothing but its own style and its own forms, and is neither kept nor indexed', async () => {
  const { link } = await made()
  for (const reply of [await look(app, link), await look(app, '/v1/unsubscribe/x')]) {
    const policy = String(reply.headers['content-security-policy'])
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    assert.equal(reply.headers['referrer-policy'], 'no-referrer')
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.match(String(reply.headers['x-robots-tag']), /noindex/)
  }
})

test('one link can be used thirty times a minute, and others meanwhile', async () => {
  const [busy, quiet] = [await made(), await made()]
  for (let visit = 1; visit <= 30; visit += 1) assert.equal((await look(app, busy.link)).status, 200)
  const refused = await oneClick(app, busy.link)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '60'])
  assert.equal(await preferencesOf(busy.subscriberId), null)
  assert.equal((await look(app, quiet.link)).status, 200)
  app.world.advance(60_001)
  assert.equal((await oneClick(app, busy.link)).status, 200)
})

test('the page leads to the demo inbox, in Development and where that opens', async () => {
  const { link } = await made()
  const local = await createTestApp({ nodeOf: app, inboxDemo: 'local' })
  const path = new URL(link, 'http://localhost').pathname
  assert.match((await local.call('GET', path, { key: null })).text, /<a href="..\/..\/demo\/inbox">/)
  assert.equal((await app.call('GET', path, { key: null })).text.includes('demo/inbox'), false)
  await local.close()
})
