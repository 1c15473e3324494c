// App IO: no one is written to before IO said that they may be, and nothing that IO would refuse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PushMessage } from '../../src/domain/messages/outbound-message.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { appio } from '../../src/providers/push/appio.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, pushMessage, sendWith } from '../support/provider-scene.ts'

const account = { AppIOBaseUrl: 'https://api.io.pagopa.it/api/v1', apiKey: 'io-subscription-key' }
const citizen = {
  ...pushMessage,
  target: 'AAAAAA00A00A000A',
  title: 'Pratica numero 42 aggiornata',
  content: 'x'.repeat(80),
}

function io(profile: { status: number; body?: object } | 'cut') {
  const world = createFakeWorld()
  const asked: string[] = []
  world.onFetch = async (request) => {
    const isProfile = request.url.endsWith('/profiles')
    asked.push(isProfile ? 'profile' : 'message')
    if (!isProfile) return { status: 201, headers: new Headers(), body: '{"id":"01BX"}' }
    if (profile === 'cut') throw new OutboundError('unsure', 'IO aborted the request')
    const text = JSON.stringify(profile.body ?? { detail: `${request.headers.get('ocp-apim-subscription-key')}` })
    return { status: profile.status, headers: new Headers(), body: text }
  }
  const send = (change: Partial<PushMessage> = {}, credentials: object = account) =>
    sendWith({ world }, appio, { ...citizen, ...change }, credentials)
  return { world, asked, send }
}

const allowed = { status: 200, body: { sender_allowed: true } }

test('a citizen who may be written to is written to', async () => {
  const { asked, send } = io(allowed)
  assert.deepEqual(await send(), { kind: 'sent', providerMessageId: '01BX' })
  assert.deepEqual(asked, ['profile', 'message'])
})

test('whatever else the profile says, no message is sent', async () => {
  const answers: [Parameters<typeof io>[0], string][] = [
    [{ status: 200, body: { sender_allowed: false } }, 'refused: opted-out'],
    [{ status: 200, body: {} }, 'busy'],
    [{ status: 404 }, 'refused: bad-recipient'],
    [{ status: 400 }, 'refused: bad-content'],
    [{ status: 401 }, 'misconfigured'],
    [{ status: 403 }, 'misconfigured'],
    [{ status: 429 }, 'busy'],
    [{ status: 500 }, 'busy'],
    [{ status: 504 }, 'busy'],
    ['cut', 'busy'],
  ]
  for (const [profile, kind] of answers) {
    const { asked, send } = io(profile)
    assert.equal(kindOf(await send()), kind, JSON.stringify(profile))
    assert.deepEqual(asked, ['profile'])
  }
})

test('a key that the trigger names serves where the account has none, never in its place, and is not reported', async () => {
  const { send } = io({ status: 401 })
  const customData = { apiKey: 'key-of-the-trigger' }
  const named = await send({ customData }, { AppIOBaseUrl: account.AppIOBaseUrl })
  assert.equal(named.kind === 'misconfigured' && named.detail, 'IO answered 401: [redacted]')
  const { world, send: sendAgain } = io(allowed)
  const keys: (string | null)[] = []
  const { onFetch } = world
  world.onFetch = (request, options) => {
    keys.push(request.headers.get('ocp-apim-subscription-key'))
    return onFetch?.(request, options) ?? assert.fail()
  }
  await sendAgain({ customData })
  assert.deepEqual(new Set(keys), new Set(['io-subscription-key']))
  const none = await sendAgain({}, { AppIOBaseUrl: account.AppIOBaseUrl })
  assert.equal(none.kind, 'misconfigured')
})

test('what IO would refuse is not asked', async () => {
  const { asked, send } = io(allowed)
  const kinds = [
    await send({ target: 'nobody' }),
    await send({ target: 'aaaaaa00a00a000a' }),
    await send({ title: 'too short' }),
    await send({ title: 'x'.repeat(121) }),
    await send({ content: 'x'.repeat(79) }),
    await send({ content: 'x'.repeat(10_001) }),
  ]
  const contents = Array(4).fill('refused: bad-content')
  assert.deepEqual(kinds.map(kindOf), ['refused: bad-recipient', 'refused: bad-recipient', ...contents])
  assert.deepEqual(asked, [])
})

test('the check asks for IO’s own test citizen', async () => {
  for (const [status, result] of [
    [200, 'good'],
    [404, 'good'],
    [401, 'apiKey'],
    [403, 'apiKey'],
    [500, undefined],
  ] as const) {
    const reported = await appio.check?.(io({ status }).world, account)
    assert.equal(reported?.kind === 'bad' ? reported.field : reported?.kind, result, String(status))
  }
  const { world } = io(allowed)
  const keyless = await appio.check?.(world, { AppIOBaseUrl: account.AppIOBaseUrl })
  assert.equal(keyless?.kind === 'bad' && keyless.field, 'apiKey')
})

test('no other address than IO’s own is a good one', () => {
  const mistakes = (AppIOBaseUrl: string) => Object.keys(formMistakes(appio.form, { ...account, AppIOBaseUrl }))
  assert.deepEqual(mistakes('https://api.io.italia.it/api/v1/'), [])
  for (const address of [
    'http://api.io.pagopa.it/api/v1',
    'https://evil.example/api/v1',
    'https://api.io.pagopa.it@evil.example',
  ]) {
    assert.deepEqual(mistakes(address), ['credentials.AppIOBaseUrl'], address)
  }
})
