// One delivery: whatever the provider does, it comes to an Outcome in time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import { email } from '../../test/support/outbound-scene.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import { refused, sent } from '../domain/delivery/outcome.ts'
import { ofEmailAddress, secret, text } from '../providers/form.ts'
import type { Provider } from '../providers/provider.ts'
import { provider } from '../providers/provider.ts'
import { deliver, providerCallMs } from './deliver.ts'

const form = { apiKey: secret('Key'), from: text('From', { mistake: ofEmailAddress }) }

function providerThat(send: Provider['send']): Provider {
  const definition = {
    id: 'vendor',
    channel: 'email',
    name: 'Vendor',
    docsUrl: '/docs',
    evidence: { source: 'ours' },
    form,
  } as const
  return provider(send === undefined ? definition : { ...definition, send })
}

function integration(credentials: object): Integration {
  return {
    _id: 'i',
    _environmentId: 'e',
    _organizationId: 'o',
    name: 'i',
    identifier: 'vendor-1',
    providerId: 'vendor',
    channel: 'email',
    credentials,
    active: true,
    deleted: false,
    primary: true,
    conditions: [],
    createdAt: '',
    updatedAt: '',
  }
}

const complete = { apiKey: 'top-secret', from: 'hello@example.com' }

function deliverBy(send: Provider['send'], credentials: object = complete): Promise<Outcome> {
  const call = { provider: providerThat(send), integration: integration(credentials), message: email() }
  return deliver(createFakeWorld(), call)
}

test('the provider is called once, with the message and the account, and its outcome is reported', async () => {
  const calls: unknown[] = []
  const outcome = await deliverBy(async (_world, message, credentials) => {
    calls.push([message.id, credentials])
    return sent('m1')
  })
  assert.deepEqual(outcome, sent('m1'))
  assert.deepEqual(calls, [[email().id, complete]])
})

test('an account with mistakes is misconfigured, each named, and no one is called', async () => {
  let calls = 0
  const broken = providerThat(async () => {
    calls += 1
    return sent('m1')
  })
  const account = integration({ from: 'hunter2' })
  for (let one = 0; one < 2; one += 1) {
    const outcome = await deliver(createFakeWorld(), { provider: broken, integration: account, message: email() })
    assert.equal(outcome.kind, 'misconfigured')
    assert.match(JSON.stringify(outcome), /vendor-1.*credentials\.apiKey.*credentials\.from/)
    assert.doesNotMatch(JSON.stringify(outcome), /hunter2/)
  }
  assert.equal(calls, 0)
})

test('a provider that cannot send yet is misconfigured', async () => {
  const outcome = await deliverBy(undefined)
  assert.deepEqual(outcome, { kind: 'misconfigured', detail: 'Vendor (vendor) cannot send messages yet' })
})

test('a provider that throws leaves us unsure, without its secrets', async () => {
  const outcome = await deliverBy(() => Promise.reject(new Error('lost top-secret')))
  assert.deepEqual(outcome, { kind: 'unsure', detail: 'Vendor failed unexpectedly while sending: lost [redacted]' })
  const bare: Provider = { ...providerThat(undefined), send: () => Promise.reject(new Error('lost top-secret')) }
  const world = createFakeWorld()
  const worse = await deliver(world, { provider: bare, integration: integration(complete), message: email() })
  assert.equal(worse.kind, 'unsure')
  assert.doesNotMatch(JSON.stringify([worse, world.logged]), /top-secret/)
})

test('a provider that never answers leaves us unsure after 20 seconds, and not before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let outcome: Outcome | undefined
  const delivery = deliverBy(() => new Promise(() => {})).then((result) => {
    outcome = result
  })
  t.mock.timers.tick(providerCallMs - 1)
  await Promise.resolve()
  assert.equal(outcome, undefined)
  t.mock.timers.tick(1)
  await delivery
  assert.deepEqual(outcome, { kind: 'unsure', detail: 'Vendor did not respond within 20000 ms', down: true })
})

test('words are bounded to what a detail holds', async () => {
  const outcome = await deliverBy(async () => refused('other', 'ü'.repeat(20_000)))
  assert.equal(outcome.kind, 'refused')
  assert.equal(Buffer.byteLength(outcome.kind === 'refused' ? outcome.detail : ''), 16 * 1024)
})
