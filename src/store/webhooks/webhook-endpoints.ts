// The webhook_endpoints table: where events are sent, what each endpoint wants, and how it is doing.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { Disabler, EndpointSecrets, WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import { isSealedOtherwise, resealed } from '../operate/sealed-columns.ts'

const purpose = 'webhook-endpoint'

export type EndpointRow = Omit<WebhookEndpoint, keyof EndpointSecrets> & { readonly sealed: Buffer }

/** Of a row called `w`. */
export const endpointColumns = sql`w.id, w.sealed, w.description, w.event_types as "eventTypes", w.workflow_ids as "workflowIds",
  w.concurrency, w.disabled_at as "disabledAt", w.disabled_by as "disabledBy", w.failing_since as "failingSince", w.failures,
  w.last_error as "lastError", w.delivered_at as "deliveredAt", w.created_at as "createdAt", w.updated_at as "updatedAt"`

export function endpointOf(sealer: Sealer, environment: Environment, { sealed, ...row }: EndpointRow): WebhookEndpoint {
  const secrets = JSON.parse(sealer.open(environment.id, purpose, row.id, sealed)) as EndpointSecrets
  return { ...row, ...secrets }
}

const sealedOf = (sealer: Sealer, environment: Environment, id: string, secrets: EndpointSecrets): Buffer =>
  sealer.seal(
    environment.id,
    purpose,
    id,
    JSON.stringify({ url: secrets.url, secret: secrets.secret, previous: secrets.previous }),
  )

/**
 * Whether an environment has an endpoint at all, as an expression of a larger statement: where there is none, nothing is
 * written for webhooks.
 */
export const hasEndpoints = (environment: Environment): Statement => sql`
  exists (select 1 from webhook_endpoints w
          where w.environment_id = ${environment.id} and w.disabled_at is null and w.deleted_at is null)`

/** Those that events are sent to. */
export async function listActiveEndpoints(
  db: Sql,
  environment: Environment,
): Promise<Pick<WebhookEndpoint, 'id' | 'eventTypes' | 'workflowIds'>[]> {
  return db.rows(sql`
    select w.id, w.event_types as "eventTypes", w.workflow_ids as "workflowIds" from webhook_endpoints w
    where w.environment_id = ${environment.id} and w.disabled_at is null and w.deleted_at is null order by w.id`)
}

export async function findEndpoint(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  id: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<WebhookEndpoint | undefined> {
  const row = await db.row<EndpointRow>(sql`
    select ${endpointColumns} from webhook_endpoints w
    where w.environment_id = ${environment.id} and w.id = ${id} and w.deleted_at is null
    ${lock ? sql`for no key update` : sql``}`)
  return row && endpointOf(sealer, environment, row)
}

/** No one else changes it before the transaction ends. */
export async function lockEndpoint(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`
    select 1 from webhook_endpoints w where w.environment_id = ${environment.id} and w.id = ${id} for no key update`)
}

/** False where it is disabled or deleted. */
export async function isEndpointEnabled(db: Sql, environment: Environment, id: string): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from webhook_endpoints w
    where w.environment_id = ${environment.id} and w.id = ${id} and w.disabled_at is null and w.deleted_at is null`)
  return row !== undefined
}

export async function countEndpoints(db: Sql, environment: Environment): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from webhook_endpoints where environment_id = ${environment.id} and deleted_at is null`)
  return row?.count ?? 0
}

/** The identifiers of the workflows that endpoints name, by id. */
export async function findEndpointWorkflows(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows<{ id: string; identifier: string }>(sql`
    select id, identifier from workflows where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
  return new Map(rows.map(({ id, identifier }) => [id, identifier]))
}

export async function insertEndpoint(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  endpoint: WebhookEndpoint,
): Promise<void> {
  await tx.run(sql`
    insert into webhook_endpoints (environment_id, id, sealed, description, event_types, workflow_ids, concurrency, created_at,
      updated_at)
    values (${environment.id}, ${endpoint.id}, ${sealedOf(sealer, environment, endpoint.id, endpoint)}, ${endpoint.description},
      ${endpoint.eventTypes}::text[], ${endpoint.workflowIds}::uuid[], ${endpoint.concurrency}, ${endpoint.createdAt},
      ${endpoint.updatedAt})`)
}

/** What callers set, and whether it is disabled. One that is enabled begins without the failures it had. */
export async function updateEndpoint(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  endpoint: WebhookEndpoint,
): Promise<void> {
  await tx.run(sql`
    update webhook_endpoints
    set sealed = ${sealedOf(sealer, environment, endpoint.id, endpoint)}, description = ${endpoint.description},
      event_types = ${endpoint.eventTypes}::text[], workflow_ids = ${endpoint.workflowIds}::uuid[],
      concurrency = ${endpoint.concurrency}, disabled_at = ${endpoint.disabledAt}, disabled_by = ${endpoint.disabledBy},
      failing_since = ${endpoint.failingSince}, failures = ${endpoint.failures}, last_error = ${endpoint.lastError},
      updated_at = ${endpoint.updatedAt}
    where environment_id = ${environment.id} and id = ${endpoint.id}`)
}

/** Its secrets go at once; its deliveries are swept. */
export async function markEndpointDeleted(tx: Tx, environment: Environment, id: string, now: Date): Promise<void> {
  await tx.run(sql`
    update webhook_endpoints set deleted_at = ${now}, sealed = '' where environment_id = ${environment.id} and id = ${id}`)
}

/** How often the time of the last delivery is written: an endpoint gets many. */
const noteEveryMs = 60_000

/** A delivery was accepted: it does not fail any more. */
export async function noteDelivered(tx: Tx, environment: Environment, id: string, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - noteEveryMs)
  await tx.run(sql`
    update webhook_endpoints set delivered_at = ${now}, failing_since = null, failures = 0
    where environment_id = ${environment.id} and id = ${id}
      and (failing_since is not null or delivered_at is null or delivered_at < ${oldest})`)
}

/** So many attempts failed, and none was accepted beside them. Returns since when it has been so. */
export async function noteFailed(
  tx: Tx,
  environment: Environment,
  id: string,
  { count, error, now }: { count: number; error: string; now: Date },
): Promise<Date | undefined> {
  const row = await tx.row<{ failingSince: Date }>(sql`
    update webhook_endpoints
    set failing_since = coalesce(failing_since, ${now}), failures = failures + ${count}, last_error = ${error}
    where environment_id = ${environment.id} and id = ${id} returning failing_since as "failingSince"`)
  return row?.failingSince
}

/** False where it was disabled or deleted before. */
export async function disableEndpoint(
  tx: Tx,
  environment: Environment,
  id: string,
  { by, now }: { by: Disabler; now: Date },
): Promise<boolean> {
  const count = await tx.run(sql`
    update webhook_endpoints set disabled_at = ${now}, disabled_by = ${by}, updated_at = ${now}
    where environment_id = ${environment.id} and id = ${id} and disabled_at is null and deleted_at is null`)
  return count > 0
}

/** How many there are in each state, over all environments. */
export async function countEndpointStates(db: Sql): Promise<Record<'enabled' | 'failing' | 'disabled', number>> {
  const row = await db.row<Record<'enabled' | 'failing' | 'disabled', number>>(sql`
    select count(*) filter (where disabled_at is null and failing_since is null)::int as enabled,
      count(*) filter (where disabled_at is null and failing_since is not null)::int as failing,
      count(*) filter (where disabled_at is not null)::int as disabled
    from webhook_endpoints where deleted_at is null`)
  return row ?? { enabled: 0, failing: 0, disabled: 0 }
}

/** Those that were deleted and have no deliveries any more. */
export async function sweepDeletedEndpoints(tx: Tx, _now: Date, limit: number): Promise<number> {
  return tx.run(sql`
    delete from webhook_endpoints w using (
      select d.environment_id, d.id from webhook_endpoints d
      where d.deleted_at is not null and not exists (
        select 1 from webhook_deliveries v where v.environment_id = d.environment_id and v.endpoint_id = d.id)
      limit ${limit} for update skip locked) as gone
    where w.environment_id = gone.environment_id and w.id = gone.id`)
}

/** Moves the next batch of endpoints to the current encryption key. */
export async function resealEndpoints(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; sealed: Buffer }>(sql`
    select id, sealed from webhook_endpoints
    where environment_id = ${environment.id} and id > ${after ?? nilId} and deleted_at is null
      and ${isSealedOtherwise(sql`sealed`, sealer)}
    order by id limit ${limit} for no key update`)
  const sealed = rows.map((row) => resealed(sealer, environment, { purpose, record: row.id }, row.sealed))
  await tx.run(sql`
    update webhook_endpoints w set sealed = again.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[]) as again (id, sealed)
    where w.environment_id = ${environment.id} and w.id = again.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}
