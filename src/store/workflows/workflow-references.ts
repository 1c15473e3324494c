// Which workflows name a layout, a feed or a variable in their current version.
import type { Sql } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface NamedWorkflow {
  readonly name: string
  readonly identifier: string
}

const paths = {
  layoutId: '$.steps[*].template.layoutId ? (@ == $names[*])',
  feedId: '$.steps[*].template.feedId ? (@ == $names[*])',
} as const
const variantPaths = {
  layoutId: '$.steps[*].variants[*].template.layoutId ? (@ == $names[*])',
  feedId: '$.steps[*].variants[*].template.feedId ? (@ == $names[*])',
} as const

/** Searches the steps and variants of all workflows: used for deletions and lookups. */
export async function workflowsNaming(
  db: Sql,
  environment: Environment,
  asked: { member: 'layoutId' | 'feedId'; names: readonly string[]; activeOnly: boolean; limit: number },
): Promise<NamedWorkflow[]> {
  const names = json({ names: asked.names })
  return db.rows<NamedWorkflow>(sql`
    select w.name, w.identifier from workflows w
    cross join lateral (select definition from workflow_versions
      where environment_id = ${environment.id} and id = w.version_id limit 1) as v
    where w.environment_id = ${environment.id} and w.deleted_at is null and (w.active or not ${asked.activeOnly})
      and (jsonb_path_exists(v.definition, ${paths[asked.member]}::jsonpath, ${names}::jsonb)
        or jsonb_path_exists(v.definition, ${variantPaths[asked.member]}::jsonpath, ${names}::jsonb))
    order by w.identifier limit ${asked.limit}`)
}

/** In any text of their steps, as `env.KEY`. */
export async function workflowsUsingVariable(
  db: Sql,
  environment: Environment,
  key: string,
  limit: number,
): Promise<NamedWorkflow[]> {
  // A key consists of letters, digits and underscores: nothing of it is an operator.
  const pattern = `\\menv\\s*\\.\\s*${key}\\M`
  return db.rows<NamedWorkflow>(sql`
    select w.name, w.identifier from workflows w
    cross join lateral (select definition from workflow_versions
      where environment_id = ${environment.id} and id = w.version_id limit 1) as v
    where w.environment_id = ${environment.id} and w.deleted_at is null and v.definition->>'steps' ~ ${pattern}
    order by w.identifier limit ${limit}`)
}
