// The versions of one workflow: what it was, newest first, and as it was at one of them.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { WorkflowRow } from './workflows.ts'
import { workflowColumns } from './workflows.ts'

export interface VersionEntry {
  readonly number: number
  readonly name: string
  readonly identifier: string
  readonly steps: number
  readonly isCurrent: boolean
  readonly createdAt: Date
}

export async function listVersions(
  db: Sql,
  environment: Environment,
  { workflowId, offset, limit }: { workflowId: string; offset: number; limit: number },
): Promise<VersionEntry[]> {
  return db.rows<VersionEntry>(sql`
    select v.number, v.definition->>'name' as name, coalesce(v.definition->>'identifier', w.identifier) as identifier,
           jsonb_array_length(v.definition->'steps') as steps, v.id = w.version_id as "isCurrent", v.created_at as "createdAt"
    from workflows w
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.workflow_id = w.id
      order by found.number desc offset ${offset} limit ${limit}) as v
    where w.environment_id = ${environment.id} and w.id = ${workflowId}
    order by v.number desc`)
}

export interface WorkflowAtVersion extends WorkflowRow {
  readonly number: number
  readonly saved_at: Date
}

/** A workflow that is not deleted, as it was at a version; at its current one without a number. */
export async function findWorkflowAt(
  db: Sql,
  environment: Environment,
  workflowId: string,
  number: number | undefined,
): Promise<WorkflowAtVersion | undefined> {
  const which: Statement = number === undefined ? sql`found.id = w.version_id` : sql`found.number = ${number}`
  return db.row<WorkflowAtVersion>(sql`
    select ${workflowColumns}, v.number, v.created_at as saved_at
    from workflows w
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.workflow_id = w.id and ${which} limit 1) as v
    cross join lateral (select name from notification_groups
      where environment_id = ${environment.id} and id = w.group_id limit 1) as g
    where w.environment_id = ${environment.id} and w.id = ${workflowId} and w.deleted_at is null`)
}

/**
 * Only the newest versions are searched for a removed step: the workflow is locked meanwhile, and each definition may have half a
 * megabyte. A step that is restored was usually removed a few versions ago.
 */
const formerVersionsMax = 20

/** Steps with these ids as the newest version that had them had them. */
export async function findFormerSteps(
  db: Sql,
  environment: Environment,
  { workflowId, ids }: { workflowId: string; ids: readonly string[] },
): Promise<NotificationStep[]> {
  const found = await db.rows<{ step: NotificationStep }>(sql`
    select distinct on (step->>'_id') step
    from (select number, definition from workflow_versions
      where environment_id = ${environment.id} and workflow_id = ${workflowId}
      order by number desc limit ${formerVersionsMax}) as v
    cross join lateral jsonb_array_elements(v.definition->'steps') as step
    where step->>'_id' = any(${ids}::text[])
    order by step->>'_id', v.number desc`)
  return found.map(({ step }) => step)
}
