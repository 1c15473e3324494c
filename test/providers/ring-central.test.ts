// RingCentral: access tokens are shared, renewed and forgotten; what became of a message is asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ringCentral } from '../../src/providers/sms/ring-central.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { fullMessages } from '../support/provider-contract.ts'

const account = { clientId: 'fake-client', secretKey: 'fake-secret', token: 'fake.jwt', from: '+14155550100' }
const json = (status: number, body: object) => ({ status, headers: new Headers(), body: JSON.stringify(body) })

/** Grants `token-1`, `token-2`, …; sending is answered by `sending`, by the token it came with. */
function scene(sending: (token: string) => ReturnType<typeof json>, granting?: () => ReturnType<typeof json>) {
  const world = createFakeWorld()
  const asked = { tokens: 0, sends: 0 }
  world.onFetch = async (request) => {
    if (request.url.endsWith('/oauth/token')) {
      asked.tokens += 1
      return granting?.() ?? json(200, { access_token: `token-${asked.tokens}`, expires_in: 3600 })
    }
    asked.sends += 1
    return sending(request.headers.get('authorization')?.slice(7) ?? '')
  }
  const send = (more = {}) => ringCentral.send?.(world, fullMessages.sms, { ...account, ...more })
  return { world, asked, send }
}

const taken = () => json(200, { id: 1, messageStatus: 'Queued' })

test('many messages at once share one token, and so do later ones', async () => {
  const { world, asked, send } = scene(taken)
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => send()))
  assert.deepEqual(new Set(outcomes.map((one) => one?.kind)), new Set(['sent']))
  world.advance(3_500_000)
  await send()
  assert.deepEqual(asked, { tokens: 1, sends: 21 })
})

test('a token is renewed a minute before it ends', async () => {
  const { world, asked, send } = scene(taken)
  await send()
  world.advance(3_541_000)
  await send()
  assert.equal(asked.tokens, 2)
})

test('another account, and another world, have a token of their own', async () => {
  const { asked, send } = scene(taken)
  await send()
  await send({ secretKey: 'another-secret' })
  assert.equal(asked.tokens, 2)
  const other = scene(taken)
  await other.send()
  assert.equal(other.asked.tokens, 1)
})

test('a token that is refused is forgotten and asked for once more', async () => {
  const { asked, send } = scene((token) => (token === 'token-1' ? json(401, { errorCode: 'OAU-128' }) : taken()))
  assert.equal((await send())?.kind, 'sent')
  assert.deepEqual(asked, { tokens: 2, sends: 2 })
  await send()
  assert.deepEqual(asked, { tokens: 2, sends: 3 })
})

test('a token that is refused late in a send leaves no time for another: nothing was sent', async () => {
  const { world, asked, send } = scene(() => {
    world.advance(11_000)
    return json(401, { errorCode: 'OAU-128' })
  })
  assert.equal((await send())?.kind, 'busy')
  assert.deepEqual(asked, { tokens: 1, sends: 1 })
})

test('a credential that is not granted a token is the account’s fault, and nothing is sent', async () => {
  const { asked, send } = scene(taken, () =>
    json(400, { error: 'invalid_grant', error_description: 'Invalid JWT', errors: [{ errorCode: 'OAU-251' }] }),
  )
  assert.deepEqual(await send(), { kind: 'misconfigured', detail: 'RingCentral answered 400: Invalid JWT' })
  assert.equal(asked.sends, 0)
})

test('a token that cannot be had now is busy, however the answer went wrong', async () => {
  for (const answer of [json(429, {}), json(500, {}), json(504, {}), json(200, { access_token: '' })]) {
    const { asked, send } = scene(taken, () => answer)
    assert.equal((await send())?.kind, 'busy')
    assert.equal(asked.sends, 0)
  }
})

test('no outcome reports the access token, even when the vendor repeats it', async () => {
  const { send } = scene((token) => json(403, { message: `Bearer ${token} may not` }))
  assert.deepEqual(await send(), {
    kind: 'misconfigured',
    detail: 'RingCentral answered 403: Bearer [redacted] may not',
  })
})

test('the check reports which credential is wrong', async () => {
  const { world } = scene(taken, () => json(401, { error: 'invalid_client', error_description: 'Unknown client' }))
  assert.deepEqual(await ringCentral.check?.(world, account), {
    kind: 'bad',
    words: 'RingCentral answered 401: Unknown client',
    field: 'token',
  })
})

test('what became of a message is asked for; an answer that says nothing is none', async () => {
  const kinds: Record<string, string> = {
    Queued: 'queued',
    Sent: 'sent',
    Delivered: 'delivered',
    SendingFailed: 'failed',
    DeliveryFailed: 'failed',
  }
  for (const [messageStatus, status] of Object.entries(kinds)) {
    const { world } = scene(() => json(200, { id: 7, messageStatus, to: [{ phoneNumber: '+14155550101' }] }))
    const [receipt, ...others] = (await ringCentral.polling?.ask(world, ['7'], account)) ?? []
    assert.deepEqual([receipt?.status, receipt?.providerMessageId, others.length], [status, '7', 0])
  }
  const received = scene(() => json(200, { messageStatus: 'Received' }))
  assert.deepEqual(await ringCentral.polling?.ask(received.world, ['7'], account), [])
  const gone = scene(() => json(404, {}))
  assert.deepEqual(await ringCentral.polling?.ask(gone.world, ['7'], account), [])
  const broken = scene(() => json(500, {}))
  assert.equal(await ringCentral.polling?.ask(broken.world, ['7'], account), undefined)
})
