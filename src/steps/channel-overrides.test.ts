// What a trigger wants of single providers: every form, which wins, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepInput } from '../../test/support/render-scene.ts'
import type { ForProvider } from '../domain/messages/message.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { withProviderOverrides } from './channel-overrides.ts'

const integrations = ['sendgrid', 'ses'].map(
  (providerId) => ({ _id: providerId, identifier: providerId, providerId, channel: 'email', credentials: {} }) as const,
)

function overridesOf(
  overrides: Record<string, unknown>,
  name?: string,
): Readonly<Record<string, ForProvider>> | undefined {
  const input = stepInput({ type: 'email' }, { overrides, integrations })
  const step = name === undefined ? input.step : { ...input.step, name }
  const envelope: { from: string; forProviders?: Readonly<Record<string, ForProvider>> } = { from: 'a' }
  const remaking = {
    channel: 'email' as const,
    members: new Set(['from']),
    remade: (bucket: { value(name: string): unknown }) => ({ from: bucket.value('from') ?? 'a' }),
  }
  return withProviderOverrides({ ...input, step }, envelope, remaking).forProviders
}

test('nothing is added where nothing is said, or only of providers that no one has', () => {
  for (const overrides of [
    {},
    { email: { from: 'b' } },
    { postmark: { a: 1 } },
    { providers: { postmark: { a: 1 } } },
  ]) {
    assert.equal(overridesOf(overrides), undefined, JSON.stringify(overrides))
  }
})

test('a provider’s own bucket changes the message and adds the rest', () => {
  assert.deepEqual(
    overridesOf({ email: { from: 'b' }, sendgrid: { from: 'c', templateId: 't', customData: { x: 1 } } }),
    {
      sendgrid: { message: { from: 'c' }, customData: { x: 1, templateId: 't' } },
    },
  )
  assert.equal(overridesOf({ sendgrid: { from: null, integrationIdentifier: 'x', deviceTokens: [] } }), undefined)
})

test('providers adds for every step, and what is said for this step wins: objects merge, lists replace', () => {
  const general = { sendgrid: { a: { x: 1, y: 1 }, list: [1, 2] }, ses: { b: 1 } }
  for (const stepId of ['step-1', 'uuid-1', 'tell-them']) {
    const own = { [stepId]: { providers: { sendgrid: { a: { y: 2 }, list: [3] } } } }
    assert.deepEqual(
      overridesOf({ sendgrid: { a: { x: 0 }, c: 1 }, providers: general, steps: own }, 'Tell them'),
      { sendgrid: { customData: { a: { x: 1, y: 2 }, c: 1, list: [3] } }, ses: { customData: { b: 1 } } },
      stepId,
    )
  }
  assert.deepEqual(overridesOf({ providers: general, steps: { other: { providers: { ses: { b: 2 } } } } })?.['ses'], {
    customData: { b: 1 },
  })
})

test('what goes past the provider’s own reading stays apart', () => {
  const general = { _passthrough: { body: { a: { x: 1 } }, headers: { 'X-A': '1' } } }
  const own = { _passthrough: { body: { a: { y: 2 } }, query: { q: 'v' } }, plain: 1 }
  assert.deepEqual(overridesOf({ providers: { ses: general }, steps: { 'step-1': { providers: { ses: own } } } }), {
    ses: {
      customData: { plain: 1 },
      passthrough: { body: { a: { x: 1, y: 2 } }, headers: { 'X-A': '1' }, query: { q: 'v' } },
    },
  })
})

test('a member called __proto__ is data like any other', () => {
  const evil = JSON.parse('{"providers":{"ses":{"__proto__":{"polluted":true}}}}')
  const data = overridesOf(evil)?.['ses']?.customData ?? {}
  assert.deepEqual(Object.keys(data), ['__proto__'])
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('an ill-formed override is named', () => {
  const wrong: Record<string, Record<string, unknown>> = {
    'overrides.sendgrid': { sendgrid: 'x' },
    'overrides.providers': { providers: [] },
    'overrides.providers.ses': { providers: { ses: 5 } },
    'overrides.providers.ses._passthrough': { providers: { ses: { _passthrough: 'x' } } },
    'overrides.providers.ses._passthrough.body': { providers: { ses: { _passthrough: { body: [] } } } },
    'overrides.providers.ses._passthrough.headers.X A': {
      providers: { ses: { _passthrough: { headers: { 'X A': '1' } } } },
    },
    'overrides.providers.ses._passthrough.headers.X-A': {
      providers: { ses: { _passthrough: { headers: { 'X-A': '1\r\nHost: x' } } } },
    },
    'overrides.providers.ses._passthrough.query.q': { providers: { ses: { _passthrough: { query: { q: 5 } } } } },
    'overrides.steps': { steps: 'x' },
    'overrides.steps.step-1.providers': { steps: { 'step-1': { providers: 'x' } } },
  }
  for (const [field, overrides] of Object.entries(wrong)) {
    assert.throws(
      () => overridesOf(overrides),
      (error) => error instanceof RenderError && error.field === field,
      field,
    )
  }
})
