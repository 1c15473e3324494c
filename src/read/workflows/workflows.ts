// Workflows as they are read: one by id or identifier, and the list with its filters, newest first; secrets are for full keys only.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { IntegrationStatus } from '../../domain/delivery/integration.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mapInTurns } from '../../domain/turn.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { integrationStatusOf } from '../../domain/workflows/workflow-integrations.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import type { WorkflowRow } from '../../store/workflows/workflows.ts'
import { findWorkflow, joinedToWorkflows, workflowColumns, workflowOf } from '../../store/workflows/workflows.ts'
import type { Contains } from '../page/contains.ts'
import { contains } from '../page/contains.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'
import { weighPage } from '../page/page-weight.ts'

export interface WorkflowQuery {
  readonly page: number
  readonly limit: number
  /** Contained in the name or the identifier, case-sensitive. */
  readonly query?: string
  /** Any of them. */
  readonly tags?: readonly string[]
}

export async function workflowFor(
  db: Sql,
  principal: Principal,
  idOrIdentifier: string,
): Promise<Workflow | undefined> {
  const found = await retrieveWorkflow(db, principal.environment, idOrIdentifier)
  return found && shownTo(principal, found)
}

export async function workflowsFor(db: Sql, principal: Principal, query: WorkflowQuery): Promise<OffsetPage<Workflow>> {
  const { environment } = principal
  const { listed } = pageStatement(environment, query, query.limit)
  const characters = sql`select length(v.definition::text) as characters ${listed}`
  await weighPage(db, query.limit, characters)
  const page = await workflowsPage(db, environment, query)
  return { ...page, data: await mapInTurns(page.data, (workflow) => shownTo(principal, workflow)) }
}

/** Whole, with its secrets. */
export async function retrieveWorkflow(
  db: Sql,
  environment: Environment,
  idOrIdentifier: string,
): Promise<Workflow | undefined> {
  const row = await findWorkflow(db, environment, idOrIdentifier)
  return row && workflowWith(environment, row, await listIntegrationStatuses(db, environment))
}

/** Whole, with their secrets. */
export async function workflowsPage(
  db: Sql,
  environment: Environment,
  query: WorkflowQuery,
): Promise<OffsetPage<Workflow>> {
  const [rows, integrationStatuses, count] = await Promise.all([
    findRows(db, environment, query),
    listIntegrationStatuses(db, environment),
    cappedCount(
      db,
      sql`from workflows where environment_id = ${environment.id} and deleted_at is null and ${workflowFilterOf(query)}`,
    ),
  ])
  const workflows = await mapInTurns(rows, (row) => workflowWith(environment, row, integrationStatuses))
  return offsetPage(workflows, query, count)
}

async function findRows(db: Sql, environment: Environment, query: WorkflowQuery): Promise<WorkflowRow[]> {
  const { listed, order } = pageStatement(environment, query, query.limit + 1)
  return db.rows<WorkflowRow>(sql`select ${workflowColumns} ${listed} ${order}`)
}

/** What is selected from, and in which order. */
function pageStatement(
  environment: Environment,
  query: WorkflowQuery,
  limit: number,
): { listed: Statement; order: Statement } {
  const from = sql`from workflows
    where environment_id = ${environment.id} and deleted_at is null and ${workflowFilterOf(query)}`
  const slice = sql`order by id desc offset ${query.page * query.limit} limit ${limit}`
  // A search finds its rows by its own index and sorts them then; left to choose, the planner might walk the whole list.
  const page = query.query
    ? sql`with found as materialized (select * ${from}) select * from found ${slice}`
    : sql`select * ${from} ${slice}`
  return { listed: sql`from (${page}) as w ${joinedToWorkflows(environment)}`, order: sql`order by w.id desc` }
}

/** An empty filter is none: forms send their empty fields too. */
export function workflowFilterOf({ query, tags }: Pick<WorkflowQuery, 'query' | 'tags'>): Statement {
  return allOf([
    ...(tags === undefined || tags.length === 0 ? [] : [sql`tags && ${tags}::text[]`]),
    ...(query ? searchOf(query) : []),
  ])
}

function searchOf(query: string): Statement[] {
  const grams = sql`search_grams(name, identifier)`
  const inColumn = (column: Statement): Contains => contains(column, query, grams)
  const [name, identifier] = [inColumn(sql`name`), inColumn(sql`identifier`)]
  // One index holds the runs of both, so what it is asked is the same for either.
  return [name.indexed, sql`(${name.condition} or ${identifier.condition})`]
}

/** With which of its channels can send. */
export function workflowWith(
  environment: Environment,
  row: WorkflowRow,
  integrationStatuses: readonly IntegrationStatus[],
): Workflow {
  const workflow = workflowOf(environment, row)
  return { ...workflow, workflowIntegrationStatus: integrationStatusOf(workflow.steps, integrationStatuses) }
}
