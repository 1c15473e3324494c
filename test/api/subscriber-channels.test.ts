// Channel credentials and online status over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { insertIntegration } from '../../src/store/integrations/integrations.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const put = (subscriberId: string, body: object, method = 'PUT') =>
  app.call(method, `/v1/subscribers/${subscriberId}/credentials`, { body })

async function newSubscriber(subscriberId: string): Promise<void> {
  assert.equal((await app.call('POST', '/v2/subscribers', { body: { subscriberId } })).status, 201)
}

/** An active integration, made beneath the API: these tests are about subscribers. */
async function integrationOf(providerId: string, identifier: string): Promise<string> {
  const { body } = await app.call('GET', '/v1/environments/me')
  const environment = { id: body._id, organizationId: body._organizationId, name: body.name }
  const now = app.world.now()
  const id = app.world.newId(now)
  await app.database.db.transaction((tx) =>
    insertIntegration(tx, app.world.sealer, environment, {
      id,
      identifier,
      name: identifier,
      providerId,
      channel: 'push',
      credentials: {},
      conditions: [],
      active: true,
      primary: false,
      now,
    }),
  )
  return id
}

test('device tokens are appended, each once, and other members stay', async () => {
  await newSubscriber('tokens')
  await put('tokens', {
    providerId: 'slack',
    credentials: { webhookUrl: 'https://hooks.slack.com/services/T/B/1', channel: 'c' },
  })
  await put('tokens', { providerId: 'fcm', credentials: { deviceTokens: ['a', 'b'] } })
  for (const method of ['PUT', 'PATCH']) {
    const { status, body } = await put(
      'tokens',
      { providerId: 'fcm', credentials: { deviceTokens: ['b', 'c'] } },
      method,
    )
    assert.equal(status, 200)
    assert.deepEqual(body.channels, [
      {
        providerId: 'slack',
        credentials: { webhookUrl: 'https://hooks.slack.com/services/T/B/1', channel: 'c' },
        _integrationId: '',
      },
      { providerId: 'fcm', credentials: { deviceTokens: ['a', 'b', 'c'] }, _integrationId: '' },
    ])
  }
  const replaced = await put('tokens', { providerId: 'slack', credentials: { channel: 'd' } })
  assert.deepEqual(replaced.body.channels[0].credentials, {
    webhookUrl: 'https://hooks.slack.com/services/T/B/1',
    channel: 'd',
  })
  const kept = await put('tokens', { providerId: 'fcm', credentials: {} })
  assert.deepEqual(kept.body.channels[1].credentials.deviceTokens, ['a', 'b', 'c'])
})

test('at most 100 device tokens are kept, the newest', async () => {
  await newSubscriber('hoarder')
  const tokens = Array.from({ length: 130 }, (_, index) => `t${index}`)
  await put('hoarder', { providerId: 'apns', credentials: { deviceTokens: tokens.slice(0, 90) } })
  const { body } = await put('hoarder', { providerId: 'apns', credentials: { deviceTokens: tokens.slice(90) } })
  assert.deepEqual(body.channels[0].credentials.deviceTokens, tokens.slice(30))
})

test('all Grafana members are kept', async () => {
  await newSubscriber('grafana')
  const credentials = {
    webhookUrl: 'https://grafana.example.com/x',
    alertUid: 'u',
    title: 't',
    imageUrl: 'i',
    state: 's',
    externalUrl: 'e',
  }
  const { body } = await put('grafana', { providerId: 'grafana-on-call', credentials })
  assert.deepEqual(body.channels[0].credentials, credentials)
})

test('credentials that came before the integration belong to it once it exists', async () => {
  await newSubscriber('early')
  await put('early', { providerId: 'expo', credentials: { deviceTokens: ['first'] } })
  const integrationId = await integrationOf('expo', 'my-expo')
  const read = await app.call('GET', '/v2/subscribers/early')
  assert.deepEqual(read.body.channels, [
    {
      providerId: 'expo',
      integrationIdentifier: 'my-expo',
      credentials: { deviceTokens: ['first'] },
      _integrationId: integrationId,
    },
  ])
  const { body } = await put('early', { providerId: 'expo', credentials: { deviceTokens: ['second'] } })
  assert.equal(body.channels.length, 1)
  assert.deepEqual(body.channels[0].credentials.deviceTokens, ['first', 'second'])
})

test('each integration of a provider has an entry of its own', async () => {
  await newSubscriber('several')
  const one = await integrationOf('pushpad', 'pad-1')
  app.world.advance(1)
  const two = await integrationOf('pushpad', 'pad-2')
  await put('several', { providerId: 'pushpad', integrationIdentifier: 'pad-1', credentials: { deviceTokens: ['a'] } })
  const { body } = await put('several', { providerId: 'pushpad', credentials: { deviceTokens: ['b'] } })
  assert.deepEqual(
    body.channels.map((entry: { _integrationId: string }) => entry._integrationId),
    [one, two],
  )
})

test('an unknown integration identifier is 404 and nothing is stored', async () => {
  await newSubscriber('lost')
  const reply = await put('lost', {
    providerId: 'fcm',
    integrationIdentifier: 'nowhere',
    credentials: { deviceTokens: ['a'] },
  })
  assert.equal(reply.status, 404)
  assert.deepEqual((await app.call('GET', '/v2/subscribers/lost')).body.channels, [])
})

test('an unknown subscriber is 404', async () => {
  assert.equal((await put('nobody', { providerId: 'fcm', credentials: {} })).status, 404)
  assert.equal((await app.call('DELETE', '/v1/subscribers/nobody/credentials/fcm')).status, 404)
  assert.equal(
    (await app.call('PATCH', '/v1/subscribers/nobody/online-status', { body: { isOnline: true } })).status,
    404,
  )
})

for (const [what, body, field] of [
  ['an unknown provider', { providerId: 'pigeon', credentials: {} }, 'providerId'],
  ['no credentials', { providerId: 'fcm' }, 'credentials'],
  ['a token that is a number', { providerId: 'fcm', credentials: { deviceTokens: [1] } }, 'credentials.deviceTokens.0'],
  ['an empty token', { providerId: 'fcm', credentials: { deviceTokens: [''] } }, 'credentials.deviceTokens.0'],
  [
    'a webhook address that is none',
    { providerId: 'slack', credentials: { webhookUrl: 'file:///etc/passwd' } },
    'credentials.webhookUrl',
  ],
] as const) {
  test(`${what} is refused with 422, naming the field and not the secret`, async () => {
    await newSubscriber('refused')
    const reply = await put('refused', body)
    assert.equal(reply.status, 422)
    assert.deepEqual(Object.keys(reply.body.errors), [field])
    assert.equal(reply.text.includes('/etc/passwd'), false)
  })
}

test('novu-slack is another word for platform-slack', async () => {
  await newSubscriber('vendor')
  const { body } = await put('vendor', { providerId: 'novu-slack', credentials: { channel: 'C1' } })
  assert.equal(body.channels[0].providerId, 'platform-slack')
  assert.equal((await app.call('DELETE', '/v1/subscribers/vendor/credentials/novu-slack')).status, 204)
  assert.deepEqual((await app.call('GET', '/v2/subscribers/vendor')).body.channels, [])
})

test('deleting credentials removes every entry of that provider and no other', async () => {
  await newSubscriber('cleaned')
  await put('cleaned', { providerId: 'fcm', credentials: { deviceTokens: ['a'] } })
  await put('cleaned', { providerId: 'apns', credentials: { deviceTokens: ['b'] } })
  assert.equal((await app.call('DELETE', '/v1/subscribers/cleaned/credentials/fcm')).status, 204)
  const { body } = await app.call('GET', '/v2/subscribers/cleaned')
  assert.deepEqual(
    body.channels.map((entry: { providerId: string }) => entry.providerId),
    ['apns'],
  )
})

test('concurrent appends lose no token', async () => {
  await newSubscriber('busy')
  const tokens = Array.from({ length: 20 }, (_, index) => `t${index}`)
  const replies = await Promise.all(
    tokens.map((token) => put('busy', { providerId: 'fcm', credentials: { deviceTokens: [token] } })),
  )
  assert.ok(replies.every((reply) => reply.status === 200))
  const { body } = await app.call('GET', '/v2/subscribers/busy')
  assert.equal(body.channels.length, 1)
  assert.deepEqual(body.channels[0].credentials.deviceTokens.toSorted(), tokens.toSorted())
})

test('credentials are sealed at rest, for their environment and their row only', async () => {
  await newSubscriber('sealed')
  await put('sealed', { providerId: 'fcm', credentials: { deviceTokens: ['very-secret-token'] } })
  const rows = await app.database.db.rows<{ id: string; credentials: Buffer; environment_id: string }>(
    sql`select id, credentials, environment_id from subscriber_channels`,
  )
  assert.ok(rows.length > 0)
  for (const row of rows) {
    assert.equal(row.credentials.includes('secret'), false)
    const open = (environmentId: string, id: string) =>
      app.world.sealer.open(environmentId, 'channel-credentials', id, row.credentials)
    const other = app.world.newId(app.world.now())
    assert.ok(open(row.environment_id, row.id))
    assert.throws(() => open(other, row.id))
    assert.throws(() => open(row.environment_id, other))
  }
})

test('going offline says when', async () => {
  await newSubscriber('online')
  const online = await app.call('PATCH', '/v1/subscribers/online/online-status', { body: { isOnline: true } })
  assert.deepEqual([online.status, online.body.isOnline, online.body.lastOnlineAt], [200, true, null])
  app.world.advance(1000)
  const offline = await app.call('PATCH', '/v1/subscribers/online/online-status', { body: { isOnline: false } })
  assert.deepEqual([offline.body.isOnline, offline.body.lastOnlineAt], [false, app.world.now().toISOString()])
  assert.equal(
    (await app.call('PATCH', '/v1/subscribers/online/online-status', { body: { isOnline: 'yes' } })).status,
    422,
  )
})

test('a key that may only read sees which channels there are, and no credentials', async () => {
  await newSubscriber('hidden')
  await put('hidden', { providerId: 'fcm', credentials: { deviceTokens: ['very-secret-token'] } })
  const made = await app.call('POST', '/v1/environments/api-keys', { body: { scopes: ['read'] } })
  const { key } = made.body
  for (const path of ['/v2/subscribers/hidden', '/v2/subscribers?subscriberId=hidden']) {
    const reply = await app.call('GET', path, { key })
    const [found] = reply.body.data?.length === 1 ? reply.body.data : [reply.body]
    assert.deepEqual(found.channels, [{ providerId: 'fcm', credentials: {}, _integrationId: '' }])
    assert.equal(reply.text.includes('very-secret-token'), false)
  }
})

test('one integration has one entry, whatever happened before it became active again', async () => {
  await newSubscriber('reactivated')
  const id = await integrationOf('apns', 'my-apns')
  const activate = (active: boolean) =>
    app.database.db.run(sql`update integrations set active = ${active} where id = ${id}`)
  await put('reactivated', { providerId: 'apns', credentials: { deviceTokens: ['a'] } })
  await activate(false)
  const inactive = await put('reactivated', { providerId: 'apns', credentials: { deviceTokens: ['a', 'b'] } })
  assert.equal(inactive.body.channels.length, 1)
  await activate(true)
  const { body } = await put('reactivated', { providerId: 'apns', credentials: { deviceTokens: ['c'] } })
  assert.equal(body.channels.length, 1)
  assert.deepEqual(body.channels[0].credentials.deviceTokens, ['a', 'b', 'c'])
})

test('an entry kept from before is folded into the integration’s own', async () => {
  await newSubscriber('folded')
  await put('folded', { providerId: 'appio', credentials: { deviceTokens: ['early'] } })
  await integrationOf('appio', 'appio-1')
  app.world.advance(1)
  await integrationOf('appio', 'appio-2')
  // The early entry goes to the first that is written to; a second early one cannot exist beside it.
  await put('folded', { providerId: 'appio', integrationIdentifier: 'appio-1', credentials: { deviceTokens: ['one'] } })
  const { body } = await put('folded', { providerId: 'appio', credentials: { deviceTokens: ['two'] } })
  assert.deepEqual(
    body.channels.map((entry: { credentials: object }) => entry.credentials),
    [{ deviceTokens: ['early', 'one'] }, { deviceTokens: ['two'] }],
  )
})

test('many entries of one channel in a bulk call become one, with every token', async () => {
  const subscribers = Array.from({ length: 100 }, (_, index) => ({
    subscriberId: `wide-${index}`,
    channels: Array.from({ length: 40 }, (_, token) => ({
      providerId: 'expo',
      credentials: { deviceTokens: [`t${token}`] },
    })),
  }))
  const reply = await app.call('POST', '/v1/subscribers/bulk', { body: { subscribers } })
  assert.equal(reply.body.created.length, 100)
  const { body } = await app.call('GET', '/v2/subscribers/wide-7')
  assert.equal(body.channels[0].credentials.deviceTokens.length, 40)
})

test('a 409 writes the built-in ids in the words the other answers use', async () => {
  const other = await createTestApp({ nodeOf: app, vendor: 'novu' })
  try {
    await newSubscriber('worded')
    await put('worded', { providerId: 'platform-slack', credentials: { channel: 'C1' } })
    const reply = await other.call('POST', '/v2/subscribers?failIfExists=true', { body: { subscriberId: 'worded' } })
    assert.equal(reply.status, 409)
    assert.equal(reply.body.channels[0].providerId, 'novu-slack')
  } finally {
    await other.close()
  }
})
