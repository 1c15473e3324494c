// The list of a workflow's versions, newest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { VersionEntry } from '../../store/workflows/workflow-versions.ts'
import { listVersions } from '../../store/workflows/workflow-versions.ts'
import { findWorkflow } from '../../store/workflows/workflows.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

/** Undefined where there is no such workflow. */
export async function versionsPage(
  db: Sql,
  environment: Environment,
  { idOrIdentifier, ...query }: { idOrIdentifier: string; page: number; limit: number },
): Promise<OffsetPage<VersionEntry> | undefined> {
  const workflow = await findWorkflow(db, environment, idOrIdentifier)
  if (workflow === undefined) return undefined
  const { page, limit } = query
  const [rows, count] = await Promise.all([
    listVersions(db, environment, { workflowId: workflow.id, offset: page * limit, limit: limit + 1 }),
    cappedCount(
      db,
      sql`from workflow_versions where environment_id = ${environment.id} and workflow_id = ${workflow.id}`,
    ),
  ])
  return offsetPage(rows, query, count)
}
