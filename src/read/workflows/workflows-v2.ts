// Workflows as API v2 reads them: one by id, identifier or slug, one of its steps, and the list with its filters.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mapInTurns } from '../../domain/turn.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import { idOfSlug } from '../../domain/workflows/slug.ts'
import type { ListedWorkflowV2, StepV2, WorkflowV2 } from '../../domain/workflows/workflow-v2.ts'
import { listedV2Of, stepsV2Of, workflowV2Of } from '../../domain/workflows/workflow-v2.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import type { WorkflowRow } from '../../store/workflows/workflows.ts'
import { findTriggeredAt, findWorkflow, joinedToWorkflows, workflowColumns } from '../../store/workflows/workflows.ts'
import { cappedCount } from '../page/offset-page.ts'
import { weighPage } from '../page/page-weight.ts'
import { workflowFilterOf } from './workflows.ts'

export const workflowOrders = ['createdAt', 'updatedAt', 'name'] as const
export const workflowStatuses = ['ACTIVE', 'INACTIVE', 'ERROR'] as const

export interface WorkflowV2Query {
  readonly limit: number
  readonly offset: number
  readonly orderBy: (typeof workflowOrders)[number]
  readonly orderDirection: 'ASC' | 'DESC'
  readonly query?: string
  readonly tags?: readonly string[]
  readonly status?: readonly (typeof workflowStatuses)[number][]
}

async function findWorkflowV2(db: Sql, environment: Environment, name: string): Promise<WorkflowRow | undefined> {
  const found = await findWorkflow(db, environment, name)
  if (found !== undefined) return found
  const slugged = idOfSlug('wf', name)
  return slugged === undefined ? undefined : findWorkflow(db, environment, slugged)
}

/** As this principal may see it. */
export async function workflowV2For(db: Sql, principal: Principal, name: string): Promise<WorkflowV2 | undefined> {
  const { environment } = principal
  const row = await findWorkflowV2(db, environment, name)
  if (row === undefined) return undefined
  const [triggered, integrationStatuses] = await Promise.all([
    findTriggeredAt(db, environment, [row.id]),
    listIntegrationStatuses(db, environment),
  ])
  const shown = { ...row, definition: shownTo(principal, row.definition) }
  return workflowV2Of({ ...shown, triggered_at: triggered.get(row.id) ?? null }, integrationStatuses)
}

/** By id, stepId or slug; as this principal may see it. */
export async function stepV2For(
  db: Sql,
  principal: Principal,
  { workflowId, stepId }: { workflowId: string; stepId: string },
): Promise<StepV2 | 'no workflow' | 'no step'> {
  const { environment } = principal
  const row = await findWorkflowV2(db, environment, workflowId)
  if (row === undefined) return 'no workflow'
  const slugged = idOfSlug('st', stepId)
  const shown = { ...row, definition: shownTo(principal, row.definition) }
  const steps = stepsV2Of(shown, await listIntegrationStatuses(db, environment))
  return (
    steps.find((step) => step._id === stepId || step.stepId === stepId) ??
    steps.find((step) => step._id === slugged) ??
    'no step'
  )
}

export async function workflowsV2Page(
  db: Sql,
  environment: Environment,
  query: WorkflowV2Query,
): Promise<{ workflows: ListedWorkflowV2[]; totalCount: number }> {
  const from = sql`from workflows
    where environment_id = ${environment.id} and deleted_at is null and ${workflowFilterOf(query)} and ${standingOf(query)}`
  const { listed, order } = pageStatement(environment, query, from)
  await weighPage(db, query.limit, sql`select length(v.definition::text) as characters ${listed}`)
  const [rows, integrationStatuses, { totalCount }] = await Promise.all([
    db.rows<WorkflowRow>(sql`select ${workflowColumns} ${listed} order by ${order}`),
    listIntegrationStatuses(db, environment),
    cappedCount(db, from),
  ])
  const triggered = await findTriggeredAt(
    db,
    environment,
    rows.map((row) => row.id),
  )
  return {
    workflows: await mapInTurns(rows, (row) =>
      listedV2Of({ ...row, triggered_at: triggered.get(row.id) ?? null }, integrationStatuses),
    ),
    totalCount,
  }
}

/** Nothing stored can never run, so none is in error. */
function standingOf({ status }: WorkflowV2Query): Statement {
  if (status === undefined || status.length === 0) return allOf([])
  return sql`active = any(${status.flatMap((one) => (one === 'ERROR' ? [] : [one === 'ACTIVE']))}::boolean[])`
}

/** Of the columns of a workflow called `w`. Ids are in the order of creation. */
const orders: Readonly<Record<WorkflowV2Query['orderBy'], Record<'ASC' | 'DESC', Statement>>> = {
  createdAt: { ASC: sql`w.id asc`, DESC: sql`w.id desc` },
  updatedAt: { ASC: sql`w.updated_at asc, w.id asc`, DESC: sql`w.updated_at desc, w.id desc` },
  name: { ASC: sql`w.name asc, w.id asc`, DESC: sql`w.name desc, w.id desc` },
}

/** What is selected from, and in which order. */
function pageStatement(
  environment: Environment,
  { limit, offset, orderBy, orderDirection, query }: WorkflowV2Query,
  from: Statement,
): { listed: Statement; order: Statement } {
  const order = orders[orderBy][orderDirection]
  const slice = sql`order by ${order} offset ${offset} limit ${limit}`
  // As in the list of API v1. An environment holds few enough to be sorted by what has no index.
  const page = query
    ? sql`with found as materialized (select * ${from}) select w.* from found w ${slice}`
    : sql`select w.* from (select * ${from}) as w ${slice}`
  return { listed: sql`from (${page}) as w ${joinedToWorkflows(environment)}`, order }
}
