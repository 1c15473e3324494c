// Firebase's message: what a caller's settings become on the wire.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { fcmMessage } from './fcm-message.ts'

const plain: PushMessage = {
  id: 'm1',
  target: 'token-1',
  title: 'Order shipped',
  content: 'On its way',
  payload: { orderId: 42 },
  subscriberId: 'sub-1',
  metadata: {},
}

function written(customData: Record<string, unknown>, change: Partial<PushMessage> = {}) {
  const made = fcmMessage({ ...plain, ...change, customData })
  assert.ok('message' in made, JSON.stringify(made))
  // As it is on the wire.
  return JSON.parse(JSON.stringify(made.message))
}

test('what is no setting of a platform is part of the notification, which may say otherwise', () => {
  assert.deepEqual(written({ imageUrl: 'i', title: 'Other', integrationIdentifier: 'x', deviceTokens: ['y'] }), {
    token: 'token-1',
    notification: { title: 'Other', body: 'On its way', image: 'i' },
  })
  assert.deepEqual(written({}, { title: '' }).notification, { body: 'On its way' })
})

test('data are texts, whatever they were', () => {
  const data = { orderId: 42, nested: { a: 1 }, is: true, none: null, text: 'x', gone: undefined }
  assert.deepEqual(written({ data }).data, { orderId: '42', nested: '{"a":1}', is: 'true', none: 'null', text: 'x' })
})

test('Android’s settings are written in small letters, and a lifetime in milliseconds is a duration', () => {
  const android = {
    priority: 'high',
    ttl: 60_500,
    collapseKey: 'orders',
    restrictedPackageName: 'com.example',
    data: { aKey: 1 },
    fcmOptions: { analyticsLabel: 'l' },
    notification: {
      channelId: 'orders',
      imageUrl: 'i',
      priority: 'max',
      defaultSound: true,
      titleLocArgs: ['a'],
      vibrateTimingsMillis: [500, 1_000],
      eventTimestamp: '2026-01-02T03:04:05.000Z',
    },
  }
  assert.deepEqual(written({ android }).android, {
    priority: 'high',
    ttl: '60.5s',
    collapse_key: 'orders',
    restricted_package_name: 'com.example',
    data: { aKey: '1' },
    fcm_options: { analytics_label: 'l' },
    notification: {
      channel_id: 'orders',
      image: 'i',
      notification_priority: 'PRIORITY_MAX',
      default_sound: true,
      title_loc_args: ['a'],
      vibrate_timings: ['0.5s', '1s'],
      event_time: '2026-01-02T03:04:05.000Z',
    },
  })
})

test('Apple’s headers are texts, its flags numbers, and its own members stay as they are', () => {
  const apns = {
    headers: { 'apns-priority': 10 },
    payload: {
      aps: { contentAvailable: true, mutableContent: false, threadId: 't', badge: 2, alert: { titleLocKey: 'k' } },
      acmeKey: { camelCase: 1 },
    },
    fcmOptions: { imageUrl: 'i', analyticsLabel: 'l' },
  }
  assert.deepEqual(written({ apns }).apns, {
    headers: { 'apns-priority': '10' },
    payload: {
      aps: {
        'content-available': 1,
        'mutable-content': 0,
        'thread-id': 't',
        badge: 2,
        alert: { 'title-loc-key': 'k' },
      },
      acmeKey: { camelCase: 1 },
    },
    fcm_options: { image: 'i', analytics_label: 'l' },
  })
})

test('the web’s settings keep their names, but for what is Firebase’s', () => {
  const webPush = {
    headers: { TTL: 60 },
    data: { n: 1 },
    notification: { requireInteraction: true },
    fcmOptions: { link: 'https://a.example', analyticsLabel: 'l' },
  }
  const message = written({ webPush, fcmOptions: { analyticsLabel: 'all' } })
  assert.deepEqual(message.webpush, {
    headers: { TTL: '60' },
    data: { n: '1' },
    notification: { requireInteraction: true },
    fcm_options: { link: 'https://a.example', analytics_label: 'l' },
  })
  assert.deepEqual(message.fcm_options, { analytics_label: 'all' })
})

test('settings in the words of the wire stay as they are', () => {
  const wire = {
    android: { ttl: '3600s', collapse_key: 'c', notification: { channel_id: 'o', image: 'i' } },
    apns: { payload: { aps: { 'content-available': 1 } }, fcm_options: { image: 'i' } },
    webpush: { fcm_options: { link: 'l' } },
    fcm_options: { analytics_label: 'x' },
  }
  const { token: _token, notification: _notification, ...rest } = written(wire)
  assert.deepEqual(rest, wire)
})

test('settings of another shape are left out', () => {
  const {
    token: _token,
    notification: _notification,
    ...rest
  } = written({ android: 'x', apns: [], webpush: null, data: 7 })
  assert.deepEqual(rest, {})
})
