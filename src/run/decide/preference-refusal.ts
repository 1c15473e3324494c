// Whether the subscriber does not want this on this channel, and which preference decided.
import type { Decision } from '../../domain/delivery/decision.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { isChannel } from '../../domain/delivery/integration.ts'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { PreferenceSource, PreferenceSources, Switches } from '../../domain/preferences/preference.ts'
import { choiceFor, resolveChannel } from '../../domain/preferences/preference.ts'
import type { JobFacts } from './job-facts.ts'

const codes: Readonly<Record<PreferenceSource, DetailCode>> = {
  workflow: 'workflowPreference',
  tenant: 'tenantPreference',
  global: 'globalPreference',
  subscriber: 'subscriberPreference',
}

type PreferenceFacts = Pick<JobFacts, 'step' | 'version' | 'subscriber' | 'tenantOverride'>

export function preferenceRefusal(facts: PreferenceFacts, now: Date): Decision | undefined {
  const { step, version, subscriber, tenantOverride } = facts
  if (tenantOverride?.active === false) {
    return { kind: 'skip', details: [detail(now, 'workflowOff', { raw: { active: false } })] }
  }
  const { type } = step.template
  if (!isChannel(type)) return undefined
  const sources: PreferenceSources = {
    workflowId: version.workflowId,
    critical: version.definition.critical,
    settings: version.definition.preferenceSettings,
    tenantSettings: tenantOverride?.preferenceSettings,
    preferences: subscriber.preferences,
  }
  const { enabled, source } = resolveChannel(sources, type)
  if (enabled) return undefined
  return { kind: 'skip', details: [detail(now, codes[source], { raw: saidOf(sources, type) })] }
}

/** What each source says about the channel; sources without an opinion are left out. */
function saidOf(sources: PreferenceSources, channel: Channel): Readonly<Record<string, unknown>> {
  const { settings, tenantSettings, preferences, workflowId } = sources
  return {
    channel,
    workflow: settings[channel],
    tenant: tenantSettings?.[channel],
    global: preferences === null ? undefined : switchesOf(preferences, channel),
    subscriber: switchesOf(choiceFor(preferences, workflowId), channel),
  }
}

function switchesOf(switches: Switches | undefined, channel: Channel): Switches | undefined {
  const enabled = switches?.enabled
  const own = switches?.channels?.[channel]
  if (enabled === undefined && own === undefined) return undefined
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(own === undefined ? {} : { channels: { [channel]: own } }),
  }
}
