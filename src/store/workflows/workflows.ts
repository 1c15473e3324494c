// The workflows and workflow_versions tables: what is triggered, and its content at one time.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql, unseen } from '../../db/sql.ts'
import { timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { GivenPreferences } from '../../domain/preferences/workflow-preferences.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Workflow, WorkflowDefinition, WorkflowOrigin, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import { channelsOf } from '../../domain/workflows/workflow.ts'
import { groupOf } from './notification-groups.ts'

/** A definition with what was found in its templates when it was saved: reads need not parse them again. */
export interface StoredDefinition extends WorkflowDefinition {
  readonly variables: readonly string[]
  readonly subscriberVariables: readonly string[]
  /** As given to API v2; what counts is in the settings derived from them. */
  readonly preferences?: GivenPreferences
}

/** A workflow as it is stored, with its current version. */
export interface WorkflowRow {
  readonly id: string
  readonly identifier: string
  readonly active: boolean
  readonly group_id: string
  readonly group_name: string
  readonly version_id: string
  readonly origin: WorkflowOrigin
  readonly definition: StoredDefinition
  readonly created_by: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly deleted_at: Date | null
  readonly deleted_by: string | null
}

/** What a trigger needs to know of the workflow it names. */
export interface TriggeredWorkflow {
  readonly id: string
  readonly identifier: string
  readonly active: boolean
  readonly versionId: string
}

/** Those of the identifiers that are there; deleted workflows are not. */
export async function findWorkflowsByIdentifier(
  db: Sql,
  environment: Environment,
  identifiers: readonly string[],
): Promise<TriggeredWorkflow[]> {
  return db.rows<TriggeredWorkflow>(
    prepared(
      'workflows-by-identifier',
      sql`select w.id, w.identifier, w.active, w.version_id as "versionId"
          from unnest(${unseen(sql`${identifiers}::text[]`)}) as asked (identifier)
          cross join lateral (select * from workflows found
            where found.environment_id = ${environment.id} and found.identifier = asked.identifier
              and found.deleted_at is null limit 1) as w`,
    ),
  )
}

/** Enough to find one that was misspelt. */
const listedIdentifiersMax = 1_000

export async function listIdentifiers(db: Sql, environment: Environment): Promise<string[]> {
  const rows = await db.rows<{ identifier: string }>(sql`
    select w.identifier from workflows w where w.environment_id = ${environment.id} and w.deleted_at is null
    order by w.identifier limit ${listedIdentifiersMax}`)
  return rows.map(({ identifier }) => identifier)
}

/**
 * The identifier at the time of a version `v` of the workflow `w`. It lies in the definition, and is of no use there.
 * Versions from before it was stored there have the workflow's own.
 */
export const pinnedIdentifier = sql`coalesce(v.definition->>'identifier', w.identifier)`

/** Versions by their ids, including those of deleted workflows: a run in flight keeps the version it started with. */
export async function findVersions(
  db: Sql,
  environment: Environment,
  versionIds: readonly string[],
): Promise<(WorkflowVersion & { readonly origin: WorkflowOrigin })[]> {
  return db.rows<WorkflowVersion & { readonly origin: WorkflowOrigin }>(
    prepared(
      'workflow-versions-find',
      sql`select v.id, v.workflow_id as "workflowId", ${pinnedIdentifier} as identifier, v.definition, w.origin
          from unnest(${versionIds}::uuid[]) as asked (id)
          cross join lateral (select * from workflow_versions found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as v
          cross join lateral (select * from workflows found
            where found.environment_id = ${environment.id} and found.id = v.workflow_id limit 1) as w`,
    ),
  )
}

/** What a row of workflows, called `w`, is completed to: its version and its group, each by key. */
export const workflowColumns = sql`w.id, ${pinnedIdentifier} as identifier, w.active, w.group_id, w.version_id, w.origin, w.created_by,
  w.created_at, w.updated_at, w.deleted_at, w.deleted_by, v.definition - 'identifier' as definition, g.name as group_name`

export function joinedToWorkflows(environment: Environment): Statement {
  return sql`
    cross join lateral (select definition from workflow_versions
      where environment_id = ${environment.id} and id = w.version_id limit 1) as v
    cross join lateral (select name from notification_groups
      where environment_id = ${environment.id} and id = w.group_id limit 1) as g`
}

/** By internal id or by identifier; the id wins where a text could be either. */
export async function findWorkflow(
  db: Sql,
  environment: Environment,
  idOrIdentifier: string,
): Promise<WorkflowRow | undefined> {
  const find = (condition: Statement): Promise<WorkflowRow | undefined> =>
    db.row<WorkflowRow>(sql`
      select ${workflowColumns} from workflows w ${joinedToWorkflows(environment)}
      where w.environment_id = ${environment.id} and w.deleted_at is null and ${condition}`)
  const byId = isUuid(idOrIdentifier) ? await find(sql`w.id = ${idOrIdentifier}`) : undefined
  return byId ?? find(sql`w.identifier = ${idOrIdentifier}`)
}

/** Those of the internal ids that are there. */
export async function findWorkflows(db: Sql, environment: Environment, ids: readonly string[]): Promise<WorkflowRow[]> {
  return db.rows<WorkflowRow>(sql`
    select ${workflowColumns} from workflows w ${joinedToWorkflows(environment)}
    where w.environment_id = ${environment.id} and w.deleted_at is null and w.id = any(${ids}::uuid[])
    order by w.id`)
}

/** As `findWorkflow`; no one else changes it before the transaction ends. */
export async function lockWorkflow(
  tx: Tx,
  environment: Environment,
  idOrIdentifier: string,
): Promise<WorkflowRow | undefined> {
  const found = await findWorkflow(tx, environment, idOrIdentifier)
  if (found === undefined) return undefined
  await tx.run(sql`
    select 1 from workflows where environment_id = ${environment.id} and id = ${found.id} for no key update`)
  // Read again: whoever held the lock before us may have changed it.
  return findWorkflow(tx, environment, found.id)
}

/** Runs are pinned to versions; a workflow that was saved more often since its last run counts as not triggered. */
const versionsAskedMax = 20

/** When each of the workflows was last triggered; those that never were are not among them. */
export async function findTriggeredAt(
  db: Sql,
  environment: Environment,
  workflowIds: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await db.rows<{ id: string; notification_id: string }>(sql`
    select asked.id, n.id as notification_id
    from unnest(${workflowIds}::uuid[]) as asked (id)
    cross join lateral (
      select n.id
      from (select v.id from workflow_versions v
            where v.environment_id = ${environment.id} and v.workflow_id = asked.id
            order by v.number desc limit ${versionsAskedMax}) as v
      cross join lateral (select n.id from notifications n
        where n.environment_id = ${environment.id} and n.version_id = v.id order by n.id desc limit 1) as n
      order by n.id desc limit 1) as n`)
  return new Map(rows.map((row) => [row.id, timestampOfId(row.notification_id)]))
}

/** How many there are, counted no further than `max`. */
export async function countWorkflows(db: Sql, environment: Environment, max: number): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from (
      select 1 from workflows where environment_id = ${environment.id} and deleted_at is null limit ${max}) as counted`)
  return row?.count ?? 0
}

interface WorkflowFields {
  readonly id: string
  readonly identifier: string
  readonly active: boolean
  readonly groupId: string
  readonly versionId: string
  readonly origin: WorkflowOrigin
  /** The current version's: the columns of its name and tags are for the list's filters. */
  readonly definition: StoredDefinition
  readonly now: Date
}

/** False when the identifier is taken. */
export async function insertWorkflow(
  tx: Tx,
  environment: Environment,
  workflow: WorkflowFields & { createdBy: string },
): Promise<boolean> {
  const { definition, now } = workflow
  const count = await tx.run(sql`
    insert into workflows (environment_id, id, identifier, name, tags, active, group_id, version_id, origin, created_by,
                           created_at, updated_at)
    values (${environment.id}, ${workflow.id}, ${workflow.identifier}, ${definition.name}, ${definition.tags},
            ${workflow.active}, ${workflow.groupId}, ${workflow.versionId}, ${workflow.origin}, ${workflow.createdBy},
            ${now}, ${now})
    on conflict (environment_id, identifier) where deleted_at is null do nothing`)
  return count > 0
}

/**
 * The workflow must be locked, or be new: the version's number is the next one. The identifier is in the definition, so
 * that what is cached by a version's id stays right when the workflow is renamed.
 */
export async function insertVersion(
  tx: Tx,
  environment: Environment,
  version: { id: string; workflowId: string; identifier: string; definition: StoredDefinition; now: Date },
): Promise<void> {
  const definition = { ...version.definition, identifier: version.identifier }
  await tx.run(sql`
    insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
    select ${environment.id}, ${version.id}, ${version.workflowId}, coalesce(max(number), 0) + 1,
           ${json(definition)}::jsonb, ${channelsOf(version.definition.steps)}::text[], ${version.now}::timestamptz
    from workflow_versions where environment_id = ${environment.id} and workflow_id = ${version.workflowId}`)
}

export async function updateWorkflow(tx: Tx, environment: Environment, workflow: WorkflowFields): Promise<void> {
  const { definition } = workflow
  await tx.run(sql`
    update workflows set identifier = ${workflow.identifier}, name = ${definition.name}, tags = ${definition.tags},
      active = ${workflow.active}, group_id = ${workflow.groupId}, version_id = ${workflow.versionId},
      origin = ${workflow.origin}, updated_at = ${workflow.now}
    where environment_id = ${environment.id} and id = ${workflow.id} and deleted_at is null`)
}

/** False when there is none. Its identifier is free from now on; its versions stay for runs and for the activity. */
export async function deleteWorkflow(
  tx: Tx,
  environment: Environment,
  deletion: { id: string; deletedBy: string; now: Date },
): Promise<boolean> {
  const count = await tx.run(sql`
    update workflows set deleted_at = ${deletion.now}, deleted_by = ${deletion.deletedBy}, updated_at = ${deletion.now}
    where environment_id = ${environment.id} and id = ${deletion.id} and deleted_at is null`)
  return count > 0
}

/** Those of a group that are not deleted, by identifier. */
export async function workflowsInGroup(
  db: Sql,
  environment: Environment,
  groupId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ identifier: string }>(sql`
    select identifier from workflows
    where environment_id = ${environment.id} and group_id = ${groupId} and deleted_at is null
    order by identifier limit ${limit}`)
  return rows.map((row) => row.identifier)
}

/** A deleted group leaves its deleted workflows to another: the activity still shows them. */
export async function moveDeletedWorkflows(
  tx: Tx,
  environment: Environment,
  move: { fromGroupId: string; toGroupId: string },
): Promise<void> {
  await tx.run(sql`
    update workflows set group_id = ${move.toGroupId}
    where environment_id = ${environment.id} and group_id = ${move.fromGroupId} and deleted_at is not null`)
}

/** The Workflow of the interface, but for its integrations' status. */
export function workflowOf(environment: Environment, row: WorkflowRow): Workflow {
  const { variables, subscriberVariables, preferences: _asGiven, ...definition } = row.definition
  const named = (names: readonly string[]) => names.map((name) => ({ name }))
  return {
    _id: row.id,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    _creatorId: row.created_by,
    _notificationGroupId: row.group_id,
    notificationGroup: groupOf(environment, { id: row.group_id, name: row.group_name }),
    ...definition,
    active: row.active,
    draft: !row.active,
    triggers: [
      {
        type: 'event',
        identifier: row.identifier,
        variables: named(variables),
        subscriberVariables: named(subscriberVariables),
      },
    ],
    deleted: row.deleted_at !== null,
    deletedAt: row.deleted_at?.toISOString() ?? '',
    deletedBy: row.deleted_by ?? '',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
