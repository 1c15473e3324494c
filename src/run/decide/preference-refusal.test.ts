// Whether a step is refused by preferences: who said so, and what each source said, stand in the detail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'
import type { WorkflowOverride } from '../../domain/workflows/workflow-override.ts'
import type { JobFacts } from './job-facts.ts'
import { preferenceRefusal } from './preference-refusal.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const all = { in_app: true, email: true, sms: true, chat: true, push: true }

interface Given {
  readonly type?: StepType
  readonly critical?: boolean
  readonly settings?: Partial<typeof all>
  readonly override?: Partial<WorkflowOverride>
  readonly preferences?: SubscriberPreferences
}

/** The code and the data of the detail; undefined if the step runs. */
function refused({ type = 'email', critical = false, settings = {}, override, preferences }: Given) {
  const facts = {
    step: { template: { type } },
    version: { workflowId: 'w', definition: { critical, preferenceSettings: { ...all, ...settings } } },
    subscriber: { preferences: preferences ?? null },
    tenantOverride: override && { active: null, preferenceSettings: null, ...override },
  } as unknown as JobFacts
  const decision = preferenceRefusal(facts, now)
  if (decision === undefined) return undefined
  assert.equal(decision.kind, 'skip')
  assert.equal(decision.details.length, 1)
  return [decision.details[0]?.code, JSON.parse(decision.details[0]?.raw ?? '{}')]
}

test('a step runs where no one switches its channel off', () => {
  assert.equal(refused({}), undefined)
  assert.equal(refused({ override: {}, preferences: { channels: { sms: false } } }), undefined)
})

test('the detail names whoever decided, and what all of them said', () => {
  assert.deepEqual(refused({ settings: { email: false } }), [
    'workflowPreference',
    { channel: 'email', workflow: false },
  ])
  assert.deepEqual(refused({ override: { preferenceSettings: { email: false } } }), [
    'tenantPreference',
    { channel: 'email', workflow: true, tenant: false },
  ])
  assert.deepEqual(refused({ preferences: { enabled: false } }), [
    'globalPreference',
    { channel: 'email', workflow: true, global: { enabled: false } },
  ])
  const workflows = { w: { channels: { email: false }, updatedAt: now.toISOString() } }
  assert.deepEqual(refused({ preferences: { channels: { email: true }, workflows } }), [
    'subscriberPreference',
    {
      channel: 'email',
      workflow: true,
      global: { channels: { email: true } },
      subscriber: { channels: { email: false } },
    },
  ])
})

test('a tenant that switches the workflow off ends every step of it, critical or not', () => {
  for (const type of ['email', 'in_app', 'digest', 'delay', 'throttle', 'custom'] as const) {
    assert.deepEqual(refused({ type, critical: true, override: { active: false } }), ['workflowOff', { active: false }])
  }
})

test('a critical workflow asks the tenant and not the subscriber', () => {
  assert.equal(refused({ critical: true, preferences: { enabled: false, channels: { email: false } } }), undefined)
  assert.equal(refused({ critical: true, override: { preferenceSettings: { email: false } } })?.[0], 'tenantPreference')
})

test('only channels are asked about', () => {
  for (const type of ['digest', 'delay', 'throttle', 'custom'] as const) {
    assert.equal(refused({ type, preferences: { enabled: false } }), undefined, type)
  }
})
