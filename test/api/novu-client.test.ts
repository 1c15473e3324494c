// The public client @novu/api against a real port: every call of the interface that exists parses, and errors are typed.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Novu } from '@novu/api'
import { ErrorDto, SubscriberResponseDto, TopicResponseDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

type Call = (novu: Novu, app: TestApp) => Promise<void>

/** Each call of the client that we answer, by what it shows. */
const calls: Record<string, Call> = {
  'subscribers: create, upsert, patch, retrieve, search, bulk, delete': async (novu) => {
    const created = await novu.subscribers.create({
      subscriberId: 'ada',
      firstName: 'Ada',
      email: 'ada@example.com',
      timezone: 'Europe/London',
      locale: 'en-GB',
      data: { plan: 'team' },
    })
    assert.equal(created.result.subscriberId, 'ada')
    assert.equal((await novu.subscribers.create({ subscriberId: 'ada', lastName: 'L' })).result.firstName, 'Ada')
    assert.equal((await novu.subscribers.patch({ firstName: 'A.' }, 'ada')).result.firstName, 'A.')
    assert.deepEqual((await novu.subscribers.retrieve('ada')).result.data, { plan: 'team' })
    const bulk = await novu.subscribers.createBulk({ subscribers: [{ subscriberId: 'b1' }, { subscriberId: 'b2' }] })
    assert.equal(bulk.result.created.length, 2)
    const found = await novu.subscribers.search({ email: 'ada@', limit: 5 })
    assert.equal(found.result.data.length, 1)
    assert.equal(found.result.next, null)
    const page = await novu.subscribers.search({ limit: 1 })
    const next = await novu.subscribers.search({ limit: 1, after: page.result.next ?? '' })
    assert.notEqual(next.result.data[0]?.subscriberId, page.result.data[0]?.subscriberId)
    assert.equal((await novu.subscribers.delete('b2')).result.acknowledged, true)
  },

  'credentials: update, append, delete': async (novu) => {
    await novu.subscribers.create({ subscriberId: 'phone' })
    const credentials = { deviceTokens: ['t1'] }
    const updated = await novu.subscribers.credentials.update({ providerId: 'fcm', credentials }, 'phone')
    assert.equal(updated.result.channels?.[0]?.integrationId, '')
    const appended = await novu.subscribers.credentials.append(
      { providerId: 'fcm', credentials: { deviceTokens: ['t2'] } },
      'phone',
    )
    assert.deepEqual(appended.result.channels?.[0]?.credentials.deviceTokens, ['t1', 't2'])
    await novu.subscribers.credentials.delete('phone', 'fcm')
    assert.deepEqual((await novu.subscribers.retrieve('phone')).result.channels, [])
    await novu.subscribers.properties.updateOnlineFlag({ isOnline: true }, 'phone')
  },

  'topics: create, update, list, subscribe, list subscriptions, unsubscribe, delete': async (novu) => {
    await novu.subscribers.create({ subscriberId: 'member' })
    assert.equal((await novu.topics.create({ key: 'news', name: 'News' })).result.key, 'news')
    assert.equal((await novu.topics.create({ key: 'news', name: 'News!' })).result.name, 'News!')
    assert.equal((await novu.topics.update({ name: 'All news' }, 'news')).result.name, 'All news')
    assert.equal((await novu.topics.get('news')).result.name, 'All news')
    assert.equal((await novu.topics.list({ key: 'news' })).result.data.length, 1)
    const subscribed = await novu.topics.subscriptions.create({ subscriptions: ['member', 'stranger'] }, 'news')
    assert.equal(subscribed.result.meta.successful, 1)
    const listed = await novu.topics.subscriptions.list({ topicKey: 'news' })
    assert.equal(listed.result.data[0]?.subscriber.subscriberId, 'member')
    assert.equal((await novu.subscribers.topics.list({ subscriberId: 'member' })).result.data.length, 1)
    await novu.topics.subscriptions.delete({ subscriptions: ['member'] }, 'news')
    assert.equal((await novu.topics.subscriptions.list({ topicKey: 'news' })).result.data.length, 0)
    assert.equal((await novu.topics.delete('news')).result.acknowledged, true)
  },

  'integrations: create, update, list, set primary, delete': async (novu) => {
    const created = await novu.integrations.create({
      providerId: 'sendgrid',
      channel: 'email',
      name: 'Mail',
      identifier: 'mail',
      active: true,
      credentials: { apiKey: 'SG.x', from: 'a@example.com', senderName: 'A' },
      conditions: [
        {
          isNegated: false,
          type: 'GROUP',
          value: 'AND',
          children: [{ field: 'plan', value: 'team', operator: 'EQUAL', on: 'payload' }],
        },
      ],
    })
    const id = created.result.id ?? assert.fail('no id')
    assert.equal((await novu.integrations.update({ name: 'Post' }, id)).result.name, 'Post')
    assert.ok((await novu.integrations.list()).result.length >= 4)
    assert.ok((await novu.integrations.listActive()).result.some((integration) => integration.identifier === 'mail'))
    assert.equal((await novu.integrations.setAsPrimary(id)).result.primary, true)
    assert.ok((await novu.integrations.delete(id)).result.every((integration) => integration.identifier !== 'mail'))
  },

  'feed and messages: list, count, mark, answer a button, snooze, delete': async (novu, app) => {
    const scene = await MessageScene.of(app, ['feed'], { identifier: 'client-orders' })
    const buttons = [{ type: 'primary', content: 'Yes' }] as const
    const said = await scene.say('feed', {
      draft: {
        subject: 'Hello',
        cta: { type: 'redirect', data: { url: '/x' }, action: { status: 'pending', buttons } },
      },
      event: { transactionId: 'client-feed', payload: { orderId: '42' } },
    })
    const mail = await scene.sayAgain({ id: said.eventId, transactionId: 'client-feed' }, said.notification, {
      draft: { channel: 'email', content: [{ type: 'text', content: 'Hello' }], subject: 'Hello' },
    })
    const subscriberId = 'feed'
    const payload = Buffer.from('{"orderId":"42"}').toString('base64')
    const feed = await novu.subscribers.notifications.feed({ subscriberId, payload, read: false, seen: false })
    assert.deepEqual(
      feed.result.data.map((item) => [item.id, item.archived, item.content]),
      [[said.id, false, 'Hello']],
    )
    assert.equal((await novu.subscribers.notifications.unseenCount({ subscriberId })).result.count, 1)
    const listed = await novu.messages.retrieve({ subscriberId, transactionId: ['client-feed'] })
    assert.deepEqual(listed.result.data.map((message) => message.id).sort(), [said.id, mail.id].sort())
    assert.equal(listed.result.data[0]?.template?.name, 'Orders')
    assert.equal(listed.result.data[0]?.subscriber?.subscriberId, 'feed')
    const { messages, notifications } = novu.subscribers
    await messages.markAllAs({ messageId: said.id, markAs: 'seen' }, subscriberId)
    assert.equal((await messages.markAll({ markAs: 'read' }, subscriberId)).result, 1)
    const answered = await messages.updateAsSeen({
      subscriberId,
      messageId: said.id,
      type: 'primary',
      markMessageActionAsSeenDto: { status: 'done' },
    })
    assert.equal(answered.result.cta.action?.result?.type, 'primary')
    assert.equal((await notifications.markAsUnread({ subscriberId, notificationId: said.id })).result.isRead, false)
    assert.equal((await notifications.markAsRead({ subscriberId, notificationId: said.id })).result.isRead, true)
    assert.equal((await notifications.archive({ subscriberId, notificationId: said.id })).result.isArchived, true)
    assert.equal((await notifications.unarchive({ subscriberId, notificationId: said.id })).result.isArchived, false)
    const snoozeUntil = new Date(app.world.now().getTime() + 60_000)
    const snoozed = await notifications.snooze({
      subscriberId,
      notificationId: said.id,
      snoozeSubscriberNotificationDto: { snoozeUntil },
    })
    assert.equal(snoozed.result.snoozedUntil, snoozeUntil.toISOString())
    assert.equal((await notifications.unsnooze({ subscriberId, notificationId: said.id })).result.isSnoozed, false)
    const plain = await scene.say('feed', { event: { transactionId: 'client-feed-plain' } })
    const marked = await messages.markAllAs({ messageId: plain.id, markAs: 'read' }, subscriberId)
    assert.deepEqual(marked.result[0]?.cta, {})
    const unread = await notifications.markAsUnread({ subscriberId, notificationId: plain.id })
    assert.equal(unread.result.primaryAction, undefined)
    const markMessageActionAsSeenDto = { status: 'done' } as const
    const pressed = { subscriberId, messageId: plain.id, type: 'primary', markMessageActionAsSeenDto } as const
    assert.equal((await messages.updateAsSeen(pressed)).result.id, plain.id)
    await novu.messages.delete(plain.id)
    assert.equal((await novu.messages.delete(mail.id)).result.acknowledged, true)
    await novu.messages.deleteByTransactionId('client-feed', 'in_app')
    assert.deepEqual((await novu.messages.retrieve({ subscriberId })).result.data, [])
    await assert.rejects(novu.messages.delete(mail.id), ErrorDto)
  },

  'environments are listed': async (novu) => {
    const environments = await novu.environments.list()
    assert.deepEqual(
      environments.result.map((environment) => environment.name),
      ['Development', 'Production'],
    )
  },

  'environments: create, update, tags, delete, with a key of their own': async (novu) => {
    const { result } = await novu.environments.create({ name: 'Staging', color: '#ff8800' })
    assert.equal(result.name, 'Staging')
    const secretKey = result.apiKeys?.[0]?.key ?? assert.fail('there is no key')
    const own = new Novu({ secretKey, serverURL: novu._baseURL?.toString() ?? '' })
    assert.equal((await own.environments.update({ name: 'Preview' }, result.id)).result.name, 'Preview')
    assert.deepEqual((await own.environments.getTags(result.id)).result, [])
    await assert.rejects(novu.environments.delete(result.id), ErrorDto)
    await own.environments.delete(result.id)
    assert.equal((await novu.environments.list()).result.length, 2)
  },

  'errors arrive as the client’s own types': async (novu) => {
    await assert.rejects(novu.subscribers.retrieve('nobody'), ErrorDto)
    await assert.rejects(novu.subscribers.create({ subscriberId: 'x', email: 'nope' }), ValidationErrorDto)
    await novu.subscribers.create({ subscriberId: 'twin' })
    await assert.rejects(novu.subscribers.create({ subscriberId: 'twin' }, true), SubscriberResponseDto)
    await novu.topics.create({ key: 'twin' })
    await assert.rejects(novu.topics.create({ key: 'twin' }, true), TopicResponseDto)
    const otherSubscriber = new Novu({ secretKey: 'not-a-key-at-all', serverURL: novu._baseURL?.toString() ?? '' })
    await assert.rejects(otherSubscriber.subscribers.retrieve('ada'), ErrorDto)
    await novu.subscribers.create({ subscriberId: 'k1' }, undefined, 'reused-key')
    await assert.rejects(novu.subscribers.create({ subscriberId: 'k2' }, undefined, 'reused-key'), ValidationErrorDto)
  },
}

for (const vendor of ['novu', 'platform'] as const) {
  describe(`@novu/api with POSTHORN_VENDOR=${vendor}`, () => {
    let app: TestApp
    let novu: Novu
    before(async () => {
      app = await createTestApp({ vendor })
      const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
      // The client repeats 409 for an hour by default; here an error is the answer we look for.
      novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
    })
    after(() => app.close())
    for (const [what, call] of Object.entries(calls)) test(what, () => call(novu, app))
  })
}
