// The checkboxes of the preference page: which are ticked, and what a changed tick means for the preferences.
import type { Channel } from '../delivery/integration.ts'
import { channels } from '../delivery/integration.ts'
import type { NotificationStep, PreferenceSettings } from '../workflows/workflow.ts'
import type { SubscriberPreferences } from './preference.ts'
import { changedForWorkflow, changedGlobally, resolveChannel } from './preference.ts'

/** The workflow that a link speaks of, as much as the page needs. */
export interface ChosenWorkflow {
  readonly id: string
  readonly name: string
  readonly critical: boolean
  readonly preferenceSettings: PreferenceSettings
  readonly steps: readonly Pick<NotificationStep, 'active' | 'template'>[]
}

export interface Box {
  readonly channel: Channel
  readonly ticked: boolean
}

export interface Boxes {
  /** The channels of the workflow; none if it is critical, or gone. */
  readonly workflow: readonly Box[]
  /** For all workflows together. */
  readonly everywhere: readonly Box[]
}

/** E-mail first: that is where the link was. */
const shownOrder: readonly Channel[] = ['email', ...channels.filter((channel) => channel !== 'email')]

export function boxesOf(preferences: SubscriberPreferences | null, workflow: ChosenWorkflow | undefined): Boxes {
  return {
    workflow: workflow === undefined || workflow.critical ? [] : boxesOfWorkflow(preferences, workflow),
    everywhere: shownOrder.map((channel) => ({
      channel,
      ticked: preferences?.channels?.[channel] ?? preferences?.enabled ?? true,
    })),
  }
}

function boxesOfWorkflow(preferences: SubscriberPreferences | null, workflow: ChosenWorkflow): Box[] {
  const { id: workflowId, critical, preferenceSettings: settings, steps } = workflow
  const used = new Set<string>(steps.filter((step) => step.active).map((step) => step.template.type))
  return shownOrder
    .filter((channel) => used.has(channel))
    .map((channel) => ({
      channel,
      ticked: resolveChannel({ workflowId, critical, settings, preferences }, channel).enabled,
    }))
}

/** What was submitted: boxes that were not shown mean nothing. */
export interface Ticks {
  readonly workflow: readonly Box[]
  readonly everywhere: readonly Box[]
}

/** Only differences are choices: an unchanged box keeps following the other settings. */
export function preferencesAfter(
  before: SubscriberPreferences,
  workflow: ChosenWorkflow | undefined,
  ticks: Ticks,
  now: Date,
): SubscriberPreferences {
  const boxes = boxesOf(before, workflow)
  const everywhere = switchesOf(changed(boxes.everywhere, ticks.everywhere))
  const here = switchesOf(changed(boxes.workflow, ticks.workflow))
  const stopped = shownOrder.filter((channel) => everywhere[channel] === false)
  let after = before
  if (Object.keys(everywhere).length > 0) after = changedGlobally(after, { channels: everywhere })
  // Off for everything means everything: what was switched on for single workflows would otherwise continue.
  for (const [workflowId, choice] of Object.entries(after.workflows ?? {})) {
    const cleared = stopped.filter((channel) => choice.channels?.[channel] === true)
    const nothing = Object.fromEntries(cleared.map((channel) => [channel, null]))
    if (cleared.length > 0) after = changedForWorkflow(after, workflowId, { channels: nothing }, now)
  }
  if (workflow === undefined || Object.keys(here).length === 0) return after
  return changedForWorkflow(after, workflow.id, { channels: here }, now)
}

/** E-mail of one workflow is off, whatever else was chosen. */
export function withoutEmailOf(before: SubscriberPreferences, workflowId: string, now: Date): SubscriberPreferences {
  return changedForWorkflow(before, workflowId, { channels: { email: false } }, now)
}

function changed(shown: readonly Box[], ticked: readonly Box[]): Box[] {
  return ticked.filter((tick) => shown.some((box) => box.channel === tick.channel && box.ticked !== tick.ticked))
}

function switchesOf(boxes: readonly Box[]): { [Name in Channel]?: boolean } {
  return Object.fromEntries(boxes.map(({ channel, ticked }) => [channel, ticked]))
}
