// The integrations table. Credentials and configurations are sealed on write and opened on read.

import type { Sql, Tx } from '../../db/sql.ts'
import { json, prepared, shortRead, sql } from '../../db/sql.ts'
import type { StepFilter } from '../../domain/conditions/condition.ts'
import type {
  Channel,
  Configurations,
  Credentials,
  Integration,
  IntegrationStatus,
} from '../../domain/delivery/integration.ts'
import { integrationsMax } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer, SealPurpose } from '../../domain/operate/sealed.ts'
import { mapInTurns } from '../../domain/turn.ts'
import { isSealedOtherwise, resealed } from '../operate/sealed-columns.ts'

export interface NewIntegration {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly providerId: string
  readonly channel: Channel
  readonly credentials: Credentials
  readonly configurations?: Configurations
  readonly conditions: readonly StepFilter[]
  readonly active: boolean
  readonly primary: boolean
  readonly now: Date
}

interface IntegrationRow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly provider_id: string
  readonly channel: Channel
  readonly credentials: Buffer
  readonly configurations: Buffer | null
  readonly conditions: StepFilter[]
  readonly active: boolean
  readonly is_primary: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = sql`id, identifier, name, provider_id, channel, credentials, configurations, conditions, active, is_primary,
  created_at, updated_at`

/** False when the identifier is taken. */
export async function insertIntegration(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  integration: NewIntegration,
): Promise<boolean> {
  const { credentials, configurations } = sealed(sealer, environment, integration.id, integration)
  const count = await tx.run(sql`
    insert into integrations (environment_id, id, identifier, name, provider_id, channel, credentials, configurations,
                              conditions, active, is_primary, created_at, updated_at)
    values (${environment.id}, ${integration.id}, ${integration.identifier}, ${integration.name},
            ${integration.providerId}, ${integration.channel}, ${credentials}, ${configurations},
            ${json(integration.conditions)}, ${integration.active}, ${integration.primary},
            ${integration.now}, ${integration.now})
    on conflict (environment_id, identifier) do nothing`)
  return count > 0
}

/** Writes what may change; only `movePrimary` changes which one is primary. */
export async function updateIntegration(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  integration: Integration,
  now: Date,
): Promise<void> {
  const { credentials, configurations } = sealed(sealer, environment, integration._id, integration)
  await tx.run(sql`
    update integrations set
      identifier = ${integration.identifier}, name = ${integration.name}, credentials = ${credentials},
      configurations = ${configurations}, conditions = ${json(integration.conditions)}::jsonb,
      active = ${integration.active}, updated_at = ${now}
    where environment_id = ${environment.id} and id = ${integration._id} and deleted_at is null`)
}

/** False if there is none. A deleted integration is never primary. */
export async function deleteIntegration(
  tx: Tx,
  environment: Environment,
  deletion: { id: string; deletedBy: string; now: Date },
): Promise<boolean> {
  const count = await tx.run(sql`
    update integrations set deleted_at = ${deletion.now}, deleted_by = ${deletion.deletedBy}, is_primary = false,
      updated_at = ${deletion.now}
    where environment_id = ${environment.id} and id = ${deletion.id} and deleted_at is null`)
  return count > 0
}

/** Makes one integration the primary of its channel, or none. The old one is reset first: there are never two. */
export async function movePrimary(
  tx: Tx,
  environment: Environment,
  move: { channel: Channel; to: string | undefined; now: Date },
): Promise<void> {
  await tx.run(sql`
    update integrations set is_primary = false, updated_at = ${move.now}
    where environment_id = ${environment.id} and channel = ${move.channel} and is_primary and deleted_at is null
      and id is distinct from ${move.to ?? null}::uuid`)
  if (move.to === undefined) return
  await tx.run(sql`
    update integrations set is_primary = true, updated_at = ${move.now}
    where environment_id = ${environment.id} and id = ${move.to} and not is_primary and deleted_at is null`)
}

/**
 * Lets one call at a time change an environment's integrations. The environment's row and not the integrations' own:
 * two calls that create the first of a channel would find no row to wait at. Foreign keys are checked all the same.
 */
export async function lockIntegrations(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`select 1 from environments where id = ${environment.id} for no key update`)
}

/** All that are not deleted, oldest first, without opening anything sealed. */
export async function listIntegrationStatuses(db: Sql, environment: Environment): Promise<IntegrationStatus[]> {
  return db.rows<IntegrationStatus>(
    shortRead(
      'integrations-standings',
      sql`select id, provider_id as "providerId", channel, active, is_primary as "primary",
            jsonb_array_length(conditions) > 0 as "hasConditions"
          from integrations where environment_id = ${environment.id} and deleted_at is null
          order by id limit ${integrationsMax}`,
    ),
  )
}

/** Whether the identifier belongs to another integration, deleted ones included. */
export async function isIdentifierTaken(
  db: Sql,
  environment: Environment,
  name: { identifier: string; butFor: string },
): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from integrations
    where environment_id = ${environment.id} and identifier = ${name.identifier} and id <> ${name.butFor}`)
  return row !== undefined
}

export async function findIntegration(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  id: string,
): Promise<Integration | undefined> {
  const row = await db.row<IntegrationRow>(sql`
    select ${columns} from integrations
    where environment_id = ${environment.id} and id = ${id} and deleted_at is null`)
  return row && integrationOf(sealer, environment, row)
}

/** All that are not deleted, or only the active ones, oldest first. */
export async function listIntegrations(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  filter: { activeOnly: boolean },
): Promise<Integration[]> {
  const rows = await db.rows<IntegrationRow>(
    prepared(
      'integrations-list',
      sql`select ${columns} from integrations
          where environment_id = ${environment.id} and deleted_at is null and (active or not ${filter.activeOnly}::boolean)
          order by id limit ${integrationsMax}::int`,
    ),
  )
  // There are up to five hundred, of 80 KB each.
  return mapInTurns(rows, (row) => integrationOf(sealer, environment, row))
}

/** Reseals up to `limit` integrations that another key sealed, including deleted ones, by id, after the given one. */
export async function resealIntegrations(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; credentials: Buffer; configurations: Buffer | null }>(sql`
    select id, credentials, configurations from integrations
    where environment_id = ${environment.id} and id > ${after ?? nilId}
      and (${isSealedOtherwise(sql`credentials`, sealer)} or ${isSealedOtherwise(sql`configurations`, sealer)})
    order by id limit ${limit} for update`)
  const reseal = (purpose: SealPurpose, record: string, sealed: Buffer | null): Buffer | null =>
    sealed && resealed(sealer, environment, { purpose, record }, sealed)
  await tx.run(sql`
    update integrations i set credentials = e.credentials, configurations = e.configurations
    from unnest(${rows.map((row) => row.id)}::uuid[],
                ${rows.map((row) => reseal('integration-credentials', row.id, row.credentials))}::bytea[],
                ${rows.map((row) => reseal('integration-configurations', row.id, row.configurations))}::bytea[])
      as e (id, credentials, configurations)
    where i.environment_id = ${environment.id} and i.id = e.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}

function sealed(
  sealer: Sealer,
  environment: Environment,
  id: string,
  integration: { credentials: Credentials; configurations?: Configurations },
): { credentials: Buffer; configurations: Buffer | null } {
  const { credentials, configurations } = integration
  return {
    credentials: sealer.seal(environment.id, 'integration-credentials', id, JSON.stringify(credentials)),
    configurations:
      configurations === undefined
        ? null
        : sealer.seal(environment.id, 'integration-configurations', id, JSON.stringify(configurations)),
  }
}

function integrationOf(sealer: Sealer, environment: Environment, row: IntegrationRow): Integration {
  const credentials = sealer.open(environment.id, 'integration-credentials', row.id, row.credentials)
  const configurations =
    row.configurations && sealer.open(environment.id, 'integration-configurations', row.id, row.configurations)
  return {
    _id: row.id,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    name: row.name,
    identifier: row.identifier,
    providerId: row.provider_id,
    channel: row.channel,
    credentials: JSON.parse(credentials) as Credentials,
    ...(configurations === null ? {} : { configurations: JSON.parse(configurations) as Configurations }),
    active: row.active,
    deleted: false,
    primary: row.is_primary,
    conditions: row.conditions,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
