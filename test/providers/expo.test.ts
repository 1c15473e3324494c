// Expo: devices of several projects in one batch, tokens that are none, and the receipts that are asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expo } from '../../src/providers/push/expo.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, pushMessage } from '../support/provider-scene.ts'

const account = { apiKey: 'expo-secret-token' }
const token = (name: string) => `ExponentPushToken[${name}]`
const message = (name: string) => ({ ...pushMessage, target: token(name) })

function expoAnswering(answers: (tokens: string[]) => { status: number; body: object }) {
  const world = createFakeWorld()
  const asked: string[][] = []
  world.onFetch = async (request) => {
    const tokens = ((await request.json()) as { to: string[] }[]).flatMap(({ to }) => to)
    asked.push(tokens)
    const { status, body } = answers(tokens)
    return { status, headers: new Headers(), body: JSON.stringify(body) }
  }
  return { world, asked }
}

const tickets = (tokens: string[]) => ({ data: tokens.map((id) => ({ status: 'ok', id })) })

test('devices of several projects are sent again, each project’s for itself, and the order is kept', async () => {
  const { world, asked } = expoAnswering((tokens) => {
    if (asked.length > 1) return { status: 200, body: tickets(tokens) }
    const details = { '@a/app': [token('a1'), token('a2')], '@b/app': [token('b1')] }
    return { status: 400, body: { errors: [{ code: 'PUSH_TOO_MANY_EXPERIENCE_IDS', message: 'x', details }] } }
  })
  const outcomes = await expo.sendMany?.(world, ['a1', 'b1', 'a2', 'c1'].map(message), account)
  assert.deepEqual(asked, [['a1', 'b1', 'a2', 'c1'].map(token), ['a1', 'a2'].map(token), ['b1'].map(token)])
  assert.deepEqual(
    outcomes?.map((outcome) => (outcome.kind === 'sent' ? outcome.providerMessageId : outcome.kind)),
    [token('a1'), token('b1'), token('a2'), 'busy'],
  )
})

test('a token that is none is left out of the request', async () => {
  const { world, asked } = expoAnswering((tokens) => ({ status: 200, body: tickets(tokens) }))
  const messages = [message('a'), { ...pushMessage, target: 'nonsense' }, { ...pushMessage, target: '' }, message('b')]
  const outcomes = await expo.sendMany?.(world, messages, account)
  assert.deepEqual(outcomes?.map(kindOf), ['sent', 'refused: dead-token', 'refused: bad-recipient', 'sent'])
  assert.deepEqual(asked, [[token('a'), token('b')]])
})

test('messages share a request when they share their settings, and none that was added to', () => {
  const key = (change: object) => expo.batching?.key({ ...pushMessage, ...change } as never, {})
  assert.equal(expo.batching?.max, 100)
  assert.equal(key({}), key({ content: 'other', target: token('b') }))
  assert.notEqual(key({}), key({ customData: { badge: 'x' } }))
  assert.equal(key({ passthrough: { body: {} } }), undefined)
})

function receiptsAnswering(status: number, body: unknown) {
  const world = createFakeWorld()
  const asked: unknown[] = []
  world.onFetch = async (request) => {
    asked.push([request.url, request.headers.get('authorization'), await request.json()])
    return { status, headers: new Headers(), body: JSON.stringify(body) }
  }
  return { world, asked }
}

test('receipts are asked for by their ids; those that are not there yet are left out', async () => {
  const gone = { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } }
  const big = { status: 'error', message: 'big', details: { error: 'MessageTooBig' } }
  const ok = { status: 'ok' }
  const { world, asked } = receiptsAnswering(200, { data: { a: ok, b: gone, c: big, e: {}, otherSubscriber: ok } })
  const receipts = await expo.polling?.ask(world, ['a', 'b', 'c', 'd', 'e'], account)
  assert.deepEqual(asked, [
    ['https://exp.host/--/api/v2/push/getReceipts', 'Bearer expo-secret-token', { ids: ['a', 'b', 'c', 'd', 'e'] }],
  ])
  assert.deepEqual(receipts, [
    { status: 'sent', providerMessageId: 'a', row: ok },
    {
      status: 'failed',
      providerMessageId: 'b',
      words: 'Expo could not send: gone (DeviceNotRegistered)',
      deadToken: true,
      row: gone,
    },
    { status: 'failed', providerMessageId: 'c', words: 'Expo could not send: big (MessageTooBig)', row: big },
  ])
})

test('where no one could be asked nothing is known; strange answers never throw', async () => {
  for (const [status, body] of [
    [500, {}],
    [401, { errors: [{ code: 'UNAUTHORIZED' }] }],
    [200, {}],
    [200, null],
  ] as const) {
    const { world } = receiptsAnswering(status, body)
    assert.equal(await expo.polling?.ask(world, ['a'], account), undefined, JSON.stringify([status, body]))
  }
  for (const row of [null, 1, [], 'x', { status: 7 }]) {
    const { world } = receiptsAnswering(200, { data: { a: row } })
    assert.deepEqual(await expo.polling?.ask(world, ['a'], account), [])
  }
  const away = createFakeWorld()
  away.onFetch = () => {
    throw new OutboundError('not-sent', 'no one is there')
  }
  assert.equal(await expo.polling?.ask(away, ['a'], account), undefined)
})

test('receipts are asked for after a quarter of an hour, each half hour, for a day', () => {
  const { firstAfterMs, againAfterMs, givesUpAfterMs, max } = expo.polling ?? {}
  assert.deepEqual([firstAfterMs, againAfterMs, givesUpAfterMs, max], [900_000, 1_800_000, 86_400_000, 1_000])
})
