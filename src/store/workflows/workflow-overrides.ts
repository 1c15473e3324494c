// The workflow_overrides table: what a tenant wants otherwise of a workflow.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql, unseen } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { PreferenceSettings } from '../../domain/workflows/workflow.ts'
import type { StoredOverride, WorkflowOverride } from '../../domain/workflows/workflow-override.ts'

const decidedBy = sql`o.id as "_id", o.workflow_id as "workflowId", o.tenant_id as "tenantId", o.active,
      o.preference_settings as "preferenceSettings"`

/** What these tenants want otherwise of these workflows, each by its key: a tenant may have many, and so may an environment. */
export async function findWorkflowOverrides(
  db: Sql,
  environment: Environment,
  wanted: readonly { workflowId: string; tenantId: string }[],
): Promise<WorkflowOverride[]> {
  if (wanted.length === 0) return []
  const [workflowIds, tenantIds] = [wanted.map((one) => one.workflowId), wanted.map((one) => one.tenantId)]
  const statement = sql`
    select ${decidedBy}
    from unnest(${unseen(sql`${workflowIds}::uuid[]`)}, ${tenantIds}::uuid[]) as asked (workflow_id, tenant_id)
    cross join lateral (select * from workflow_overrides found
      where found.environment_id = ${environment.id} and found.workflow_id = asked.workflow_id
        and found.tenant_id = asked.tenant_id limit 1) as o`
  return db.rows<WorkflowOverride>(prepared('workflow-overrides', statement))
}

export interface NamedOverride {
  readonly workflowId: string
  readonly tenantId: string
  readonly override: WorkflowOverride | null
}

/** The same by the names that events give them; for each pair that exists also that there is none. */
export async function findNamedOverrides(
  db: Sql,
  environment: Environment,
  named: readonly { workflow: string; tenant: string }[],
): Promise<NamedOverride[]> {
  if (named.length === 0) return []
  const [workflows, tenants] = [named.map((one) => one.workflow), named.map((one) => one.tenant)]
  const statement = sql`
    select ${decidedBy}, w.id as named_workflow_id, t.id as named_tenant_id
    from unnest(${unseen(sql`${workflows}::text[]`)}, ${tenants}::text[]) as asked (workflow, tenant)
    cross join lateral (select id from workflows
      where environment_id = ${environment.id} and identifier = asked.workflow and deleted_at is null limit 1) as w
    cross join lateral (select id from tenants
      where environment_id = ${environment.id} and identifier = asked.tenant limit 1) as t
    left join lateral (select * from workflow_overrides found
      where found.environment_id = ${environment.id} and found.workflow_id = w.id and found.tenant_id = t.id
      limit 1) as o on true`
  const rows = await db.rows<WorkflowOverride & { named_workflow_id: string; named_tenant_id: string }>(
    prepared('workflow-overrides-named', statement),
  )
  return rows.map(({ named_workflow_id: workflowId, named_tenant_id: tenantId, ...override }) => ({
    workflowId,
    tenantId,
    override: override._id === null ? null : override,
  }))
}

interface OverrideRow {
  readonly id: string
  readonly workflow_id: string
  readonly workflow_identifier: string
  readonly tenant_id: string
  readonly tenant_identifier: string
  readonly active: boolean | null
  readonly preference_settings: Partial<PreferenceSettings> | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** What the caller may say; null leaves the workflow's own. */
export interface OverrideChange {
  readonly active?: boolean | null
  readonly preferenceSettings?: Partial<PreferenceSettings> | null
}

/** False when the tenant has one for the workflow already. */
export async function insertOverride(
  tx: Tx,
  environment: Environment,
  override: OverrideChange & { id: string; workflowId: string; tenantId: string; now: Date },
): Promise<boolean> {
  const count = await tx.run(sql`
    insert into workflow_overrides (environment_id, id, workflow_id, tenant_id, active, preference_settings, created_at,
                                    updated_at)
    values (${environment.id}, ${override.id}, ${override.workflowId}, ${override.tenantId}, ${override.active ?? null},
            ${json(override.preferenceSettings)}::jsonb, ${override.now}, ${override.now})
    on conflict (environment_id, workflow_id, tenant_id) do nothing`)
  return count > 0
}

/** Changes what is given. */
export async function updateOverride(
  tx: Tx,
  environment: Environment,
  id: string,
  change: OverrideChange & { now: Date },
): Promise<void> {
  await tx.run(sql`
    update workflow_overrides set
      active = case when ${change.active !== undefined} then ${change.active ?? null}::boolean else active end,
      preference_settings = case when ${change.preferenceSettings !== undefined}
        then ${json(change.preferenceSettings)}::jsonb else preference_settings end,
      updated_at = ${change.now}
    where environment_id = ${environment.id} and id = ${id}`)
}

/** No one else changes or deletes it before the transaction ends. */
export async function lockOverride(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`
    select 1 from workflow_overrides where environment_id = ${environment.id} and id = ${id} for no key update`)
}

export async function deleteOverride(tx: Tx, environment: Environment, id: string): Promise<boolean> {
  return (await tx.run(sql`delete from workflow_overrides where environment_id = ${environment.id} and id = ${id}`)) > 0
}

/** With the workflow and the tenant, each by key: an override of one that was deleted is no longer shown. */
function shown(environment: Environment): Statement {
  return sql`
    select o.id, o.workflow_id, w.identifier as workflow_identifier, o.tenant_id, t.identifier as tenant_identifier,
           o.active, o.preference_settings, o.created_at, o.updated_at
    from workflow_overrides o
    cross join lateral (select identifier from workflows
      where environment_id = ${environment.id} and id = o.workflow_id and deleted_at is null limit 1) as w
    cross join lateral (select identifier from tenants
      where environment_id = ${environment.id} and id = o.tenant_id limit 1) as t
    where o.environment_id = ${environment.id}`
}

export async function findOverride(
  db: Sql,
  environment: Environment,
  asked: { id: string } | { workflowId: string; tenantId: string },
): Promise<StoredOverride | undefined> {
  const condition =
    'id' in asked
      ? sql`o.id = ${asked.id}`
      : sql`o.workflow_id = ${asked.workflowId} and o.tenant_id = ${asked.tenantId}`
  const row = await db.row<OverrideRow>(sql`${shown(environment)} and ${condition}`)
  return row && overrideOf(environment, row)
}

/** Newest first. */
export async function listOverrides(
  db: Sql,
  environment: Environment,
  page: { offset: number; limit: number },
): Promise<StoredOverride[]> {
  const rows = await db.rows<OverrideRow>(
    sql`${shown(environment)} order by o.id desc offset ${page.offset} limit ${page.limit}`,
  )
  return rows.map((row) => overrideOf(environment, row))
}

function overrideOf(environment: Environment, row: OverrideRow): StoredOverride {
  return {
    _id: row.id,
    workflowId: row.workflow_id,
    workflowIdentifier: row.workflow_identifier,
    tenantId: row.tenant_id,
    tenantIdentifier: row.tenant_identifier,
    active: row.active,
    preferenceSettings: row.preference_settings,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
