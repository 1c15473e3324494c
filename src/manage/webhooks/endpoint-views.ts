// A webhook endpoint as callers see it: without its secret, which is shown when it is made.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import type { Disabler, WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import { overlapEndOf } from '../../domain/webhooks/webhook-endpoint.ts'
import { findEndpointWorkflows } from '../../store/webhooks/webhook-endpoints.ts'

export interface ShownEndpoint {
  readonly _id: string
  readonly url: string
  readonly description: string
  readonly eventTypes: readonly string[]
  /** Identifiers. */
  readonly workflows: readonly string[]
  readonly concurrency: number
  readonly state: 'active' | 'failing' | 'disabled'
  readonly stateSince: string
  readonly disabledBy: Disabler | null
  readonly failures: number
  readonly lastError: string | null
  readonly lastDeliveredAt: string | null
  /** Until when calls carry a signature of a replaced secret too. */
  readonly previousSecretUntil: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export async function shownEndpoints(
  db: Sql,
  environment: Environment,
  endpoints: readonly WebhookEndpoint[],
  now: Date,
): Promise<ShownEndpoint[]> {
  const ids = [...new Set(endpoints.flatMap(({ workflowIds }) => workflowIds))]
  const identifiers = await findEndpointWorkflows(db, environment, ids)
  return endpoints.map((endpoint) => ({
    _id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: endpoint.eventTypes,
    workflows: endpoint.workflowIds.map((id) => identifiers.get(id) ?? id),
    concurrency: endpoint.concurrency,
    ...stateOf(endpoint),
    disabledBy: endpoint.disabledBy,
    failures: endpoint.failures,
    lastError: endpoint.lastError,
    lastDeliveredAt: endpoint.deliveredAt?.toISOString() ?? null,
    previousSecretUntil: overlapEndOf(endpoint, now)?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  }))
}

export async function shownEndpoint(
  db: Sql,
  environment: Environment,
  endpoint: WebhookEndpoint,
  now: Date,
): Promise<ShownEndpoint> {
  const [shown] = await shownEndpoints(db, environment, [endpoint], now)
  if (shown === undefined) throw new Error('A webhook endpoint is missing')
  return shown
}

function stateOf(endpoint: WebhookEndpoint): Pick<ShownEndpoint, 'state' | 'stateSince'> {
  const { disabledAt, failingSince, createdAt } = endpoint
  if (disabledAt !== null) return { state: 'disabled', stateSince: disabledAt.toISOString() }
  if (failingSince !== null) return { state: 'failing', stateSince: failingSince.toISOString() }
  return { state: 'active', stateSince: createdAt.toISOString() }
}

export const namedEndpoint = ({ id, url }: Pick<WebhookEndpoint, 'id' | 'url'>) =>
  ({ kind: 'webhook-endpoint', id, name: new URL(url).host }) as const

/** A path or a query may hold a token: the log keeps the host. */
export function recordOfEndpoint(endpoint: WebhookEndpoint): Recorded {
  const { url, secret, description, eventTypes, workflowIds, concurrency, disabledAt } = endpoint
  const members = { description, eventTypes, workflowIds, concurrency, enabled: disabledAt === null }
  return {
    compared: { ...members, url, secret },
    shown: { ...members, url: new URL(url).host, secret: '********' },
  }
}
