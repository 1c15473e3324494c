// The preferences of a workflow in API v2, and the settings derived from them.
import type { Channel } from '../delivery/integration.ts'
import { channels } from '../delivery/integration.ts'
import type { PreferenceSettings } from '../workflows/workflow.ts'

/** Of the author, or of the dashboard. */
export interface GivenPreference {
  readonly all?: { readonly enabled?: boolean; readonly readOnly?: boolean }
  readonly channels?: Readonly<Partial<Record<Channel, { readonly enabled?: boolean }>>>
}

export interface GivenPreferences {
  readonly user?: GivenPreference | null
  readonly workflow?: GivenPreference | null
}

export interface WholePreference {
  readonly all: { readonly enabled: boolean; readonly readOnly: boolean }
  readonly channels: { readonly [Name in Channel]: { readonly enabled: boolean } }
}

export interface WorkflowSettings {
  readonly critical: boolean
  readonly preferenceSettings: PreferenceSettings
}

/**
 * The dashboard's setting takes precedence over the author's, field by field; a channel that is not set itself has that
 * of all.
 */
export function settingsOfPreferences({ user, workflow }: GivenPreferences): WorkflowSettings {
  const layers = [user, workflow].flatMap((one) => one ?? [])
  const enabled = first(layers.map((one) => one.all?.enabled)) ?? true
  return {
    critical: first(layers.map((one) => one.all?.readOnly)) ?? false,
    preferenceSettings: byChannel((channel) => first(layers.map((one) => one.channels?.[channel]?.enabled)) ?? enabled),
  }
}

const first = (words: readonly (boolean | undefined)[]): boolean | undefined => words.find((word) => word !== undefined)

function byChannel<Value>(wordOf: (channel: Channel) => Value): { [Name in Channel]: Value } {
  return Object.fromEntries(channels.map((channel) => [channel, wordOf(channel)])) as { [Name in Channel]: Value }
}

/** As they were given, unless API v1 has changed the settings since. */
export function preferencesOf(
  { critical, preferenceSettings }: WorkflowSettings,
  asGiven: GivenPreferences | undefined,
): { user: WholePreference | null; default: WholePreference } {
  if (asGiven !== undefined) {
    const settings = settingsOfPreferences(asGiven)
    const isSame =
      settings.critical === critical &&
      channels.every((channel) => settings.preferenceSettings[channel] === preferenceSettings[channel])
    if (isSame) return { user: asGiven.user ? whole(asGiven.user) : null, default: whole(asGiven.workflow ?? {}) }
  }
  const settled = byChannel((channel) => ({ enabled: preferenceSettings[channel] }))
  return { user: null, default: { all: { enabled: true, readOnly: critical }, channels: settled } }
}

function whole({ all, channels: given }: GivenPreference): WholePreference {
  const enabled = all?.enabled ?? true
  return {
    all: { enabled, readOnly: all?.readOnly ?? false },
    channels: byChannel((channel) => ({ enabled: given?.[channel]?.enabled ?? enabled })),
  }
}
