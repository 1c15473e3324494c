// Push messages that share a request: only those that say the same, and never one that was added to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Provider } from '../../src/providers/provider.ts'
import { oneSignal } from '../../src/providers/push/one-signal.ts'
import { pusherBeams } from '../../src/providers/push/pusher-beams.ts'
import { pushpad } from '../../src/providers/push/pushpad.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, pushMessage } from '../support/provider-scene.ts'

const keyOf = (provider: Provider, change: object): string | undefined =>
  provider.batching?.key({ ...pushMessage, target: 'user-1', ...change } as never, {})

for (const [provider, max] of [
  [oneSignal, 2_000],
  [pushpad, 100],
  [pusherBeams, 1_000],
] as const) {
  test(`${provider.id}: the same content shares a request, and anything else does not`, () => {
    assert.equal(provider.batching?.max, max)
    const key = keyOf(provider, {})
    assert.notEqual(key, undefined)
    assert.equal(keyOf(provider, { id: 'other', target: 'user-2', subscriberId: 'x', metadata: {} }), key)
    for (const change of [{ title: 'x' }, { content: 'x' }, { payload: { a: 1 } }, { customData: { badge: 1 } }]) {
      assert.notEqual(keyOf(provider, change), key, JSON.stringify(change))
    }
    assert.equal(keyOf(provider, { passthrough: { body: { a: 1 } } }), undefined)
  })
}

test('one-signal: subscriptions and people do not share a request', () => {
  const uuid = '1dd608f2-c6a1-11e3-851d-000c2940e62c'
  assert.notEqual(keyOf(oneSignal, { target: uuid }), keyOf(oneSignal, { target: 'user-1' }))
})

test('one-signal: the key that reports a repeat is that of the group, in whatever order it comes', async () => {
  const keys: string[] = []
  const world = createFakeWorld()
  world.onFetch = async (request) => {
    keys.push(((await request.json()) as { idempotency_key: string }).idempotency_key)
    return { status: 200, headers: new Headers(), body: '{"id":"n1"}' }
  }
  const account = { applicationId: '8250eaf6-1a58-489e-b136-7c74a864b434', apiKey: 'os_v2_app_secret' }
  const [one, two] = [
    { ...pushMessage, target: 'user-1' },
    { ...pushMessage, id: '0197f3a0-0000-7000-8000-0000000000b2', target: 'user-2' },
  ]
  for (const group of [[one, two], [two, one], [one], [two]]) await oneSignal.sendMany?.(world, group, account)
  await oneSignal.send?.(world, one, account)
  assert.equal(keys[0], keys[1])
  assert.match(keys[0] ?? '', /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  assert.deepEqual(keys.slice(2), [one.id, two.id, one.id])
})

test('a user id that Beams would not take is left out of the request', async () => {
  const world = createFakeWorld()
  world.onFetch = async (request) => {
    assert.deepEqual(((await request.json()) as { users: string[] }).users, ['user-1'])
    return { status: 200, headers: new Headers(), body: '{"publishId":"p1"}' }
  }
  const account = { instanceId: '9c83c1b2-77ac-49c5-94c2-bfc96f9bec49', secretKey: 'beams-secret-key' }
  const messages = ['user-1', 'x'.repeat(165), ''].map((target) => ({ ...pushMessage, target }))
  const outcomes = await pusherBeams.sendMany?.(world, messages, account)
  assert.deepEqual(outcomes?.map(kindOf), ['sent', 'refused: bad-recipient', 'refused: bad-recipient'])
})

test('an instance id that is none never becomes a host name', async () => {
  const world = createFakeWorld()
  const account = { instanceId: 'evil.example/', secretKey: 'beams-secret-key' }
  const outcome = await pusherBeams.send?.(world, { ...pushMessage, target: 'user-1' }, account)
  assert.equal(outcome?.kind, 'misconfigured')
})
