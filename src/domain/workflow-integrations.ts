// Whether a workflow's steps have somebody to send for them: its integrations' status.
import type { Channel, Standing } from './integration.ts'
import { channels, channelsWithPrimary } from './integration.ts'
import type { NotificationStep } from './workflow.ts'

export interface ChannelStatus {
  readonly hasActiveIntegrations: boolean
  /** E-mail and SMS only. */
  readonly hasPrimaryIntegrations?: boolean
}

export interface WorkflowIntegrationStatus {
  readonly [name: string]: unknown
  /** Whether every channel of the steps has an active integration. */
  readonly hasActiveIntegrations: boolean
  /** The channels of the steps. */
  readonly channels: { readonly [Name in Channel]?: ChannelStatus }
}

export function integrationStatusOf(
  steps: readonly NotificationStep[],
  standings: readonly Standing[],
): WorkflowIntegrationStatus {
  const used = channels.filter((channel) => steps.some((step) => step.template.type === channel))
  const statuses = used.map((channel) => [channel, channelStatus(channel, standings)] as const)
  return {
    hasActiveIntegrations: statuses.every(([, status]) => status.hasActiveIntegrations),
    channels: Object.fromEntries(statuses),
  }
}

function channelStatus(channel: Channel, standings: readonly Standing[]): ChannelStatus {
  const active = standings.filter((standing) => standing.channel === channel && standing.active)
  return {
    hasActiveIntegrations: active.length > 0,
    ...(channelsWithPrimary.has(channel) ? { hasPrimaryIntegrations: active.some((one) => one.primary) } : {}),
  }
}
