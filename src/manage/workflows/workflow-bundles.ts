// A workflow with the layouts and feeds that it names, to be taken to another environment: read there, compared and written here.
import type { Db, Sql } from '../../db/sql.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { invalidField } from '../../domain/problem.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { layoutsMax } from '../../domain/workflows/layout.ts'
import { holdsStruckOut, shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { DiffLine } from '../../domain/workflows/text-diff.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import { findWorkflow, workflowOf } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { createFeed } from './feeds.ts'
import { shownLines } from './hidden-values.ts'
import { changeLayout, createLayout } from './layouts.ts'
import type { Document, DocumentNames } from './workflow-document.ts'
import { documentOf } from './workflow-document.ts'
import { workflowPlan } from './workflow-plan.ts'
import type { TextFile } from './workflow-texts.ts'
import { filesOf } from './workflow-texts.ts'
import { firstApi } from './workflows.ts'

export interface BundledLayout {
  readonly identifier: string
  readonly name: string
  readonly description?: string
  readonly content: string
}

export interface BundledFeed {
  readonly identifier: string
  readonly name: string
}

export interface Bundle {
  readonly workflow: Document
  readonly layouts: readonly BundledLayout[]
  readonly feeds: readonly BundledFeed[]
}

export interface BundleChange {
  readonly resource: 'workflow' | 'layout' | 'feed'
  readonly identifier: string
  readonly kind: 'create' | 'change'
  readonly lines: readonly DiffLine[]
}

interface Planned extends BundleChange {
  apply(): Promise<unknown>
}

const feedsMax = 1_000
const allLayouts = (db: Sql, environment: Environment) =>
  listLayouts(db, environment, { offset: 0, limit: layoutsMax, oldestFirst: true })
const allFeeds = (db: Sql, environment: Environment) => listFeeds(db, environment, { offset: 0, limit: feedsMax })

const identifiersOf = (all: readonly { _id: string; identifier: string }[]) =>
  new Map(all.map((one) => [one._id, one.identifier]))

export async function namesOf(db: Sql, environment: Environment): Promise<DocumentNames> {
  const [layouts, feeds] = [await allLayouts(db, environment), await allFeeds(db, environment)]
  return { layouts: identifiersOf(layouts), feeds: identifiersOf(feeds) }
}

/** Secrets of its custom steps are for full keys only. */
export async function bundleOf(
  db: Sql,
  principal: Principal,
  workflow: Workflow,
): Promise<Bundle & { readonly files: readonly TextFile[] }> {
  const { environment } = principal
  const [layouts, feeds] = [await allLayouts(db, environment), await allFeeds(db, environment)]
  const names = { layouts: identifiersOf(layouts), feeds: identifiersOf(feeds) }
  const document = documentOf(shownTo(principal, workflow), names)
  const templates = workflow.steps.flatMap((step) => [step.template, ...step.variants.map(({ template }) => template)])
  const named = (member: 'layoutId' | 'feedId', one: { _id: string; identifier: string }): boolean =>
    templates.some((template) => template[member] === one._id || template[member] === one.identifier)
  return {
    workflow: document,
    layouts: layouts
      .filter((one) => named('layoutId', one))
      .map(({ identifier, name, description, content }) => ({ identifier, name, description, content })),
    feeds: feeds.filter((one) => named('feedId', one)).map(({ identifier, name }) => ({ identifier, name })),
    files: filesOf(document),
  }
}

interface Call {
  readonly bundle: Bundle
  readonly author: Author
}

/** What writing the bundle would change; nothing is written. */
export async function bundleDiff(db: Db, world: World, principal: Principal, call: Call): Promise<BundleChange[]> {
  return (await planned(db, world, principal, call)).map(withoutApply)
}

/** Layouts and feeds first, since the workflow names them. A repetition changes nothing. */
export async function writeBundle(db: Db, world: World, principal: Principal, call: Call): Promise<BundleChange[]> {
  const changes = await planned(db, world, principal, call)
  for (const change of changes) await change.apply()
  return changes.map(withoutApply)
}

const withoutApply = ({ apply: _apply, ...change }: Planned): BundleChange => change

async function planned(db: Db, world: World, principal: Principal, { bundle, author }: Call): Promise<Planned[]> {
  const { environment } = principal
  const [layouts, feeds] = [await allLayouts(db, environment), await allFeeds(db, environment)]
  const names = { layouts: identifiersOf(layouts), feeds: identifiersOf(feeds) }
  const row = await findWorkflow(db, environment, String(bundle.workflow['workflowId']))
  const stored = row && workflowOf(environment, row)
  const plan = workflowPlan(firstApi, { db, world }, principal, { document: bundle.workflow, stored, names, author })
  const place = plan.definition.steps.findIndex(holdsStruckOut)
  if (place >= 0) {
    const path = `workflow.steps.${place}`
    throw invalidField(path, `${path} says [redacted] where a secret stood: read the bundle with a full key`)
  }
  const kept = new Set(feeds.map(({ identifier }) => identifier))
  return [
    ...bundle.feeds
      .filter(({ identifier }) => !kept.has(identifier))
      .flatMap((feed) =>
        changeOf('feed', feed.identifier, ['', `name: ${feed.name}`], () =>
          createFeed(db, world, environment, { ...feed, author, idempotency: undefined }),
        ),
      ),
    ...bundle.layouts.flatMap((layout) => {
      const before = layouts.find(({ identifier }) => identifier === layout.identifier)
      const call = { contentField: 'content', author, idempotency: undefined }
      return changeOf('layout', layout.identifier, [layoutText(before), layoutText(layout)], () =>
        before === undefined
          ? createLayout(db, world, environment, { ...call, layout })
          : changeLayout(db, world, environment, { ...call, layoutId: before._id, change: layout }),
      )
    }),
    ...changeOf('workflow', plan.identifier, [plan.before, plan.after], plan.apply),
  ]
}

function layoutText(layout: BundledLayout | Layout | undefined): string {
  if (layout === undefined) return ''
  return `name: ${layout.name}\ndescription: ${layout.description ?? ''}\n${layout.content}`
}

function changeOf(
  resource: BundleChange['resource'],
  identifier: string,
  [before, after]: readonly [string, string],
  apply: () => Promise<unknown>,
): Planned[] {
  const lines = shownLines(before, after)
  return lines.length === 0 ? [] : [{ resource, identifier, kind: before === '' ? 'create' : 'change', lines, apply }]
}
