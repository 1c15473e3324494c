// Preferences in the shapes callers see: those of API v2, of its bulk call, and of API v1.
import type { Channel } from '../delivery/integration.ts'
import { channels } from '../delivery/integration.ts'
import type { PreferenceSettings, Severity } from '../workflows/workflow.ts'
import type { ChannelSwitches, Frequency, PreferenceSources, SubscriberPreferences } from './preference.ts'
import { choiceFor, isWorkflowEnabled, resolveChannel } from './preference.ts'
import type { Schedule } from './schedule.ts'

/** What preferences need to know of a workflow. */
export interface PreferenceWorkflow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly critical: boolean
  readonly tags: readonly string[]
  readonly severity: Severity
  readonly data: Readonly<Record<string, unknown>> | null
  readonly settings: PreferenceSettings
  /** The types of its active steps. */
  readonly stepTypes: readonly string[]
  readonly updatedAt: Date
}

export interface GlobalPreferenceView {
  readonly enabled: boolean
  readonly channels: ChannelSwitches
  readonly schedule?: Schedule
  readonly doNotDisturbUntil?: string
}

export interface PreferenceOverride {
  readonly channel: Channel
  readonly source: 'subscriber' | 'workflowOverride' | 'template'
}

interface Resolved {
  readonly enabled: boolean
  /** Of the channels that the workflow has active steps for. */
  readonly channels: ChannelSwitches
}

export interface WorkflowPreferenceView extends Resolved {
  readonly overrides: readonly PreferenceOverride[]
  readonly workflow: {
    readonly id: string
    readonly slug: string
    readonly identifier: string
    readonly name: string
    readonly critical: boolean
    readonly updatedAt: string
  }
  readonly frequency?: Frequency
  /** When the subscriber last changed a preference for it. */
  readonly updatedAt?: string
}

export interface PreferencesView {
  readonly global: GlobalPreferenceView
  readonly workflows: readonly WorkflowPreferenceView[]
  /** Whether there are more workflows on the next page. */
  readonly hasMore: boolean
}

export function globalPreferenceOf(preferences: SubscriberPreferences | null): GlobalPreferenceView {
  const { enabled = true, schedule, doNotDisturbUntil } = preferences ?? {}
  return {
    enabled,
    channels: Object.fromEntries(channels.map((name) => [name, preferences?.channels?.[name] ?? enabled])),
    ...(schedule === undefined ? {} : { schedule }),
    ...(doNotDisturbUntil === undefined ? {} : { doNotDisturbUntil }),
  }
}

export function workflowPreferenceOf(
  preferences: SubscriberPreferences | null,
  workflow: PreferenceWorkflow,
): WorkflowPreferenceView {
  const { id, identifier, name, critical, updatedAt } = workflow
  const choice = critical ? undefined : choiceFor(preferences, id)
  return {
    ...resolvedOf(preferences, workflow),
    overrides: overridesOf(preferences, workflow),
    // There is no separate slug: a workflow is identified in a URL by its identifier.
    workflow: { id, slug: identifier, identifier, name, critical, updatedAt: updatedAt.toISOString() },
    ...(choice?.frequency === undefined ? {} : { frequency: choice.frequency }),
    ...(choice === undefined ? {} : { updatedAt: choice.updatedAt }),
  }
}

/** The workflow that a preference is for, as readers see it. */
export interface ShownWorkflow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly critical: boolean
  readonly tags: readonly string[]
  readonly data?: Readonly<Record<string, unknown>>
  readonly severity: Severity
}

export const shownWorkflowOf = (workflow: PreferenceWorkflow): ShownWorkflow => {
  const { id, identifier, name, critical, tags, data, severity } = workflow
  return { id, identifier, name, critical, tags, ...(data === null ? {} : { data }), severity }
}

/** As the bulk call answers, and as inboxes read it. */
export interface LeveledPreference extends Resolved {
  readonly level: 'template'
  readonly workflow: ShownWorkflow
  readonly frequency?: Frequency
}

export function leveledPreferenceOf(
  preferences: SubscriberPreferences | null,
  workflow: PreferenceWorkflow,
): LeveledPreference {
  const frequency = workflow.critical ? undefined : choiceFor(preferences, workflow.id)?.frequency
  return {
    level: 'template',
    ...resolvedOf(preferences, workflow),
    workflow: shownWorkflowOf(workflow),
    ...(frequency === undefined ? {} : { frequency }),
  }
}

/** What inbox pages read. */
export type InboxPreference =
  | (LeveledPreference & { readonly overrides: readonly PreferenceOverride[] })
  | (Resolved & {
      readonly level: 'global'
      readonly overrides: readonly PreferenceOverride[]
      readonly schedule?: Schedule
    })

export function inboxPreferenceOf(
  preferences: SubscriberPreferences | null,
  workflow: PreferenceWorkflow,
): InboxPreference {
  return { ...leveledPreferenceOf(preferences, workflow), overrides: overridesOf(preferences, workflow) }
}

/** Of the channels that some workflow has active steps for. */
export function inboxGlobalPreferenceOf(
  preferences: SubscriberPreferences | null,
  workflows: readonly PreferenceWorkflow[],
): InboxPreference {
  const { enabled, channels: all, schedule } = globalPreferenceOf(preferences)
  const used = new Set(workflows.flatMap(channelsOf))
  const switches = channels.filter((name) => used.has(name)).map((name) => [name, all[name] ?? enabled])
  return {
    level: 'global',
    enabled,
    channels: Object.fromEntries(switches),
    overrides: [],
    ...(schedule === undefined ? {} : { schedule }),
  }
}

/** API v1: the workflow next to its effective preferences. */
export interface TemplatePreference {
  readonly template: {
    readonly _id: string
    readonly name: string
    readonly critical: boolean
    readonly triggers: readonly {
      readonly type: 'event'
      readonly identifier: string
      readonly variables: readonly []
    }[]
  }
  readonly preference: Resolved & { readonly overrides: readonly PreferenceOverride[] }
}

export function templatePreferenceOf(
  preferences: SubscriberPreferences | null,
  workflow: PreferenceWorkflow,
): TemplatePreference {
  const { id, name, critical, identifier } = workflow
  return {
    template: { _id: id, name, critical, triggers: [{ type: 'event', identifier, variables: [] }] },
    preference: { ...resolvedOf(preferences, workflow), overrides: overridesOf(preferences, workflow) },
  }
}

function resolvedOf(preferences: SubscriberPreferences | null, workflow: PreferenceWorkflow): Resolved {
  const sources = sourcesOf(preferences, workflow)
  const resolved = channelsOf(workflow).map((name) => [name, resolveChannel(sources, name).enabled] as const)
  return { enabled: isWorkflowEnabled(sources), channels: Object.fromEntries(resolved) }
}

function overridesOf(preferences: SubscriberPreferences | null, workflow: PreferenceWorkflow): PreferenceOverride[] {
  const sources = sourcesOf(preferences, workflow)
  return channelsOf(workflow).map((channel) => {
    const { source } = resolveChannel(sources, channel)
    return { channel, source: source === 'workflow' || source === 'tenant' ? 'template' : 'subscriber' }
  })
}

const channelsOf = ({ stepTypes }: PreferenceWorkflow): Channel[] => channels.filter((name) => stepTypes.includes(name))

function sourcesOf(preferences: SubscriberPreferences | null, workflow: PreferenceWorkflow): PreferenceSources {
  const { id, critical, settings } = workflow
  return { workflowId: id, critical, settings, preferences }
}
