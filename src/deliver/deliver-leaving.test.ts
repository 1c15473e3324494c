// A delivery that asks before its message leaves: when, how often, and what a no comes to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FakeWorld } from '../../test/support/fake-world.ts'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import { email } from '../../test/support/outbound-scene.ts'
import { smsMessage } from '../../test/support/provider-scene.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import { platformEmail } from '../providers/email/platform-email.ts'
import { resend } from '../providers/email/resend.ts'
import type { Provider } from '../providers/provider.ts'
import { genericSms } from '../providers/sms/generic-sms.ts'
import { ringCentral } from '../providers/sms/ring-central.ts'
import { deliver, deliverTogether, providerCallMs } from './deliver.ts'

function integrationOf(provider: Provider, credentials: object): Integration {
  return {
    _id: 'i',
    _environmentId: 'e',
    _organizationId: 'o',
    name: 'i',
    identifier: 'vendor-1',
    providerId: provider.id,
    channel: provider.channel,
    credentials,
    active: true,
    deleted: false,
    primary: true,
    conditions: [],
    createdAt: '',
    updatedAt: '',
  }
}

/** Answers by path, and remembers the paths in `order`. */
function network(order: string[], answers: Record<string, (request: Request) => { status: number; body: object }>) {
  const world = createFakeWorld()
  world.onFetch = async (request) => {
    const { pathname } = new URL(request.url)
    order.push(pathname)
    const { status, body } = answers[pathname]?.(request) ?? { status: 404, body: {} }
    return { status, headers: new Headers(), body: JSON.stringify(body) }
  }
  return world
}

const taken = () => ({ status: 200, body: { id: 'm-1' } })
const noting = (order: string[], isAllowed: boolean) => (): boolean => {
  order.push(isAllowed ? 'yes' : 'no')
  return isAllowed
}

const account = { apiKey: 'top-secret', from: 'hello@example.com' }
const byResend = { provider: resend, integration: integrationOf(resend, account) }

test('a message that may leave is sent; one that may not is withheld, and no request is made', async () => {
  const order: string[] = []
  const world = network(order, { '/emails': taken })
  const call = { ...byResend, message: email() }
  assert.equal((await deliver(world, { ...call, mayLeave: noting(order, true) })).kind, 'sent')
  const refusals: Outcome[] = []
  for (const mayLeave of [noting(order, false), () => Promise.reject(new Error('top-secret'))]) {
    refusals.push(await deliver(world, { ...call, mayLeave }))
  }
  assert.deepEqual(order, ['yes', '/emails', 'no'])
  assert.deepEqual(
    refusals,
    refusals.map(() => ({ kind: 'withheld', detail: 'The request to api.resend.com was cancelled' })),
  )
})

test('messages that share a call are withheld together, asked for once', async () => {
  const order: string[] = []
  const world = network(order, {})
  const messages = [email(), email({ id: '0197f3a0-0000-7000-8000-000000000002' })]
  const outcomes = await deliverTogether(world, { ...byResend, messages, mayLeave: noting(order, false) })
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['withheld', 'withheld'],
  )
  assert.deepEqual(order, ['no'])
})

test('a message that reaches no vendor does not ask', async () => {
  const order: string[] = []
  const world = network(order, {})
  const mayLeave = noting(order, true)
  const incomplete = { provider: resend, integration: integrationOf(resend, {}), message: email(), mayLeave }
  assert.equal((await deliver(world, incomplete)).kind, 'misconfigured')
  const nowhere = { ...byResend, message: email({ to: [] }), mayLeave }
  assert.equal((await deliver(world, nowhere)).kind, 'refused')
  const captured = {
    provider: platformEmail,
    integration: integrationOf(platformEmail, {}),
    message: email(),
    mayLeave,
  }
  assert.equal((await deliver(world, captured)).kind, 'sent')
  assert.deepEqual(order, [])
})

const tokenAccount = {
  baseUrl: 'https://sms.customer.test/send',
  apiKeyRequestHeader: 'X-API-KEY',
  apiKey: 'top-secret-0001',
  from: 'Acme',
  authenticateByToken: true,
  domain: 'https://sms.customer.test/token',
  authenticationTokenKey: 'X-Auth-Token',
}

test('a token is asked for without asking, and shared: the no of one message is not that of another', async () => {
  const order: string[] = []
  const world = network(order, {
    '/token': () => ({ status: 200, body: { data: { 'X-Auth-Token': 'granted' } } }),
    '/send': taken,
  })
  const call = { provider: genericSms, integration: integrationOf(genericSms, tokenAccount), message: smsMessage }
  const outcomes = await Promise.all(
    [false, true].map((isAllowed) => deliver(world, { ...call, mayLeave: noting(order, isAllowed) })),
  )
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['withheld', 'sent'],
  )
  assert.deepEqual(order, ['/token', 'no', 'yes', '/send'])
  await deliver(world, { ...call, mayLeave: noting(order, true) })
  assert.deepEqual(order.slice(4), ['yes', '/send'], 'the next call, in a world of its own, finds the token')
})

test('a request that is repeated with another token asks again', async () => {
  const order: string[] = []
  let granted = 0
  const path = '/restapi/v1.0/account/~/extension/~/sms'
  const world: FakeWorld = network(order, {
    '/restapi/oauth/token': () => {
      granted += 1
      return { status: 200, body: { access_token: `token-${granted}`, expires_in: 3600 } }
    },
    [path]: ({ headers }) => (headers.get('authorization') === 'Bearer token-1' ? { status: 401, body: {} } : taken()),
  })
  const credentials = { clientId: 'client', secretKey: 'secret', token: 'jwt', from: '+14155550100' }
  const call = { provider: ringCentral, integration: integrationOf(ringCentral, credentials), message: smsMessage }
  assert.equal((await deliver(world, { ...call, mayLeave: noting(order, true) })).kind, 'sent')
  assert.deepEqual(order, ['/restapi/oauth/token', 'yes', path, '/restapi/oauth/token', 'yes', path])
})

test('what has taken 20 seconds does not leave any more, whatever the answer is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const order: string[] = []
  const world = network(order, { '/emails': taken })
  let goOn: () => void = () => {}
  const slow: Provider = {
    ...resend,
    send: async (asking, message, credentials) => {
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      const outcome = await resend.send?.(asking, message, credentials)
      order.push(outcome?.kind ?? '')
      return outcome as Outcome
    },
  }
  const delivery = deliver(world, { ...byResend, provider: slow, message: email(), mayLeave: noting(order, true) })
  t.mock.timers.tick(providerCallMs)
  assert.equal((await delivery).kind, 'unsure')
  goOn()
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
  assert.deepEqual(order, ['withheld'])
})

test('a yes that was given before the 20 seconds were over and comes after them counts for nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const order: string[] = []
  const world = network(order, { '/emails': taken })
  let allow: (isAllowed: boolean) => void = () => {}
  const mayLeave = () =>
    new Promise<boolean>((resolve) => {
      order.push('asked')
      allow = resolve
    })
  const delivery = deliver(world, { ...byResend, message: email(), mayLeave })
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
  assert.deepEqual(order, ['asked'])
  t.mock.timers.tick(providerCallMs)
  await delivery
  allow(true)
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
  assert.deepEqual(order, ['asked'])
})
