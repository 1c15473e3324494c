// Notifications with a failed step: which are found, by type and by provider, alone and with other filters.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { detail } from '../../src/domain/insight/execution-detail.ts'
import { ActivityScene, stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers } from '../support/topic-scene.ts'

let app: TestApp
let people: Map<string, string>
before(async () => {
  app = await createTestApp()
  const scene = await ActivityScene.of(app)
  people = await addSubscribers(app, ['ada', 'bob', 'cleo', 'dan', 'eve'])
  const both = await scene.addWorkflow('both', [stepOf('email'), stepOf('sms')])
  const failed = (step: number, providerId: string) => ({
    step,
    status: 'failed' as const,
    details: [detail(app.world.now(), 'providerError', { providerId })],
  })
  const done = (step: number) => ({ step, status: 'completed' as const })
  const noPhone = { step: 1, status: 'skipped' as const, details: [detail(app.world.now(), 'noPhone')] }
  for (const [name, jobs] of [
    ['ada', [done(0), done(1)]],
    ['bob', [failed(0, 'sendgrid'), done(1)]],
    ['cleo', [done(0), failed(1, 'twilio')]],
    ['dan', [failed(0, 'sendgrid'), failed(1, 'sns')]],
    ['eve', [done(0), noPhone]],
  ] as const) {
    const subscriberId = people.get(name) ?? assert.fail(name)
    const event = await scene.addEvent(both, [{ subscriberId }], { transactionId: `of-${name}` })
    await scene.addJobs(event.notifications[0] ?? assert.fail('no notification'), jobs)
    app.world.advance(1_000)
  }
  const neighbour = await ActivityScene.of(app, 'Production')
  const { notification } = await neighbour.run([stepOf('email')])
  await neighbour.addJobs(notification, [failed(0, 'sendgrid')])
})
after(() => app.close())

async function found(query: string): Promise<string[]> {
  const reply = await app.call('GET', `/v1/notifications?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data.map((item: Json) => item.subscriber.subscriberId)
}

test('those with a failed step are found once each, newest first; skipped and other environments’ are not', async () => {
  assert.deepEqual(await found('failed=any'), ['dan', 'cleo', 'bob'])
})

test('a type is that of the failed step, not of any step of the workflow', async () => {
  assert.deepEqual(await found('failed=email'), ['dan', 'bob'])
  assert.deepEqual(await found('failed=sms'), ['dan', 'cleo'])
  assert.deepEqual(await found('failed=sms&failed=email'), ['dan', 'cleo', 'bob'])
  assert.deepEqual(await found('failed=push'), [])
})

test('a provider is one that was called for the failed step', async () => {
  assert.deepEqual(await found('failedProviders=sendgrid'), ['dan', 'bob'])
  assert.deepEqual(await found('failedProviders=twilio&failedProviders=sns'), ['dan', 'cleo'])
  assert.deepEqual(await found('failedProviders=sendgrid&failed=sms'), [])
})

test('a reason is what was reported of the failed step, and with a provider of a call of it', async () => {
  assert.deepEqual(await found('failedReasons=providerError'), ['dan', 'cleo', 'bob'])
  assert.deepEqual(await found('failedReasons=noPhone'), [], 'it was skipped, and has not failed')
  assert.deepEqual(await found('failedReasons=providerError&failedProviders=twilio'), ['cleo'])
  assert.deepEqual(await found('failedReasons=misconfigured&failedProviders=twilio'), [])
  assert.deepEqual(await found('failedReasons=misconfigured&failedReasons=providerError&failed=sms'), ['dan', 'cleo'])
})

test('a hundred providers and a hundred reasons are one condition, of one report', async () => {
  const many = (name: string, last: string) =>
    [...Array.from({ length: 99 }, (_, index) => `${name}-${index}`), last].map((value) => `${name}=${value}`).join('&')
  const query = (provider: string, reason: string) =>
    `${many('failedProviders', provider)}&${many('failedReasons', reason)}`
  assert.deepEqual(await found(query('twilio', 'providerError')), ['cleo'])
  assert.deepEqual(await found(`${query('twilio', 'providerError')}&transactionId=of-cleo`), ['cleo'])
  assert.deepEqual(await found(query('twilio', 'noPhone')), [])
  assert.deepEqual(await found(query('none', 'providerError')), [])
})

test('other filters hold as well', async () => {
  assert.deepEqual(await found('failed=any&subscriberIds=dan&subscriberIds=ada'), ['dan'])
  assert.deepEqual(await found('failed=any&transactionId=of-cleo&transactionId=of-eve'), ['cleo'])
  assert.deepEqual(await found('failed=any&emails=bob@example.org'), ['bob'])
  assert.deepEqual(await found('failed=any&channels=in_app'), [])
  assert.deepEqual(await found('failed=any&transactionId=unknown'), [])
  const since = new Date(Date.parse('2026-01-02T03:04:05.678Z') + 2_000).toISOString()
  assert.deepEqual(await found(`failed=any&after=${since}`), ['dan', 'cleo'])
})

test('pages follow each other, and a word that is no type is refused', async () => {
  const pages = await Promise.all([0, 1, 2, 3].map((page) => found(`failed=any&limit=1&page=${page}`)))
  assert.deepEqual(pages, [['dan'], ['cleo'], ['bob'], []])
  const refused = await app.call('GET', '/v1/notifications?failed=perhaps')
  assert.equal(refused.status, 422, refused.text)
})

test('pages of one event with many failed recipients show each of them once', async () => {
  const scene = await ActivityScene.of(app)
  const names = Array.from({ length: 7 }, (_, index) => `crowd-${index}`)
  const crowd = await addSubscribers(app, names)
  const workflow = await scene.addWorkflow('crowded', [stepOf('email')])
  const recipients = names.map((name) => ({ subscriberId: crowd.get(name) ?? assert.fail(name) }))
  const event = await scene.addEvent(workflow, recipients, { transactionId: 'of-crowd' })
  for (const notification of event.notifications) await scene.addJobs(notification, [{ step: 0, status: 'failed' }])
  for (const query of ['transactionId=of-crowd', `templates=${workflow.id}`]) {
    const pages = await Promise.all([0, 1, 2, 3].map((page) => found(`failed=any&${query}&limit=2&page=${page}`)))
    assert.deepEqual(
      pages.map((page) => page.length),
      [2, 2, 2, 1],
      query,
    )
    assert.deepEqual(pages.flat().sort(), names, query)
  }
})
