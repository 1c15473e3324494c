// An integration in the audit log: what was changed of it, and who is its channel's primary since.
import { audit } from '../../commit/audited.ts'
import type { Tx } from '../../db/sql.ts'
import type { Channel, Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AuditAction, Author, Change } from '../../domain/operate/audit.ts'
import { recordOfIntegration, recordOfPrimary } from '../../domain/operate/audit-records.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import type { World } from '../../world/world.ts'

/** As it was before the change. The integrations must be locked. */
export interface Earlier {
  readonly integration: Integration | undefined
  readonly primaryId: string | undefined
}

export async function earlierOf(tx: Tx, environment: Environment, integration: Integration): Promise<Earlier> {
  return { integration, primaryId: await primaryIdOf(tx, environment, integration.channel) }
}

interface IntegrationChange {
  readonly action: AuditAction
  readonly before: Earlier
  readonly after: Integration
}

export async function auditIntegration(
  tx: Tx,
  world: World,
  environment: Environment,
  author: Author,
  change: IntegrationChange,
): Promise<void> {
  await audit(tx, world, environment, author, await integrationChange(tx, environment, change))
}

export async function integrationChange(
  tx: Tx,
  environment: Environment,
  { action, before, after }: IntegrationChange,
): Promise<Change> {
  const primaryId = await primaryIdOf(tx, environment, after.channel)
  return {
    kind: 'integration',
    id: after._id,
    name: after.identifier,
    action,
    before: before.integration && recordOfIntegration(before.integration, before.primaryId),
    after: recordOfIntegration(after, primaryId),
  }
}

/** For a deleted integration only its successor is recorded, if it had one. */
export async function auditIntegrationDeletion(
  tx: Tx,
  world: World,
  environment: Environment,
  author: Author,
  removed: Integration,
  before: Earlier,
): Promise<void> {
  const successorId = removed.primary ? await primaryIdOf(tx, environment, removed.channel) : undefined
  await audit(tx, world, environment, author, {
    kind: 'integration',
    id: removed._id,
    name: removed.identifier,
    action: 'delete',
    before: recordOfIntegration(removed, before.primaryId),
    after: successorId === undefined ? undefined : recordOfPrimary(successorId),
  })
}

async function primaryIdOf(tx: Tx, environment: Environment, channel: Channel): Promise<string | undefined> {
  const integrationStatuses = await listIntegrationStatuses(tx, environment)
  return integrationStatuses.find((status) => status.channel === channel && status.primary)?.id
}
