// Whether the channels of a workflow's steps have active integrations.
import type { Channel, IntegrationStatus } from '../delivery/integration.ts'
import { channels, channelsWithPrimary } from '../delivery/integration.ts'
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
  integrationStatuses: readonly IntegrationStatus[],
): WorkflowIntegrationStatus {
  const used = channels.filter((channel) => steps.some((step) => step.template.type === channel))
  const statuses = used.map((channel) => [channel, channelStatus(channel, integrationStatuses)] as const)
  return {
    hasActiveIntegrations: statuses.every(([, status]) => status.hasActiveIntegrations),
    channels: Object.fromEntries(statuses),
  }
}

function channelStatus(channel: Channel, integrationStatuses: readonly IntegrationStatus[]): ChannelStatus {
  const active = integrationStatuses.filter((integration) => integration.channel === channel && integration.active)
  return {
    hasActiveIntegrations: active.length > 0,
    ...(channelsWithPrimary.has(channel) ? { hasPrimaryIntegrations: active.some((one) => one.primary) } : {}),
  }
}
