// Which integration a message goes to, and where next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldFilterPart, StepFilter } from '../domain/conditions/condition.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { IntegrationRequest } from './choose-integration.ts'
import { chooseIntegration } from './choose-integration.ts'

const condition = (value: string): StepFilter => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [{ field: 'plan', value, operator: 'EQUAL', on: 'payload' }],
})

function integration(id: string, change: Partial<Integration> = {}): Integration {
  return {
    _id: id,
    _environmentId: 'e',
    _organizationId: 'o',
    name: id,
    identifier: `${id}-identifier`,
    providerId: 'sendgrid',
    channel: 'email',
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    conditions: [],
    createdAt: '',
    updatedAt: '',
    ...change,
  }
}

const capture = (id: string, change: Partial<Integration> = {}): Integration =>
  integration(id, { providerId: 'platform-email', ...change })

function choose(integrations: readonly Integration[], request: Partial<IntegrationRequest> = {}): string | undefined {
  const chosen = chooseIntegration(integrations, {
    channel: 'email',
    tried: [],
    passes: (conditions) =>
      conditions.some(({ children }) => (children[0] as FieldFilterPart | undefined)?.value === 'gold'),
    captures: ({ providerId }) => providerId === 'platform-email',
    ...request,
  })
  return chosen?._id
}

test('the primary comes before older ones', () => {
  assert.equal(choose([integration('old'), integration('main', { primary: true })]), 'main')
})

test('without a primary the oldest is chosen', () => {
  assert.equal(choose([integration('old'), integration('new')]), 'old')
})

test('conditions that pass come before the primary, the oldest first; those that do not are out', () => {
  const main = integration('main', { primary: true })
  const silver = integration('silver', { conditions: [condition('silver')] })
  const gold = integration('gold', { conditions: [condition('gold')] })
  const newer = integration('newer', { conditions: [condition('gold')] })
  assert.equal(choose([main, silver, gold, newer]), 'gold')
  assert.equal(choose([main, silver, gold, newer], { tried: ['gold'] }), 'newer')
  assert.equal(choose([main, silver]), 'main')
  assert.equal(choose([silver]), undefined)
  assert.equal(choose([main, silver], { tried: ['main'] }), undefined)
})

test('another channel’s, an inactive and a deleted one are never chosen', () => {
  const others = [
    integration('sms', { channel: 'sms', primary: true }),
    integration('off', { active: false, primary: true }),
    integration('gone', { deleted: true, primary: true }),
  ]
  assert.equal(choose(others), undefined)
  assert.equal(choose([...others, integration('on')]), 'on')
})

test('each has one turn: the primary, then the others from the oldest on, then no one', () => {
  const all = [integration('a'), integration('b', { primary: true }), integration('c')]
  assert.equal(choose(all), 'b')
  assert.equal(choose(all, { tried: ['b'] }), 'a')
  assert.equal(choose(all, { tried: ['b', 'a'] }), 'c')
  assert.equal(choose(all, { tried: ['b', 'a', 'c'] }), undefined)
})

test('a requested integration takes precedence, and nothing replaces it', () => {
  const all = [
    integration('main', { primary: true }),
    integration('gold', { conditions: [condition('gold')] }),
    integration('requested', { conditions: [condition('silver')] }),
    integration('off', { active: false }),
  ]
  assert.equal(choose(all, { identifier: 'requested-identifier' }), 'requested')
  assert.equal(choose(all, { identifier: 'off-identifier' }), undefined)
  assert.equal(choose(all, { identifier: 'unknown' }), undefined)
  assert.equal(choose(all, { identifier: 'requested-identifier', tried: ['requested'] }), undefined)
})

test('capture is chosen as primary, or when there is nothing else', () => {
  assert.equal(choose([integration('real'), capture('capture', { primary: true })]), 'capture')
  assert.equal(choose([capture('capture'), integration('real')]), 'real')
  assert.equal(choose([capture('capture')]), 'capture')
  assert.equal(choose([capture('capture'), integration('off', { active: false })]), 'capture')
})

test('capture never takes over from one that was tried, not even as primary', () => {
  const capturing = capture('capture', { primary: true })
  assert.equal(choose([capturing, integration('real')], { tried: ['real'] }), undefined)
  assert.equal(choose([capturing], { tried: ['real'], identifier: 'capture-identifier' }), undefined)
  assert.equal(choose([capturing, integration('next')], { tried: ['real'] }), 'next')
  const gold = capture('gold', { conditions: [condition('gold')] })
  assert.equal(choose([gold, integration('next')], { tried: ['real'] }), 'next')
  assert.equal(choose([gold, integration('next')]), 'gold')
})
