// Messages by what became of them: status, provider, error and time, alone and with other filters.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dayMs } from '../../src/domain/insight/counts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
const times = { ada: '', bob: '', cleo: '', dora: '', eve: '' }
before(async () => {
  app = await createTestApp()
  const scene = await MessageScene.of(app, ['ada', 'bob', 'cleo', 'dora', 'eve'])
  const email = { channel: 'email' } as const
  const missing = { errorId: 'mail_unexpected_error', errorText: 'Subscriber does not have an email address' }
  const refused = { errorId: 'mailbox_full', errorText: 'The mailbox is full' }
  for (const [name, saying] of [
    ['ada', {}],
    ['bob', { draft: email, message: { providerId: 'sendgrid' } }],
    ['cleo', { draft: email, message: { status: 'warning', error: missing, providerId: null } }],
    ['dora', { draft: email, message: { providerId: 'sendgrid', status: 'error', error: refused } }],
    ['eve', { draft: email, message: { providerId: 'mailgun' } }],
  ] as const) {
    await scene.say(name, saying)
    times[name] = app.world.now().toISOString()
  }
  const neighbour = await MessageScene.of(app, ['ada'], { environmentName: 'Production' })
  await neighbour.say('ada', { draft: email, message: { providerId: 'sendgrid', status: 'error', error: refused } })
})
after(() => app.close())

/** By whom they were for, newest first. */
async function found(query: string): Promise<string[]> {
  const reply = await app.call('GET', `/v1/messages?${query}`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.totalCount, reply.body.data.length, 'it counts what it lists')
  return reply.body.data.map((item: Json) => item.subscriber.subscriberId)
}

test('a status leaves those that have it, and several any of them; other environments’ are not among them', async () => {
  assert.deepEqual(await found('status=sent'), ['eve', 'bob', 'ada'])
  assert.deepEqual(await found('status=warning'), ['cleo'])
  assert.deepEqual(await found('status=error'), ['dora'])
  assert.deepEqual(await found('status=error&status=warning'), ['dora', 'cleo'])
  assert.deepEqual(await found('status=sent&status=error'), ['eve', 'dora', 'bob', 'ada'])
})

test('a provider and an error leave those that have them', async () => {
  assert.deepEqual(await found('providers=sendgrid'), ['dora', 'bob'])
  assert.deepEqual(await found('providers=sendgrid&providers=mailgun&status=sent'), ['eve', 'bob'])
  assert.deepEqual(await found('providers=ses'), [])
  assert.deepEqual(await found('providers=any&channel=email'), ['eve', 'dora', 'bob'])
  assert.deepEqual(await found('providers=none&channel=email'), ['cleo'])
  assert.deepEqual(await found('providers=any&providers=none&channel=email'), ['eve', 'dora', 'cleo', 'bob'])
  assert.deepEqual(await found('providers=any&status=warning'), [])
  assert.deepEqual(await found('errorIds=mailbox_full'), ['dora'])
  assert.deepEqual(await found('errorIds=mailbox_full&status=warning'), [])
})

test('an error is that of what was not sent, whatever status is asked for', async () => {
  assert.deepEqual(await found('errorIds=mailbox_full&errorIds=mail_unexpected_error'), ['dora', 'cleo'])
  assert.deepEqual(await found('errorIds=mailbox_full&status=sent&status=error'), ['dora'])
  assert.deepEqual(await found('errorIds=mailbox_full&status=sent'), [])
})

test('a provider is looked for in the last thirty days, unless a start or a narrower filter is given', async () => {
  const start = new Date(Date.parse(times.ada) - 1).toISOString()
  app.world.advance(30 * dayMs - (app.world.now().getTime() - Date.parse(times.bob)))
  assert.deepEqual(await found('providers=sendgrid'), ['dora', 'bob'], 'just thirty days')
  app.world.advance(1)
  assert.deepEqual(await found('providers=sendgrid'), ['dora'])
  assert.deepEqual(await found('providers=sendgrid&status=sent&channel=email'), [])
  assert.deepEqual(await found('providers=sendgrid&contextKeys='), ['dora'])
  app.world.advance(60 * dayMs)
  assert.deepEqual(await found('providers=sendgrid'), [])
  assert.deepEqual(await found(`providers=sendgrid&after=${start}`), ['dora', 'bob'])
  assert.deepEqual(await found(`providers=sendgrid&before=${times.eve}`), ['dora', 'bob'], 'thirty days up to then')
  assert.deepEqual(await found('providers=sendgrid&subscriberId=bob'), ['bob'])
  assert.deepEqual(await found('providers=sendgrid&status=error'), ['dora'])
  assert.deepEqual(await found('providers=sendgrid&errorIds=mailbox_full'), ['dora'])
  assert.deepEqual(await found('status=sent'), ['eve', 'bob', 'ada'], 'without a provider all are listed')
})

test('the time is that of the message, with both of its ends', async () => {
  assert.deepEqual(await found(`after=${times.dora}`), ['eve', 'dora'])
  assert.deepEqual(await found(`before=${times.bob}`), ['bob', 'ada'])
  assert.deepEqual(await found(`after=${times.bob}&before=${times.cleo}&channel=email`), ['cleo', 'bob'])
})

test('other filters hold as well, and empty ones are ignored', async () => {
  assert.deepEqual(await found('status=sent&channel=email'), ['eve', 'bob'])
  assert.deepEqual(await found('status=sent&subscriberId=dora'), [])
  assert.deepEqual(await found('status=error&subscriberId=dora'), ['dora'])
  assert.deepEqual(await found('providers=&errorIds=&after=&before='), ['eve', 'dora', 'cleo', 'bob', 'ada'])
})

test('what is no status, no time or no range is refused', async () => {
  for (const [query, status] of [
    ['status=lost', 422],
    ['after=yesterday', 400],
    [`after=${times.eve}&before=${times.ada}`, 400],
  ] as const) {
    const reply = await app.call('GET', `/v1/messages?${query}`)
    assert.equal(reply.status, status, query)
  }
})
