// Preferences: how the four sources are merged, how a choice is changed, and when collected events are sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PreferenceSources, ResolvedChannel, SubscriberPreferences } from './preference.ts'
import { changedForWorkflow, changedGlobally, gatheredUntil, isWorkflowEnabled, resolveChannel } from './preference.ts'

const all = { in_app: true, email: true, sms: true, chat: true, push: true }
const updatedAt = '2026-01-02T00:00:00.000Z'
const off = { ...all, email: false }
const sources = (more: Partial<PreferenceSources>): PreferenceSources => ({
  workflowId: 'w',
  critical: false,
  settings: all,
  preferences: null,
  ...more,
})
const here = (choice: object, everywhere: SubscriberPreferences = {}): SubscriberPreferences => ({
  ...everywhere,
  workflows: { w: { ...choice, updatedAt } },
})

const merges: Record<string, [Partial<PreferenceSources>, ResolvedChannel]> = {
  'no source decides': [{}, { enabled: true, source: 'workflow' }],
  'the workflow is off': [{ settings: off }, { enabled: false, source: 'workflow' }],
  'the tenant switches on': [
    { settings: off, tenantSettings: { email: true } },
    { enabled: true, source: 'tenant' },
  ],
  'the tenant switches off': [{ tenantSettings: { email: false } }, { enabled: false, source: 'tenant' }],
  'the tenant speaks of another channel': [{ tenantSettings: { sms: false } }, { enabled: true, source: 'workflow' }],
  'the subscriber switches the channel off everywhere': [
    { preferences: { channels: { email: false } } },
    { enabled: false, source: 'global' },
  ],
  'the subscriber switches on what the tenant switched off': [
    { tenantSettings: { email: false }, preferences: { channels: { email: true } } },
    { enabled: true, source: 'global' },
  ],
  'the workflow’s choice wins over the one for all': [
    { preferences: here({ channels: { email: true } }, { channels: { email: false } }) },
    { enabled: true, source: 'subscriber' },
  ],
  'a choice for another workflow says nothing here': [
    { preferences: { workflows: { other: { channels: { email: false }, updatedAt } } } },
    { enabled: true, source: 'workflow' },
  ],
  'everything is off': [{ preferences: { enabled: false } }, { enabled: false, source: 'global' }],
  'everything is off but this channel': [
    { preferences: { enabled: false, channels: { email: true } } },
    { enabled: true, source: 'global' },
  ],
  'the workflow is off for the subscriber': [
    { preferences: here({ enabled: false }) },
    { enabled: false, source: 'subscriber' },
  ],
  'everything is off but this workflow': [
    { preferences: here({ enabled: true }, { enabled: false }) },
    { enabled: true, source: 'workflow' },
  ],
  'the workflow is on for the subscriber, and off by its author': [
    { settings: off, preferences: here({ enabled: true }) },
    { enabled: false, source: 'workflow' },
  ],
  'critical: the subscriber is not asked': [
    { critical: true, preferences: here({ enabled: false }, { channels: { email: false } }) },
    { enabled: true, source: 'workflow' },
  ],
  'critical: the tenant is': [
    { critical: true, tenantSettings: { email: false }, preferences: { channels: { email: true } } },
    { enabled: false, source: 'tenant' },
  ],
}
for (const [name, [given, expected]] of Object.entries(merges)) {
  test(`merging: ${name}`, () => assert.deepEqual(resolveChannel(sources(given), 'email'), expected))
}

test('a workflow is enabled unless the subscriber says otherwise, here or everywhere', () => {
  assert.equal(isWorkflowEnabled(sources({})), true)
  assert.equal(isWorkflowEnabled(sources({ preferences: { enabled: false } })), false)
  assert.equal(isWorkflowEnabled(sources({ preferences: here({ enabled: true }, { enabled: false }) })), true)
  assert.equal(isWorkflowEnabled(sources({ critical: true, preferences: here({ enabled: false }) })), true)
})

test('a change leaves what it does not name, and null clears', () => {
  const before = here(
    { channels: { email: false, sms: true }, frequency: { type: 'daily' } },
    { enabled: false, channels: { push: false }, schedule: { isEnabled: true, outside: 'hold' } },
  )
  const now = new Date('2026-03-01T00:00:00Z')
  const changed = changedForWorkflow(before, 'w', { channels: { email: null, chat: false } }, now)
  assert.deepEqual(changed.workflows?.['w'], {
    channels: { sms: true, chat: false },
    frequency: { type: 'daily' },
    updatedAt: now.toISOString(),
  })
  assert.deepEqual(changed.channels, { push: false })
  const cleared = changedForWorkflow(changed, 'w', { channels: null, frequency: null }, now)
  assert.deepEqual(cleared.workflows, {}, 'a choice that says nothing is forgotten')
  const globally = changedGlobally(before, { enabled: null, schedule: { isEnabled: false } })
  assert.deepEqual(globally, {
    channels: { push: false },
    schedule: { isEnabled: false, outside: 'hold' },
    workflows: before.workflows,
  })
  assert.equal('schedule' in changedGlobally(before, { schedule: null }), false)
})

test('collected events are sent after an hour, at a time of day, or on a day of the week, by the subscriber’s clocks', () => {
  // The Saturday before Berlin's clocks go forward.
  const now = new Date('2026-03-28T08:30:00Z')
  const dueAt = (frequency: Parameters<typeof gatheredUntil>[0], zone: string | null) =>
    gatheredUntil(frequency, zone, now)?.toISOString()
  assert.equal(dueAt(undefined, null), undefined)
  assert.equal(dueAt({ type: 'instant' }, null), undefined)
  assert.equal(dueAt({ type: 'hourly' }, null), '2026-03-28T09:30:00.000Z')
  assert.equal(dueAt({ type: 'daily' }, null), '2026-03-28T09:00:00.000Z')
  assert.equal(dueAt({ type: 'daily' }, 'Europe/Berlin'), '2026-03-29T07:00:00.000Z')
  assert.equal(dueAt({ type: 'daily', atTime: '18:45' }, 'Europe/Berlin'), '2026-03-28T17:45:00.000Z')
  assert.equal(dueAt({ type: 'weekly' }, 'Europe/Berlin'), '2026-03-30T07:00:00.000Z')
  assert.equal(
    dueAt({ type: 'weekly', weekDay: 'saturday', atTime: '09:00' }, 'Europe/Berlin'),
    '2026-04-04T07:00:00.000Z',
  )
})
