// What the audit log records for each kind of configuration. Neither secrets nor what identifies a recipient.
import { createHmac } from 'node:crypto'
import type { Configurations, Credentials, Integration } from '../delivery/integration.ts'
import type { Context } from '../people/context.ts'
import type { Suppression } from '../people/suppression.ts'
import type { Tenant } from '../people/tenant.ts'
import type { Feed } from '../workflows/feed.ts'
import type { Layout } from '../workflows/layout.ts'
import { stepWithoutSecrets } from '../workflows/shown-secrets.ts'
import type { NotificationGroup, NotificationStep, WorkflowDefinition } from '../workflows/workflow.ts'
import type { StoredOverride } from '../workflows/workflow-override.ts'
import type { ApiKey } from './api-key.ts'
import type { Members, Recorded } from './audit-difference.ts'
import type { User } from './user.ts'

const struckOut = '[redacted]'

const open = (members: Members): Recorded => ({ compared: members, shown: members })

export const recordOfTenant = ({ identifier, name, data }: Tenant): Recorded => open({ identifier, name, data })

export const recordOfLayout = ({ identifier, name, description, content, isDefault }: Layout): Recorded =>
  open({ identifier, name, description, content, isDefault })

export const recordOfTranslation = ({ texts }: { texts: Members }): Recorded => open({ texts })

export const recordOfFeed = ({ identifier, name }: Feed): Recorded => open({ identifier, name })

export const recordOfGroup = ({ name }: NotificationGroup): Recorded => open({ name })

export const recordOfContext = ({ data }: Context): Recorded => open({ data })

export function recordOfOverride(override: StoredOverride): Recorded {
  const { workflowId, workflowIdentifier, tenantId, tenantIdentifier, active, preferenceSettings } = override
  return open({ workflowId, workflowIdentifier, tenantId, tenantIdentifier, active, preferenceSettings })
}

export function recordOfApiKey(key: ApiKey): Recorded {
  const { name, scopes, signing, allowedAddresses, ratePerSecond, replaces, expiresAt, revokedAt } = key
  // Left out where it is not so: entries about keys that cannot sign stay as they were.
  const limits = { allowedAddresses, ratePerSecond, replaces }
  return open({ name, scopes, ...(signing ? { signing } : {}), ...limits, expiresAt, revokedAt })
}

export const recordOfUser = ({ email, name, role, signsInBy, disabledAt }: User): Recorded =>
  open({ email, name, role, signsInBy, disabledAt })

/**
 * The log cannot forget, and people may ask to be erased: so an address is recorded as a hash, and a note only by its
 * presence. The hash uses the environment's secret, since all phone numbers could be tried against a plain hash.
 */
export const suppressionId = (secret: string, { channel, address }: Pick<Suppression, 'channel' | 'address'>): string =>
  createHmac('sha256', secret).update(`${channel}:${address}`).digest('hex')

export function recordOfSuppression({ channel, reason, source, note }: Suppression): Recorded {
  const members = { channel, reason, source }
  return {
    compared: { ...members, note },
    shown: { ...members, ...(note === undefined ? {} : { note: struckOut }) },
  }
}

/** Those whose values may be shown; fields added later are redacted until they are listed here. */
const openConfigurations: ReadonlySet<string> = new Set([
  'inboundWebhookEnabled',
  'inboundParseDomain',
  'retry',
  'capture',
])

/** `channelPrimaryId`: which integration is its channel's primary, since a change of one can make it another. */
export function recordOfIntegration(integration: Integration, channelPrimaryId: string | undefined): Recorded {
  const { name, identifier, providerId, channel, active, primary, conditions } = integration
  const { credentials, configurations = {} } = integration
  const members = { name, identifier, providerId, channel, active, primary, conditions, channelPrimaryId }
  return {
    compared: { ...members, credentials, configurations },
    shown: {
      ...members,
      credentials: withoutValues(credentials, new Set()),
      configurations: withoutValues(configurations, openConfigurations),
    },
  }
}

export const recordOfPrimary = (channelPrimaryId: string): Recorded => open({ channelPrimaryId })

function withoutValues(members: Credentials | Configurations, openNames: ReadonlySet<string>): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, openNames.has(name) ? value : struckOut]),
  )
}

export interface AuditedWorkflow {
  readonly identifier: string
  readonly active: boolean
  readonly groupId: string
  readonly definition: WorkflowDefinition & { readonly variables?: unknown; readonly subscriberVariables?: unknown }
}

export function recordOfWorkflow({ identifier, active, groupId, definition }: AuditedWorkflow): Recorded {
  // What was found in the templates follows from them.
  const { steps, variables: _found, subscriberVariables: _foundToo, ...rest } = definition
  const members = { identifier, active, notificationGroupId: groupId, ...rest, stepOrder: steps.map(({ _id }) => _id) }
  return {
    compared: { ...members, steps: byId(steps) },
    shown: { ...members, steps: byId(steps.map(stepWithoutSecrets)) },
  }
}

/** By their ids, so that a step that moves or goes leaves the others as they are. */
function byId(steps: readonly NotificationStep[]): Members {
  return Object.fromEntries(
    steps.map(({ variants, ...step }) => [
      step._id,
      variants.length === 0
        ? step
        : { ...step, variants: Object.fromEntries(variants.map((variant) => [variant._id, variant])) },
    ]),
  )
}
