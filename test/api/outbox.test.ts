// The outbox over the API: its list, its filters, one message with its parts, and who may see and clear it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { fresh } from '../support/flow-scene.ts'
import { mailStep, OutboxScene, smsStep } from '../support/outbox-scene.ts'
import { refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: OutboxScene
/** Two messages an event: an e-mail and an SMS. */
let orders: string
let codes: string
before(async () => {
  app = await createTestApp()
  scene = new OutboxScene(app)
  orders = await scene.workflow([
    mailStep('Order {{ payload.n }}', '<p>Thank <b>you</b>, {{ subscriber.firstName }}: Grüße</p>'),
    smsStep('Your order {{ payload.n }} left'),
  ])
  codes = await scene.workflow([smsStep('Your code is {{ payload.code }}')])
})
after(() => app.close())

test('what the built-in providers kept is listed with where it came from', async () => {
  const person = await scene.person()
  const notification = await scene.run(orders, person, { payload: { n: 1 } })
  const page = await scene.list({ recipient: person })
  assert.equal(page.totalCount, 2)
  assert.deepEqual(page.data.map((item: Json) => [item.channel, item.providerId, item.to, item.preview]).sort(), [
    ['email', 'platform-email', [`${person}@example.org`], 'Thank you, Ann: Grüße'],
    ['sms', 'platform-sms', ['+4915112345'], 'Your order 1 left'],
  ])
  const mail = page.data.find((item: Json) => item.channel === 'email')
  assert.equal(mail.subject, 'Order 1')
  assert.equal(mail.subscriberId, person)
  assert.equal(mail.transactionId, notification.transactionId)
  assert.equal(mail.workflow.identifier, orders)
  assert.equal(mail._notificationId, notification._id)
  assert.equal(mail.integration.name, 'Platform Email')
  assert.equal(mail.capturedAt, app.world.now().toISOString())
})

test('each filter finds what it means, and filters are joined by “and”', async () => {
  const ann = await scene.person()
  const ben = await scene.person(fresh('person'), { phone: '+4930999' })
  const first = await scene.run(orders, ann, { payload: { n: 71 }, transactionId: fresh('transaction') })
  const before = app.world.now().toISOString()
  const second = await scene.run(codes, ben, { payload: { code: 'x4711' } })
  const about = (query: Record<string, string>): Promise<string[]> => scene.found({ ...query, capturedAfter: before })
  assert.deepEqual(await scene.found({ recipient: ann, channel: 'email' }), ['Order 71'])
  assert.deepEqual(await scene.found({ recipient: ann, channel: 'push' }), [])
  assert.deepEqual(await scene.found({ recipient: `${ann.toUpperCase()}@Example.org` }), ['Order 71'])
  assert.deepEqual(await scene.found({ recipient: '+49 30-999' }), ['Your code is x4711'])
  assert.deepEqual(await scene.found({ recipient: ben }), ['Your code is x4711'])
  assert.deepEqual(await scene.found({ recipient: 'nobody' }), [])
  assert.deepEqual(await scene.found({ workflow: codes }), ['Your code is x4711'])
  assert.deepEqual(await scene.found({ workflow: 'no-such-workflow' }), [])
  assert.deepEqual(await scene.found({ transactionId: first.transactionId }), ['Order 71', 'Your order 71 left'])
  assert.deepEqual(await scene.found({ transactionId: second.transactionId }), ['Your code is x4711'])
  assert.deepEqual(await scene.found({ transactionId: 'no-such-transaction' }), [])
  assert.deepEqual(await scene.found({ text: 'ORDER 71' }), ['Order 71', 'Your order 71 left'])
  assert.deepEqual(await scene.found({ text: 'grüße', recipient: ann }), ['Order 71'])
  assert.deepEqual(await scene.found({ text: '<b>you', recipient: ann }), ['Order 71'])
  assert.deepEqual(await scene.found({ text: 'O%r', recipient: ann }), [])
  assert.deepEqual(await about({}), ['Order 71', 'Your code is x4711', 'Your order 71 left'])
  assert.deepEqual(await about({ workflow: orders, channel: 'sms' }), ['Your order 71 left'])
  assert.deepEqual(await about({ workflow: orders, text: 'code' }), [])
  const after = app.world.now().toISOString()
  assert.deepEqual(await about({ capturedBefore: after }), ['Order 71', 'Your order 71 left'])
  assert.deepEqual(await scene.found({ capturedAfter: after }), ['Your code is x4711'])
})

test('pages follow each other in both directions and hold everything once', async () => {
  const person = await scene.person()
  for (let n = 0; n < 4; n += 1) {
    // Some of the same time: then the id decides.
    for (const code of ['a', 'b']) await scene.trigger(codes, person, { payload: { code: `${code}${n}` } })
    await scene.work()
    app.world.advance(1_000)
  }
  const all = (await scene.list({ recipient: person, limit: '100' })).data
  assert.equal(all.length, 8)
  const times = all.map((item: Json) => item.capturedAt)
  assert.deepEqual(times, [...times].sort().reverse())
  const forwards: Json[] = []
  let page = await scene.list({ recipient: person, limit: '3' })
  assert.deepEqual([page.previous, page.totalCount], [null, 8])
  for (;;) {
    forwards.push(...page.data)
    if (page.next === null) break
    page = await scene.list({ recipient: person, limit: '3', after: page.next })
  }
  assert.deepEqual(forwards, all)
  const backwards: Json[] = [...page.data]
  while (page.previous !== null) {
    page = await scene.list({ recipient: person, limit: '3', before: page.previous })
    backwards.unshift(...page.data)
  }
  assert.deepEqual(backwards, all)
})

test('what cannot be asked is refused with the name of the field', async () => {
  for (const [query, field] of [
    ['channel=in_app', 'channel'],
    ['recipient=', 'recipient'],
    ['workflow=', 'workflow'],
    ['text=', 'text'],
    [`text=${'x'.repeat(201)}`, 'text'],
    ['transactionId=', 'transactionId'],
    ['capturedAfter=yesterday', 'capturedAfter'],
    ['capturedBefore=2026-02-30', 'capturedBefore'],
    ['capturedAfter=2026-01-02&capturedBefore=2026-01-02', 'capturedBefore'],
    ['limit=101', 'limit'],
  ] as const) {
    assert.deepEqual(Object.keys(refusals(await scene.get(`?${query}`))), [field], query)
  }
  for (const timeout of ['61s', '2m', '60001ms', 'soon', '-1', '1.5s', '']) {
    assert.deepEqual(Object.keys(refusals(await scene.get(`/wait?timeout=${timeout}`))), ['timeout'], timeout)
  }
  assert.equal((await scene.get('?after=x')).status, 400)
  assert.equal((await scene.get('?after=x&before=y')).status, 400)
})

test('a message shows all that its provider would have been given', async () => {
  const person = await scene.person()
  const overrides = {
    email: {
      from: 'shop@example.com',
      senderName: 'The Shop',
      to: ['second@example.org'],
      cc: ['copy@example.org'],
      bcc: ['blind@example.org'],
      replyTo: 'answers@example.com',
      headers: { 'X-Order': '9' },
      customData: { campaign: 'spring' },
    },
  }
  const { transactionId } = await scene.run(orders, person, { payload: { n: 9 }, overrides })
  const mail = await scene.newest({ transactionId, channel: 'email' })
  assert.equal(mail.message.subject, 'Order 9')
  assert.match(mail.message.html, /<p>Thank <b>you<\/b>, Ann: Grüße<\/p>/)
  assert.equal(mail.message.text, 'Thank you, Ann: Grüße')
  assert.deepEqual(mail.message.to, [`${person}@example.org`, 'second@example.org'])
  assert.deepEqual([mail.message.cc, mail.message.bcc], [['copy@example.org'], ['blind@example.org']])
  assert.deepEqual(
    [mail.message.from, mail.message.senderName, mail.message.replyTo],
    ['shop@example.com', 'The Shop', 'answers@example.com'],
  )
  assert.equal(mail.message.headers['X-Order'], '9')
  assert.deepEqual(mail.message.customData, { campaign: 'spring' })
  assert.deepEqual([mail.payload, mail.overrides, mail.attachments], [{ n: 9 }, overrides, []])
  assert.equal('attachments' in mail.message, false)
  const sms = await scene.newest({ transactionId, channel: 'sms' })
  assert.deepEqual([sms.message.to, sms.message.content], ['+4915112345', 'Your order 9 left'])
})

test('HTML is handed out under a policy by which it can run nothing', async () => {
  const person = await scene.person()
  const workflow = await scene.workflow([mailStep('Page', '<p onclick="x()">Hi</p><script>alert(1)</script>')])
  await scene.run(workflow, person)
  const { _id, message } = await scene.newest({ recipient: person })
  const page = await scene.get(`/${_id}/html`)
  assert.equal(page.status, 200, page.text)
  assert.equal(page.text, message.html)
  assert.match(String(page.headers['content-type']), /^text\/html; charset=utf-8/)
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /^sandbox; default-src 'none'; /)
  assert.doesNotMatch(policy, /script-src|allow-/)
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
})

test('what is not in the outbox, or no e-mail, is not found', async () => {
  const person = await scene.person()
  await scene.run(codes, person)
  const { _id } = await scene.newest({ recipient: person })
  assert.equal((await scene.get(`/${_id}/eml`)).status, 404)
  assert.equal((await scene.get(`/${_id}/html`)).status, 404)
  for (const id of ['nothing', app.world.newId(app.world.now())]) {
    for (const part of ['', '/eml', '/html'])
      assert.equal((await scene.get(`/${id}${part}`)).status, 404, `${id}${part}`)
    assert.equal((await app.call('DELETE', `/v1/outbox/${id}`)).status, 404)
  }
})

test('another environment sees nothing of it, and clears nothing of it', async () => {
  const person = await scene.person()
  await scene.run(codes, person, { payload: { code: 'ours' } })
  const { _id } = await scene.newest({ recipient: person })
  const key = app.productionKey
  assert.deepEqual((await scene.get('', key)).body.data, [])
  assert.equal((await scene.get(`/${_id}`, key)).status, 404)
  assert.deepEqual((await scene.get(`/wait?recipient=${person}&timeout=1s`, key)).body.data, [])
  assert.equal((await app.call('DELETE', `/v1/outbox/${_id}`, { key })).status, 404)
  assert.deepEqual((await app.call('DELETE', '/v1/outbox', { key })).body, { removed: 0 })
  assert.equal((await scene.get(`/${_id}`)).status, 200)
})

const keyOf = async (scope: string): Promise<string> => {
  const made = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: scope, scopes: [scope] })
  return made.key
}

test('a key that may read may list and wait, and may not clear', async () => {
  const person = await scene.person()
  await scene.run(codes, person)
  const { _id } = await scene.newest({ recipient: person })
  const read = await keyOf('read')
  assert.equal((await scene.get('', read)).status, 200)
  assert.equal((await scene.get(`/wait?recipient=${person}`, read)).body.data.length, 1)
  for (const path of ['/v1/outbox', `/v1/outbox/${_id}`]) {
    assert.equal((await app.call('DELETE', path, { key: read })).status, 403)
  }
  const change = { configurations: { capture: true } }
  assert.equal((await app.call('PATCH', '/v1/environments/me', { key: read, body: change })).status, 403)
  assert.equal((await scene.get('', await keyOf('trigger'))).status, 403)
})

test('the outbox is cleared by filter, one by one or as a whole, and says how many went', async () => {
  const person = await scene.person()
  const clear = (query: string): Promise<TestReply> => app.call('DELETE', `/v1/outbox${query}`)
  const first = await scene.run(orders, person, { payload: { n: 1 } })
  await scene.run(orders, person, { payload: { n: 2 } })
  assert.deepEqual((await clear(`?recipient=${person}&channel=sms`)).body, { removed: 2 })
  assert.deepEqual(await scene.found({ recipient: person }), ['Order 1', 'Order 2'])
  const { _id } = await scene.newest({ recipient: person })
  assert.equal((await clear(`/${_id}`)).status, 204)
  assert.equal((await clear(`/${_id}`)).status, 404)
  assert.deepEqual(await scene.found({ recipient: person }), ['Order 1'])
  const { totalCount } = await scene.list()
  assert.deepEqual((await clear('')).body, { removed: totalCount })
  assert.deepEqual((await clear('')).body, { removed: 0 })
  assert.deepEqual(await scene.found({}), [])
  // Only the outbox forgets: messages and activity stay.
  assert.equal((await scene.messages(first.transactionId)).length, 2)
})

test('a filter that is misspelled clears nothing and ends no wait', async () => {
  const person = await scene.person()
  await scene.run(codes, person)
  for (const reply of [
    await app.call('DELETE', '/v1/outbox?recipent=nobody'),
    await scene.get('/wait?recipent=nobody&timeout=1s'),
  ]) {
    assert.match(refusals(reply)['recipent'] ?? '', /^recipent is not a known field; .*did you mean recipient\?$/)
  }
  assert.equal((await scene.list({ recipient: person })).totalCount, 1)
})

test('a message that is deleted leaves the outbox too', async () => {
  const person = await scene.person()
  await scene.run(codes, person)
  const { _id } = await scene.newest({ recipient: person })
  await scene.expect(200, 'DELETE', `/v1/messages/${_id}`)
  assert.deepEqual(await scene.found({ recipient: person }), [])
  assert.equal((await scene.get(`/${_id}`)).status, 404)
})

test('every list shows what was captured, also when the outbox has forgotten it; its status stays sent', async () => {
  const person = await scene.person()
  const inApp = { template: { type: 'in_app', content: 'Hello' } }
  const identifier = await scene.workflow([mailStep('Captured'), inApp])
  const { transactionId } = await scene.run(identifier, person)
  const captured = async (): Promise<unknown[]> => {
    const messages = await scene.expect(200, 'GET', `/v1/messages?transactionId=${transactionId}`)
    const activity = await scene.expect(200, 'GET', `/v1/notifications?transactionId=${transactionId}`)
    const detail = await scene.expect(200, 'GET', `/v1/notifications/${activity.data[0]._id}`)
    return [messages.data, activity.data[0].jobs, detail.jobs.flatMap(({ messages }: Json) => messages)].map((list) =>
      list.map((one: Json) => [one.channel ?? one.type, one.status, one.captured]).sort(),
    )
  }
  const email = ['email', 'sent', true]
  const feed = ['in_app', 'sent', undefined]
  const jobs = [
    ['email', 'completed', true],
    ['in_app', 'completed', undefined],
  ]
  const shown = [[email, feed], jobs, [email, feed]]
  assert.deepEqual(await captured(), shown)
  await scene.expect(200, 'DELETE', `/v1/outbox?recipient=${person}`)
  assert.deepEqual(await captured(), shown)
})
