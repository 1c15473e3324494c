// Layouts: create, change, choose the default, delete; and whether those that a workflow names are there.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import { slugOf } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfLayout } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import type { Layout, LayoutFields } from '../../domain/workflows/layout.ts'
import { layoutLengthMax, layoutsMax } from '../../domain/workflows/layout.ts'
import { layoutMistake } from '../../render/email/own-layout.ts'
import {
  clearDefaultLayout,
  countLayouts,
  deleteLayout,
  findLayout,
  holdLayouts,
  insertLayout,
  lockLayout,
  lockLayouts,
  updateLayout,
} from '../../store/workflows/layouts.ts'
import type { NamedWorkflow } from '../../store/workflows/workflow-references.ts'
import { workflowsNaming } from '../../store/workflows/workflow-references.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** What a caller calls the content: API v1 and v2 have different names for it. */
export interface NewLayout {
  readonly identifier?: string
  readonly name: string
  readonly description?: string
  readonly content: string
  readonly isDefault?: boolean
}

export async function createLayout(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { layout: NewLayout; contentField: string },
): Promise<Answer<Layout>> {
  const { layout } = call
  demandGoodContent(layout.content, call.contentField)
  const identifier = layout.identifier ?? (slugOf(layout.name) || 'layout')
  demandGoodIdentifier(identifier)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockLayouts(tx, environment)
    if ((await countLayouts(tx, environment)) >= layoutsMax) {
      throw conflict(`There are already ${layoutsMax} layouts; delete one that is no longer needed`)
    }
    const now = world.now()
    if (layout.isDefault === true) await clearDefaultLayout(tx, environment)
    const made = await insertLayout(tx, environment, {
      id: world.newId(now),
      identifier,
      name: layout.name,
      description: layout.description ?? '',
      content: layout.content,
      isDefault: layout.isDefault ?? false,
      createdBy: call.author.keyId,
      now,
    })
    if (made === undefined) throw taken(identifier)
    await audit(tx, world, environment, call.author, { ...named(made), action: 'create', after: recordOfLayout(made) })
    return created(made)
  })
}

export async function changeLayout(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { layoutId: string; change: Partial<LayoutFields>; contentField: string },
): Promise<Answer<Layout>> {
  const { change } = call
  if (change.content !== undefined) demandGoodContent(change.content, call.contentField)
  if (change.identifier !== undefined) demandGoodIdentifier(change.identifier)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockLayouts(tx, environment)
    const layout = await layoutNamed(tx, environment, call.layoutId)
    if (change.identifier !== undefined && change.identifier !== layout.identifier) {
      if (await findLayout(tx, environment, change.identifier)) throw taken(change.identifier)
      await lockLayout(tx, environment, layout._id)
      await demandUnused(tx, environment, [layout.identifier], 'renamed')
    }
    if (change.isDefault === true && !layout.isDefault) await clearDefaultLayout(tx, environment)
    const changed = await updateLayout(tx, environment, layout._id, { ...change, now: world.now() })
    if (changed === undefined) throw unknownLayout(call.layoutId)
    await audit(tx, world, environment, call.author, {
      ...named(changed),
      action: 'change',
      before: recordOfLayout(layout),
      after: recordOfLayout(changed),
    })
    return ok(changed)
  })
}

export async function removeLayout(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { layoutId: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockLayouts(tx, environment)
    const layout = await layoutNamed(tx, environment, call.layoutId)
    if (layout.isDefault) {
      throw conflict(
        `Layout ${layout.identifier} is the default: make another layout the default first, or set isDefault to false`,
      )
    }
    await lockLayout(tx, environment, layout._id)
    await demandUnused(tx, environment, [layout._id, layout.identifier], 'deleted')
    if (!(await deleteLayout(tx, environment, layout._id, world.now()))) throw unknownLayout(call.layoutId)
    await audit(tx, world, environment, call.author, {
      ...named(layout),
      action: 'delete',
      before: recordOfLayout(layout),
    })
    return noContent
  })
}

/** A refusal names so many of them. */
const workflowsNamedMax = 10

async function demandUnused(tx: Tx, environment: Environment, names: readonly string[], what: string): Promise<void> {
  const users = await workflowsNaming(tx, environment, {
    member: 'layoutId',
    names,
    activeOnly: true,
    limit: workflowsNamedMax,
  })
  if (users.length > 0) throw inUse(`The layout cannot be ${what}`, users)
}

/** Shared with what else workflows name. */
export function inUse(words: string, users: readonly NamedWorkflow[]) {
  const identifiers = users.map((user) => user.identifier)
  return conflict(`${words}: active workflows use it (${identifiers.join(', ')})`, { workflows: identifiers })
}

/** Those of the names (ids or identifiers) that are no layout here; the others stay until the transaction ends. */
export async function unknownLayouts(tx: Tx, environment: Environment, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const known = await holdLayouts(tx, environment, names)
  return names.filter((name) => !known.has(name))
}

async function layoutNamed(tx: Tx, environment: Environment, name: string): Promise<Layout> {
  const layout = await findLayout(tx, environment, name)
  if (layout === undefined) throw unknownLayout(name)
  return layout
}

export function demandGoodContent(content: string, field: string): void {
  const mistake =
    content.length > layoutLengthMax
      ? `is ${content.length} characters long; at most ${layoutLengthMax} are allowed`
      : layoutMistake(content)
  if (mistake !== undefined) throw invalidField(field, `${field} ${mistake}`)
}

function demandGoodIdentifier(identifier: string): void {
  if (identifier !== 'none') return
  throw invalidField('identifier', 'identifier "none" means no layout: choose another identifier', identifier)
}

const named = ({ _id, identifier }: Layout) => ({ kind: 'layout', id: _id, name: identifier }) as const

export const unknownLayout = (name: string) => notFound(`Layout ${name} not found`)
const taken = (identifier: string) => conflict(`Layout ${identifier} already exists`)
