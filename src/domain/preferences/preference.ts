// What a subscriber wants to hear of, on which channels and how often; and how that is merged with the workflow's own.
import type { Channel } from '../delivery/integration.ts'
import { channels as channelNames } from '../delivery/integration.ts'
import { digestDueAt } from '../time/digest-window.ts'
import { durationMs } from '../time/duration.ts'
import { in24Hours } from '../time/time-of-day.ts'
import type { PreferenceSettings, WeekDay } from '../workflows/workflow.ts'
import type { OutsideWay, Schedule, WeeklySchedule } from './schedule.ts'
import { storedWeek } from './schedule.ts'

export type ChannelSwitches = Partial<PreferenceSettings>

/** What one source says. A channel that is not set itself follows `enabled`, if that is false. */
export interface Switches {
  readonly enabled?: boolean
  readonly channels?: ChannelSwitches
}

export const frequencyTypes = ['instant', 'hourly', 'daily', 'weekly'] as const

/**
 * How often a subscriber wants to be notified of a workflow: events in between are collected. In the subscriber's zone.
 */
export interface Frequency {
  /** `hourly`: an hour after the first. */
  readonly type: (typeof frequencyTypes)[number]
  /** Daily and weekly: `HH:mm`; nine in the morning unless said otherwise. */
  readonly atTime?: string
  /** Weekly: Monday unless said otherwise. */
  readonly weekDay?: WeekDay
}

export interface WorkflowChoice extends Switches {
  readonly frequency?: Frequency
  readonly updatedAt: string
}

/** The document of one subscriber. */
export interface SubscriberPreferences extends Switches {
  readonly schedule?: Schedule
  /** An ISO timestamp; in effect until then. */
  readonly doNotDisturbUntil?: string
  /** By the workflow's internal id. */
  readonly workflows?: Readonly<Record<string, WorkflowChoice>>
}

/** No one sets more manually; the document is read with every step. */
export const workflowChoicesMax = 1_000

/** Who decided whether a channel is on. */
export type PreferenceSource = 'workflow' | 'tenant' | 'global' | 'subscriber'

export interface PreferenceSources {
  readonly workflowId: string
  /** Critical: the subscriber's preferences do not count. */
  readonly critical: boolean
  readonly settings: ChannelSwitches
  readonly tenantSettings?: ChannelSwitches | null | undefined
  readonly preferences: SubscriberPreferences | null
}

export interface ResolvedChannel {
  readonly enabled: boolean
  readonly source: PreferenceSource
}

/**
 * The workflow's default, the tenant's override, the subscriber's global choice and the one for the workflow: the later
 * takes precedence, field by field. `enabled: false` switches off what the subscriber has not set.
 */
export function resolveChannel(sources: PreferenceSources, channel: Channel): ResolvedChannel {
  const tenant = sources.tenantSettings?.[channel]
  const base: ResolvedChannel =
    tenant === undefined
      ? { enabled: sources.settings[channel] ?? true, source: 'workflow' }
      : { enabled: tenant, source: 'tenant' }
  if (sources.critical || sources.preferences === null) return base
  const everywhere: Switches = sources.preferences
  const here: Switches = choiceFor(sources.preferences, sources.workflowId) ?? {}
  const switched = here.channels?.[channel] ?? everywhere.channels?.[channel]
  if (switched !== undefined) {
    return { enabled: switched, source: here.channels?.[channel] === undefined ? 'global' : 'subscriber' }
  }
  if ((here.enabled ?? everywhere.enabled) !== false) return base
  return { enabled: false, source: here.enabled === undefined ? 'global' : 'subscriber' }
}

/** Whether the workflow as a whole is on, as the subscriber sees it. */
export function isWorkflowEnabled({ critical, preferences, workflowId }: PreferenceSources): boolean {
  if (critical || preferences === null) return true
  return choiceFor(preferences, workflowId)?.enabled ?? preferences.enabled ?? true
}

export function choiceFor(preferences: SubscriberPreferences | null, workflowId: string): WorkflowChoice | undefined {
  const workflows = preferences?.workflows
  return workflows !== undefined && Object.hasOwn(workflows, workflowId) ? workflows[workflowId] : undefined
}

const defaultTime = '09:00'
const defaultDay: WeekDay = 'monday'

/** When what is collected now is sent; undefined if it is sent at once. */
export function gatheredUntil(frequency: Frequency | undefined, zone: string | null, now: Date): Date | undefined {
  const { type = 'instant', atTime = defaultTime, weekDay = defaultDay } = frequency ?? {}
  if (type === 'instant') return undefined
  if (type === 'hourly') return new Date(now.getTime() + durationMs(1, 'hours'))
  const timed = type === 'daily' ? { atTime } : { atTime, weekDays: [weekDay] }
  return digestDueAt({ type: 'timed', amount: 1, unit: type === 'daily' ? 'days' : 'weeks', timed }, now, zone)
}

/** What a caller changes. Absent leaves as is, null clears. */
export interface SwitchesChange {
  readonly enabled?: boolean | null
  readonly channels?: { readonly [Name in Channel]?: boolean | null } | null
}

export interface GlobalChange extends SwitchesChange {
  /** Omitted fields are unchanged; the week is replaced as a whole. */
  readonly schedule?: ScheduleChange | null
  readonly doNotDisturbUntil?: string | null
}

export interface ScheduleChange {
  readonly isEnabled?: boolean
  readonly weeklySchedule?: WeeklySchedule | null
  readonly outside?: OutsideWay | null
}

export interface WorkflowChange extends SwitchesChange {
  readonly frequency?: Frequency | null
}

export function changedGlobally(before: SubscriberPreferences, change: GlobalChange): SubscriberPreferences {
  const schedule = change.schedule === undefined ? before.schedule : changedSchedule(before.schedule, change.schedule)
  const until = change.doNotDisturbUntil === undefined ? before.doNotDisturbUntil : change.doNotDisturbUntil
  return {
    ...changedSwitches(before, change),
    ...(schedule == null ? {} : { schedule }),
    ...(until == null ? {} : { doNotDisturbUntil: new Date(until).toISOString() }),
    ...(before.workflows === undefined ? {} : { workflows: before.workflows }),
  }
}

function changedSchedule(before: Schedule | undefined, change: ScheduleChange | null): Schedule | undefined {
  if (change === null) return undefined
  const weeklySchedule =
    change.weeklySchedule === undefined
      ? before?.weeklySchedule
      : change.weeklySchedule && storedWeek(change.weeklySchedule)
  const outside = change.outside === undefined ? before?.outside : change.outside
  return {
    isEnabled: change.isEnabled ?? before?.isEnabled ?? true,
    ...(weeklySchedule == null ? {} : { weeklySchedule }),
    ...(outside == null ? {} : { outside }),
  }
}

const storedFrequency = ({ atTime, ...rest }: Frequency): Frequency => ({
  ...rest,
  ...(atTime === undefined ? {} : { atTime: in24Hours(atTime) }),
})

/** A choice that sets nothing any more is removed. */
export function changedForWorkflow(
  before: SubscriberPreferences,
  workflowId: string,
  change: WorkflowChange,
  now: Date,
): SubscriberPreferences {
  const choice = choiceFor(before, workflowId)
  const frequency =
    change.frequency === undefined ? choice?.frequency : change.frequency && storedFrequency(change.frequency)
  const said = { ...changedSwitches(choice ?? {}, change), ...(frequency == null ? {} : { frequency }) }
  const { [workflowId]: _, ...others } = before.workflows ?? {}
  const workflows =
    Object.keys(said).length === 0 ? others : { ...others, [workflowId]: { ...said, updatedAt: now.toISOString() } }
  return { ...before, workflows }
}

function changedSwitches(before: Switches, change: SwitchesChange): Switches {
  const enabled = change.enabled === undefined ? before.enabled : change.enabled
  const merged = change.channels === null ? {} : { ...before.channels, ...change.channels }
  const known = channelNames.flatMap((name) => (typeof merged[name] === 'boolean' ? [[name, merged[name]]] : []))
  const channels = Object.fromEntries(known) as ChannelSwitches
  return {
    ...(enabled == null ? {} : { enabled }),
    ...(Object.keys(channels).length === 0 ? {} : { channels }),
  }
}
