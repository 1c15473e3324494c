// The boxes of the preference page: what is ticked, and what a changed tick leaves in the preferences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Channel } from '../delivery/integration.ts'
import { channels } from '../delivery/integration.ts'
import type { SubscriberPreferences } from './preference.ts'
import { resolveChannel } from './preference.ts'
import type { ChosenWorkflow, Ticks } from './preference-boxes.ts'
import { boxesOf, preferencesAfter, withoutEmailOf } from './preference-boxes.ts'

const now = new Date('2026-05-01T12:00:00.000Z')
const later = new Date('2026-05-02T12:00:00.000Z')
const allOn = { email: true, sms: true, in_app: true, chat: true, push: true }

const workflow = (more: Partial<ChosenWorkflow> = {}): ChosenWorkflow => ({
  id: 'w1',
  name: 'News',
  critical: false,
  preferenceSettings: allOn,
  steps: [
    { active: true, template: { type: 'in_app' } },
    { active: true, template: { type: 'digest' } },
    { active: true, template: { type: 'email' } },
    { active: false, template: { type: 'sms' } },
  ],
  ...more,
})

/** The form as it came, with some boxes the other way. */
function sent(before: SubscriberPreferences, toggled: { workflow?: Channel[]; everywhere?: Channel[] }): Ticks {
  const boxes = boxesOf(before, workflow())
  const toggle = (name: keyof Ticks) =>
    boxes[name].map((box) => ({ ...box, ticked: box.ticked !== (toggled[name] ?? []).includes(box.channel) }))
  return { workflow: toggle('workflow'), everywhere: toggle('everywhere') }
}

const emailOf = (preferences: SubscriberPreferences, workflowId = 'w1'): boolean =>
  resolveChannel({ workflowId, critical: false, settings: allOn, preferences }, 'email').enabled

test('the workflow’s boxes are the channels of its active steps, e-mail first', () => {
  assert.deepEqual(boxesOf(null, workflow()).workflow, [
    { channel: 'email', ticked: true },
    { channel: 'in_app', ticked: true },
  ])
  assert.deepEqual(
    boxesOf(null, workflow())
      .everywhere.map((box) => box.channel)
      .sort(),
    [...channels].sort(),
  )
})

test('a critical workflow and one that is gone have no boxes', () => {
  assert.deepEqual(boxesOf(null, workflow({ critical: true })).workflow, [])
  assert.deepEqual(boxesOf(null, undefined).workflow, [])
})

test('a box shows what holds: the workflow’s default, and the choice for all workflows', () => {
  const off = { ...allOn, email: false }
  assert.equal(boxesOf(null, workflow({ preferenceSettings: off })).workflow[0]?.ticked, false)
  assert.equal(boxesOf({ channels: { email: false } }, workflow()).workflow[0]?.ticked, false)
  assert.equal(
    boxesOf({ enabled: false }, workflow()).everywhere.every((box) => !box.ticked),
    true,
  )
})

test('a form that was not touched changes nothing', () => {
  for (const before of [
    {},
    { channels: { email: false } },
    { workflows: { w1: { channels: { email: true }, updatedAt: '' } } },
  ]) {
    assert.equal(preferencesAfter(before, workflow(), sent(before, {}), now), before)
  }
})

test('an empty box of the workflow is a choice for that workflow alone', () => {
  const after = preferencesAfter({}, workflow(), sent({}, { workflow: ['email'] }), now)
  assert.deepEqual(after, { workflows: { w1: { channels: { email: false }, updatedAt: now.toISOString() } } })
  assert.deepEqual([emailOf(after), emailOf(after, 'w2')], [false, true])
})

test('e-mail that is switched off for everything is off where it was switched on for a workflow, too', () => {
  const on = { channels: { email: true, sms: true }, updatedAt: now.toISOString() }
  const before: SubscriberPreferences = { workflows: { w1: on, w2: on } }
  const after = preferencesAfter(before, workflow(), sent(before, { everywhere: ['email'] }), later)
  assert.deepEqual([emailOf(after), emailOf(after, 'w2'), emailOf(after, 'w3')], [false, false, false])
  assert.equal(after.workflows?.['w2']?.channels?.sms, true)
})

test('what was switched off for one workflow stays off when everything is switched on', () => {
  const off = withoutEmailOf({ channels: { email: false } }, 'w1', now)
  const after = preferencesAfter(off, workflow(), sent(off, { everywhere: ['email'] }), later)
  assert.deepEqual([emailOf(after), emailOf(after, 'w2')], [false, true])
})

test('a box that was not shown says nothing', () => {
  const ticks: Ticks = { workflow: [{ channel: 'sms', ticked: false }], everywhere: [] }
  const before = {}
  assert.equal(preferencesAfter(before, workflow(), ticks, now), before)
})

test('one click leaves the other choices as they were', () => {
  const before: SubscriberPreferences = {
    channels: { sms: false },
    workflows: { w1: { enabled: true, updatedAt: '' } },
  }
  const after = withoutEmailOf(before, 'w1', now)
  assert.deepEqual(after.channels, { sms: false })
  assert.deepEqual(after.workflows, { w1: { enabled: true, channels: { email: false }, updatedAt: now.toISOString() } })
})
