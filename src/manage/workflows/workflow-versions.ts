// Versions of a workflow: one as it was, what changed between two, and making an old one the current one again.
import type { Db, Sql } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import { layoutsMax } from '../../domain/workflows/layout.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { DiffLine } from '../../domain/workflows/text-diff.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import type { DocumentNames } from '../../domain/workflows/workflow-document.ts'
import { documentOf } from '../../domain/workflows/workflow-document.ts'
import { differenceElsewhere, filesElsewhere } from '../../render/workflow-text/texts-elsewhere.ts'
import type { TextFile } from '../../render/workflow-text/workflow-texts.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import type { WorkflowAtVersion } from '../../store/workflows/workflow-versions.ts'
import { findWorkflowAt } from '../../store/workflows/workflow-versions.ts'
import { findWorkflow, workflowOf } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { unknownWorkflow } from './workflow-rules.ts'
import { changeBy, firstApi } from './workflows.ts'

/** A number as it is shown, or the current one. */
export type VersionName = number | 'current'

async function workflowAt(
  db: Sql,
  environment: Environment,
  idOrIdentifier: string,
  version: VersionName,
): Promise<WorkflowAtVersion> {
  const workflow = await findWorkflow(db, environment, idOrIdentifier)
  if (workflow === undefined) throw unknownWorkflow(idOrIdentifier)
  const found = await findWorkflowAt(db, environment, workflow.id, version === 'current' ? undefined : version)
  if (found === undefined) throw notFound(`Workflow ${workflow.identifier} has no version ${version}`)
  return found
}

const feedsMax = 1_000

async function namesOf(db: Sql, environment: Environment): Promise<DocumentNames> {
  const [layouts, feeds] = [
    await listLayouts(db, environment, { offset: 0, limit: layoutsMax, oldestFirst: true }),
    await listFeeds(db, environment, { offset: 0, limit: feedsMax }),
  ]
  const named = (all: readonly { _id: string; identifier: string }[]) =>
    new Map(all.map((one) => [one._id, one.identifier]))
  return { layouts: named(layouts), feeds: named(feeds) }
}

/** A version as files, as they stand in a folder. Secrets of its steps are for full keys only. */
export async function versionFiles(
  { db, world }: { db: Sql; world: Pick<World, 'threads'> },
  principal: Principal,
  idOrIdentifier: string,
  version: VersionName,
): Promise<{ readonly number: number; readonly files: readonly TextFile[] }> {
  const { environment } = principal
  const found = await workflowAt(db, environment, idOrIdentifier, version)
  const names = await namesOf(db, environment)
  const document = documentOf(shownTo(principal, workflowOf(environment, found)), names)
  return { number: found.number, files: await filesElsewhere(world.threads, document) }
}

export interface VersionDiff {
  readonly from: number
  readonly to: number
  readonly lines: readonly DiffLine[]
}

/** Header values and queries of custom steps are left out, whoever asks; other secrets are for full keys only. */
export async function versionDiff(
  { db, world }: { db: Sql; world: Pick<World, 'threads'> },
  principal: Principal,
  idOrIdentifier: string,
  { from, to }: { from: VersionName; to: VersionName },
): Promise<VersionDiff> {
  const { environment } = principal
  const [before, after] = [
    await workflowAt(db, environment, idOrIdentifier, from),
    await workflowAt(db, environment, idOrIdentifier, to),
  ]
  const names = await namesOf(db, environment)
  const documentAt = (row: WorkflowAtVersion) => documentOf(shownTo(principal, workflowOf(environment, row)), names)
  const lines = await differenceElsewhere(world.threads, [documentAt(before), documentAt(after)])
  return { from: before.number, to: after.number, lines }
}

/** Another version with the definition of an old one; the identifier and whether it is active stay as they are. */
export async function restoreVersion(
  db: Db,
  world: World,
  principal: Principal,
  call: {
    id: string
    version: VersionName
    /** The number that is current as the caller knows it. */
    ifCurrent: number | undefined
    author: Author
    idempotency: Idempotency | undefined
  },
): Promise<Answer<Workflow>> {
  const { environment } = principal
  const { id, definition } = await workflowAt(db, environment, call.id, call.version)
  const { author, idempotency, ifCurrent } = call
  const current = ifCurrent === undefined ? undefined : await workflowAt(db, environment, call.id, 'current')
  return changeBy(firstApi, db, world, principal, { id, workflow: {}, author, idempotency }, (stored) => {
    // The row is locked here: a version that was saved after the look above is seen as well.
    if (current !== undefined && (current.number !== ifCurrent || stored.version_id !== current.version_id)) {
      throw conflict(`Version ${ifCurrent} is no longer the current one: the workflow was saved in the meantime`)
    }
    return definition
  })
}
