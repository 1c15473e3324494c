// The environment_deletions table, and the rows of all other tables that go with an environment.
import type { Clock } from '../../db/clock.ts'
import { dueAfter } from '../../db/due.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { EnvironmentDeletion } from '../../domain/operate/environment-deletion.ts'

interface ErasedTable {
  readonly name: string
  readonly table: Statement
  /** Rows are identified by their id: of a partitioned table, two partitions may have rows at the same place. */
  readonly isPartitioned?: true
}

/**
 * Work that is still to run goes first, and what refers to a row before that row. All tables that have an environment are here but
 * two: the audit log, which is kept, and the book of deletions itself. `test/api/environments.test.ts` fails when one is missing.
 */
export const erasedTables: readonly ErasedTable[] = [
  { name: 'tasks', table: sql`tasks` },
  { name: 'jobs', table: sql`jobs`, isPartitioned: true },
  { name: 'messages', table: sql`messages`, isPartitioned: true },
  { name: 'notifications', table: sql`notifications`, isPartitioned: true },
  { name: 'events', table: sql`events`, isPartitioned: true },
  { name: 'transactions', table: sql`transactions` },
  { name: 'attachments', table: sql`attachments` },
  { name: 'digest_events', table: sql`digest_events` },
  { name: 'digest_backoffs', table: sql`digest_backoffs` },
  { name: 'digest_windows', table: sql`digest_windows` },
  { name: 'throttle_windows', table: sql`throttle_windows` },
  { name: 'redrives', table: sql`redrives` },
  { name: 'retractions', table: sql`retractions` },
  { name: 'count_deltas', table: sql`count_deltas` },
  { name: 'counts', table: sql`counts` },
  { name: 'erasures', table: sql`erasures` },
  { name: 'inbox_changes', table: sql`inbox_changes` },
  { name: 'inbox_presence', table: sql`inbox_presence` },
  { name: 'topic_subscriptions', table: sql`topic_subscriptions` },
  { name: 'deleted_topics', table: sql`deleted_topics` },
  { name: 'topics', table: sql`topics` },
  { name: 'subscriber_channels', table: sql`subscriber_channels` },
  { name: 'subscribers', table: sql`subscribers` },
  // With their subscribers, or after them: one whose session was revoked must not have it back while the row is still there.
  { name: 'session_revocations', table: sql`session_revocations` },
  { name: 'suppressions', table: sql`suppressions` },
  { name: 'workflow_overrides', table: sql`workflow_overrides` },
  { name: 'translations', table: sql`translations` },
  { name: 'layouts', table: sql`layouts` },
  { name: 'feeds', table: sql`feeds` },
  { name: 'workflow_versions', table: sql`workflow_versions` },
  { name: 'workflows', table: sql`workflows` },
  { name: 'notification_groups', table: sql`notification_groups` },
  { name: 'contexts', table: sql`contexts` },
  { name: 'tenants', table: sql`tenants` },
  { name: 'call_shares', table: sql`call_shares` },
  { name: 'inbound_tokens', table: sql`inbound_tokens` },
  { name: 'integrations', table: sql`integrations` },
  { name: 'idempotency_keys', table: sql`idempotency_keys` },
  { name: 'rate_limits', table: sql`rate_limits` },
  { name: 'webhook_news', table: sql`webhook_news` },
  { name: 'webhook_deliveries', table: sql`webhook_deliveries` },
  { name: 'webhook_endpoints', table: sql`webhook_endpoints` },
  { name: 'environment_variables', table: sql`environment_variables` },
  { name: 'audit_streams', table: sql`audit_streams` },
  { name: 'signing_versions', table: sql`signing_versions` },
  { name: 'dashboard_links', table: sql`dashboard_links` },
  { name: 'dashboard_sessions', table: sql`dashboard_sessions` },
  { name: 'user_sessions', table: sql`user_sessions` },
  { name: 'api_keys', table: sql`api_keys` },
  // Last: without it jobs, webhooks and streams would be sent.
  { name: 'sending_holds', table: sql`sending_holds` },
]

/** How many rows of a table went; fewer than the limit when there are no more. */
export async function eraseRows(
  tx: Tx,
  environment: Environment,
  { table, isPartitioned }: ErasedTable,
  limit: number,
): Promise<number> {
  const own = sql`environment_id = ${environment.id}`
  if (isPartitioned === true) {
    return tx.run(sql`
      delete from ${table} where ${own} and id = any(array(select id from ${table} where ${own} limit ${limit}))`)
  }
  return tx.run(sql`
    delete from ${table} where ${own} and ctid = any(array(select ctid from ${table} where ${own} limit ${limit}))`)
}

interface Row {
  readonly environmentId: string
  readonly name: string
  readonly requestedBy: string
  readonly requestedAt: Date
  readonly phase: string
  readonly removed: Readonly<Record<string, number>>
  readonly completedAt: Date | null
}

const columns = sql`d.environment_id as "environmentId", d.name, d.requested_by as "requestedBy",
  d.requested_at as "requestedAt", d.phase, d.removed, d.completed_at as "completedAt"`

function deletionOf(row: Row): EnvironmentDeletion {
  return {
    environmentId: row.environmentId,
    name: row.name,
    status: row.completedAt === null ? 'running' : 'completed',
    phase: row.phase,
    removed: row.removed,
    requestedBy: row.requestedBy,
    requestedAt: row.requestedAt.toISOString(),
    completedAt: row.completedAt?.toISOString() ?? null,
  }
}

export async function insertDeletion(
  tx: Tx,
  environment: Environment,
  { requestedBy, clock }: { requestedBy: string; clock: Clock },
): Promise<EnvironmentDeletion> {
  const phase = erasedTables[0]?.name ?? ''
  const row = await tx.row<Row>(sql`
    insert into environment_deletions as d (environment_id, name, requested_by, requested_at, phase, removed)
    values (${environment.id}, ${environment.name}, ${requestedBy}, ${clock()}, ${phase}, '{}') returning ${columns}`)
  if (row === undefined) throw new Error('The deletion of an environment was not written')
  return deletionOf(row)
}

/** Deletions of environments that the same organization had, newest first. */
export async function listDeletions(
  db: Sql,
  environment: Pick<Environment, 'organizationId'>,
): Promise<EnvironmentDeletion[]> {
  const rows = await db.rows<Row>(sql`
    select ${columns} from environment_deletions d join environments e on e.id = d.environment_id
    where e.organization_id = ${environment.organizationId} order by d.requested_at desc limit 100`)
  return rows.map(deletionOf)
}

/** A deletion whose turn is ours for so long. */
export interface LeasedDeletion extends EnvironmentDeletion {
  readonly environment: Environment
  readonly lease: string
  /** How long ago it was requested when the turn began. */
  readonly ageMs: number
}

export async function leaseDeletion(
  tx: Tx,
  { lease, leaseMs, clock }: { lease: string; leaseMs: number; clock: Clock },
): Promise<LeasedDeletion | undefined> {
  const row = await tx.row<Row & { organizationId: string; ageMs: number }>(sql`
    with due as (
      select environment_id from environment_deletions
      where completed_at is null and (leased_until is null or leased_until <= ${clock()})
      order by requested_at limit 1 for update skip locked)
    update environment_deletions d set lease = ${lease}, leased_until = ${dueAfter(clock, leaseMs)}
    from due, environments e where d.environment_id = due.environment_id and e.id = d.environment_id
    returning ${columns}, e.organization_id as "organizationId",
      (extract(epoch from ${clock()} - d.requested_at) * 1000)::float8 as "ageMs"`)
  if (row === undefined) return undefined
  const { organizationId, ageMs, ...rest } = row
  const environment = { id: row.environmentId, organizationId, name: row.name }
  return { ...deletionOf(rest), environment, lease, ageMs }
}

/** False where the turn was another's by then. After `leaseMs` others may go on, should this node not. */
export async function advanceDeletion(
  tx: Tx,
  { environment, lease }: LeasedDeletion,
  progress: { phase: string; removed: Readonly<Record<string, number>>; leaseMs: number; completedAt: Date | null },
  clock: Clock,
): Promise<boolean> {
  const count = await tx.run(sql`
    update environment_deletions set phase = ${progress.phase}, removed = ${json(progress.removed)}::jsonb,
      leased_until = ${dueAfter(clock, progress.leaseMs)}, completed_at = ${progress.completedAt}
    where environment_id = ${environment.id} and lease = ${lease}`)
  return count > 0
}
