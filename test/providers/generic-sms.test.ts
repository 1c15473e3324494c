// The token of the SMS webhook: asked for once, kept for a while, forgotten when it is refused, and shown to no one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formMistakes } from '../../src/providers/form.ts'
import { genericSms } from '../../src/providers/sms/generic-sms.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { smsMessage } from '../support/provider-scene.ts'

const account = {
  baseUrl: 'https://sms.customer.test/send',
  apiKeyRequestHeader: 'X-API-KEY',
  apiKey: 'top-secret-0001',
  from: 'Acme',
  authenticateByToken: true,
  domain: 'https://sms.customer.test/token',
  authenticationTokenKey: 'X-Auth-Token',
}

interface Receiver {
  readonly world: FakeWorld
  /** The paths that were called, those of a send with the token they came with. */
  readonly calls: string[]
  /** Tokens that are refused. */
  readonly refused: Set<string>
}

function receiver({ tokenAnswer }: { tokenAnswer?: { status: number; body: string } } = {}): Receiver {
  const world = createFakeWorld()
  const calls: string[] = []
  const refused = new Set<string>()
  let granted = 0
  world.onFetch = async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/token') {
      calls.push('token')
      granted += 1
      const body = JSON.stringify({ data: { 'X-Auth-Token': `granted-${granted}` } })
      return { status: 200, headers: new Headers(), body, ...tokenAnswer }
    }
    const token = request.headers.get('x-auth-token') ?? 'none'
    calls.push(token)
    const status = refused.has(token) ? 401 : 200
    return { status, headers: new Headers(), body: JSON.stringify({ message: `no ${token}`, id: 'm-1' }) }
  }
  return { world, calls, refused }
}

const send = (world: FakeWorld, more: object = {}, credentials: object = account) =>
  genericSms.send?.(world, { ...smsMessage, ...more }, credentials as never)

test('many who send at once wait for one token, and the next finds it', async () => {
  const { world, calls } = receiver()
  const outcomes = await Promise.all([send(world), send(world), send(world)])
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.kind),
    ['sent', 'sent', 'sent'],
  )
  await send(world)
  assert.deepEqual(calls, ['token', 'granted-1', 'granted-1', 'granted-1', 'granted-1'])
})

test('a token is not kept beyond five minutes, nor for another account or another world', async () => {
  const { world, calls } = receiver()
  await send(world)
  world.advance(299_999)
  await send(world)
  assert.deepEqual(calls.splice(0), ['token', 'granted-1', 'granted-1'])
  world.advance(1)
  await send(world)
  await send(world, {}, { ...account, apiKey: 'another-secret' })
  assert.deepEqual(calls, ['token', 'granted-2', 'token', 'granted-3'])
  const elsewhere = receiver()
  await send(elsewhere.world)
  assert.deepEqual(elsewhere.calls, ['token', 'granted-1'])
})

test('a token that is refused is forgotten, and another is tried once', async () => {
  const { world, calls, refused } = receiver()
  await send(world)
  refused.add('granted-1')
  assert.equal((await send(world))?.kind, 'sent')
  assert.deepEqual(calls, ['token', 'granted-1', 'granted-1', 'token', 'granted-2'])
})

test('where every token is refused the account is wrong, and the words repeat no token', async () => {
  const { world, calls, refused } = receiver()
  for (const token of ['granted-1', 'granted-2', 'granted-3']) refused.add(token)
  const outcome = await send(world)
  assert.deepEqual(outcome, { kind: 'misconfigured', detail: 'The webhook answered 401: no [redacted]' })
  assert.deepEqual(calls, ['token', 'granted-1', 'token', 'granted-2'])
})

test('a passthrough cannot set the token', async () => {
  const { world, calls } = receiver()
  await send(world, { passthrough: { headers: { 'X-Auth-Token': 'mine' } } })
  assert.deepEqual(calls, ['token', 'granted-1'])
})

test('without a token certainly nothing is sent: a refusal is the account’s, trouble passes', async () => {
  const kindOf = async (tokenAnswer: { status: number; body: string }) => {
    const { world, calls } = receiver({ tokenAnswer })
    const outcome = await send(world)
    assert.deepEqual(calls, ['token'])
    assert.doesNotMatch(JSON.stringify(outcome), /hidden-token/)
    return outcome?.kind
  }
  assert.equal(await kindOf({ status: 401, body: '{"message":"no"}' }), 'misconfigured')
  assert.equal(await kindOf({ status: 404, body: '' }), 'misconfigured')
  assert.equal(await kindOf({ status: 200, body: '{"data":{"other":"hidden-token"}}' }), 'misconfigured')
  assert.equal(await kindOf({ status: 200, body: '{"data":{"X-Auth-Token":"two\\nlines"}}' }), 'misconfigured')
  assert.equal(await kindOf({ status: 503, body: '' }), 'busy')
  assert.equal(await kindOf({ status: 504, body: '' }), 'busy')
  const world = createFakeWorld()
  world.onFetch = async () => {
    throw new OutboundError('unsure', 'it was cut')
  }
  assert.equal((await send(world))?.kind, 'busy')
})

test('a token may stand beside `data` too', async () => {
  const { world, calls } = receiver({ tokenAnswer: { status: 200, body: '{"X-Auth-Token":"beside"}' } })
  await send(world)
  assert.deepEqual(calls, ['token', 'beside'])
})

test('a token without a place to ask for it is a matter of the account, and no one is asked', async () => {
  const { world, calls } = receiver()
  const { domain: _domain, ...half } = account
  assert.equal((await send(world, {}, half))?.kind, 'misconfigured')
  assert.deepEqual(calls, [])
})

test('the check asks for a token where one is wanted, else whether anyone is there', async () => {
  const check = async (tokenAnswer?: { status: number; body: string }, credentials: object = account) => {
    const { world, calls } = receiver(tokenAnswer === undefined ? {} : { tokenAnswer })
    const result = await genericSms.check?.(world, credentials as never)
    return [result?.kind === 'bad' ? result.field : result?.kind, ...calls]
  }
  assert.deepEqual(await check(), ['good', 'token'])
  assert.deepEqual(await check({ status: 401, body: '' }), ['apiKey', 'token'])
  assert.deepEqual(await check({ status: 500, body: '' }), ['domain', 'token'])
  assert.deepEqual(await check(undefined, { ...account, authenticateByToken: false }), ['good', 'none'])
})

test('headers of the account must be headers, and none that every call has anyway', () => {
  const mistakes = (more: object) => Object.keys(formMistakes(genericSms.form, { ...account, ...more }))
  assert.deepEqual(mistakes({}), [])
  assert.deepEqual(mistakes({ apiKeyRequestHeader: 'X API' }), ['credentials.apiKeyRequestHeader'])
  assert.deepEqual(mistakes({ authenticationTokenKey: 'Content-Length' }), ['credentials.authenticationTokenKey'])
  assert.deepEqual(mistakes({ idPath: 'a..b' }), ['credentials.idPath'])
  assert.deepEqual(mistakes({ baseUrl: 'http://169.254.169.254/' }), ['credentials.baseUrl'])
})
