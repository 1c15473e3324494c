// The whole configuration of an environment: for files, and for copying it to another environment. Never a credential.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Problem } from '../../domain/problem.ts'
import { invalidField } from '../../domain/problem.ts'
import { mapInTurns } from '../../domain/turn.ts'
import type { Feed } from '../../domain/workflows/feed.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { layoutsMax } from '../../domain/workflows/layout.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import { findWorkflows } from '../../store/workflows/workflows.ts'
import { writtenCharactersMax } from '../page/page-weight.ts'
import { workflowWith } from './workflows.ts'

/** Read at once: each has half a megabyte at the most. */
const setSize = 25
const feedsMax = 1_000

/** All of them, also where some are to be deleted, or those with these identifiers. */
export type CalledWorkflows = readonly string[] | 'all' | 'all for deletion'

/** All of them or those that are called so, by identifier, in its order. They are read in sets. */
export async function workflowsCalled(db: Sql, environment: Environment, called: CalledWorkflows): Promise<Workflow[]> {
  const named = typeof called === 'string' ? sql`true` : sql`w.identifier = any(${called}::text[])`
  const { ids, characters } = await weighedIds(db, environment, named)
  if (characters > writtenCharactersMax) throw tooLong(called, ids.length, characters)
  const statuses = await listIntegrationStatuses(db, environment)
  const all: Workflow[] = []
  for (let at = 0; at < ids.length; at += setSize) {
    const rows = await findWorkflows(db, environment, ids.slice(at, at + setSize))
    all.push(...(await mapInTurns(rows, (row) => workflowWith(environment, row, statuses))))
  }
  const name = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? ''
  return all.sort((a, b) => (name(a) < name(b) ? -1 : 1))
}

async function weighedIds(
  db: Sql,
  environment: Environment,
  named: Statement,
): Promise<{ ids: string[]; characters: number }> {
  const found = await db.row<{ ids: string[]; characters: number }>(sql`
    select coalesce(array_agg(w.id order by w.id), '{}') as ids, coalesce(sum(length(v.definition::text)), 0)::bigint as characters
    from workflows w
    cross join lateral (select definition from workflow_versions
      where environment_id = ${environment.id} and id = w.version_id limit 1) as v
    where w.environment_id = ${environment.id} and w.deleted_at is null and ${named}`)
  return found ?? { ids: [], characters: 0 }
}

/** More than fits into memory, or into an answer. */
function tooLong(called: CalledWorkflows, count: number, characters: number): Problem {
  const have = `have ${characters} characters, more than ${writtenCharactersMax}`
  return called === 'all for deletion'
    ? invalidField(
        'deleteWorkflows',
        `deleteWorkflows must be absent: the ${count} workflows of this environment ${have}; delete workflows one by one`,
      )
    : invalidField(
        'workflows',
        `workflows must be fewer: these ${count} ${have}; name some of them, and call several times`,
      )
}

export const allLayouts = (db: Sql, environment: Environment): Promise<Layout[]> =>
  listLayouts(db, environment, { offset: 0, limit: layoutsMax, oldestFirst: true })

export const allFeeds = (db: Sql, environment: Environment): Promise<Feed[]> =>
  listFeeds(db, environment, { offset: 0, limit: feedsMax })
