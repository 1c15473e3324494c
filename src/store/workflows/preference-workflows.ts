// Workflows as preferences need them: without their steps, which are large.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Severity } from '../../domain/workflows/workflow.ts'

export const criticalities = ['nonCritical', 'critical', 'all'] as const
export type Criticality = (typeof criticalities)[number]

export interface PreferenceWorkflowsPage {
  readonly criticality: Criticality
  /** Only those with one of these. */
  readonly tags?: readonly string[] | undefined
  readonly severities?: readonly Severity[] | undefined
  /** Newest first unless it is said otherwise. */
  readonly oldestFirst?: boolean
  readonly offset: number
  readonly limit: number
}

const columns = sql`w.id, w.identifier, w.name, w.tags, w.updated_at as "updatedAt", v.critical,
  v.definition->>'severity' as severity, v.definition->'data' as data, v.definition->'preferenceSettings' as settings,
  v.channels as "stepTypes"`

function withVersion(environment: Environment): Statement {
  return sql`cross join lateral (
    select definition, channels, (definition->>'critical')::boolean as critical from workflow_versions
    where environment_id = ${environment.id} and id = w.version_id limit 1) as v`
}

/** Those that can be triggered. */
export async function listPreferenceWorkflows(
  db: Sql,
  environment: Environment,
  { criticality, tags, severities, oldestFirst, offset, limit }: PreferenceWorkflowsPage,
): Promise<PreferenceWorkflow[]> {
  return db.rows<PreferenceWorkflow>(sql`
    select ${columns} from workflows w ${withVersion(environment)}
    where w.environment_id = ${environment.id} and w.deleted_at is null and w.active
      and (${criticality} = 'all' or v.critical = (${criticality} = 'critical'))
      and ${tags === undefined ? sql`true` : sql`w.tags && ${tags}::text[]`}
      and ${severities === undefined ? sql`true` : sql`v.definition->>'severity' = any(${severities}::text[])`}
    order by ${oldestFirst === true ? sql`w.id` : sql`w.id desc`} offset ${offset} limit ${limit}`)
}

/** Which of these internal ids are those of workflows that were not deleted. */
export async function findWorkflowsAmong(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from workflows
    where environment_id = ${environment.id} and id = any(${[...new Set(ids)]}::uuid[]) and deleted_at is null`)
  return new Set(rows.map(({ id }) => id))
}

/** By internal id or identifier; the id takes precedence if a text could be either. Deleted ones are excluded. */
export async function findPreferenceWorkflows(
  db: Sql,
  environment: Environment,
  asked: readonly string[],
): Promise<Map<string, PreferenceWorkflow>> {
  const names = [...new Set(asked)]
  const ids = names.map((name) => (isUuid(name) ? name : null))
  const rows = await db.rows<PreferenceWorkflow & { asked: string }>(sql`
    select ${columns}, asked.name as asked from unnest(${names}::text[], ${ids}::uuid[]) as asked (name, id)
    cross join lateral (
      select * from (
        select 1 as place, * from workflows byid
        where byid.environment_id = ${environment.id} and byid.id = asked.id and byid.deleted_at is null
        union all
        select 2, * from workflows byname
        where byname.environment_id = ${environment.id} and byname.identifier = asked.name
          and byname.deleted_at is null) as either order by place limit 1) as w
    ${withVersion(environment)}`)
  return new Map(rows.map(({ asked: name, ...workflow }) => [name, workflow]))
}
