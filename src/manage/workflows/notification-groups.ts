// Notification groups: create, rename, delete, and the one that a workflow is put into.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfGroup } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { NotificationGroup } from '../../domain/workflows/workflow.ts'
import {
  deleteGroup,
  findGroupByName,
  holdGroup,
  insertGroup,
  lockGroup,
  renameGroup,
} from '../../store/workflows/notification-groups.ts'
import { moveDeletedWorkflows, workflowsInGroup } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'

/** Where workflows are that name no group. */
const defaultGroupName = 'General'

export async function createGroup(
  db: Db,
  world: World,
  environment: Environment,
  call: { name: string; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<NotificationGroup>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const group = await insertGroup(tx, environment, { id: world.newId(now), name: call.name, now })
    if (group === undefined) throw conflict(`Notification group ${call.name} already exists`)
    await audit(tx, world, environment, call.author, { ...named(group), action: 'create', after: recordOfGroup(group) })
    return created(group)
  })
}

interface Call {
  readonly id: string
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export async function changeGroup(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { name: string },
): Promise<Answer<NotificationGroup>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const group = await groupNamed(tx, environment, call.id)
    if (call.name === group.name) return ok(group)
    if (group.name === defaultGroupName)
      throw conflict(`${defaultGroupName} is the default group and cannot be renamed`)
    if (await findGroupByName(tx, environment, call.name)) {
      throw conflict(`Notification group ${call.name} already exists`)
    }
    const renamed = await renameGroup(tx, environment, { id: call.id, name: call.name, now: world.now() })
    if (renamed === undefined) throw unknownGroup(call.id)
    await audit(tx, world, environment, call.author, {
      ...named(renamed),
      action: 'change',
      before: recordOfGroup(group),
      after: recordOfGroup(renamed),
    })
    return ok(renamed)
  })
}

/** A refusal names so many of them. */
const workflowsNamedMax = 10

export async function removeGroup(
  db: Db,
  world: World,
  environment: Environment,
  call: Call,
): Promise<Answer<{ acknowledged: boolean; status: 'deleted' }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const group = await groupNamed(tx, environment, call.id)
    if (group.name === defaultGroupName)
      throw conflict(`${defaultGroupName} is the default group and cannot be deleted`)
    const workflows = await workflowsInGroup(tx, environment, group._id, workflowsNamedMax)
    if (workflows.length > 0) {
      throw conflict(`The group still contains workflows (${workflows.join(', ')}): move or delete them first`, {
        workflows,
      })
    }
    const rest = await groupFor(tx, world, environment, undefined)
    await moveDeletedWorkflows(tx, environment, { fromGroupId: group._id, toGroupId: rest._id })
    await deleteGroup(tx, environment, group._id)
    await audit(tx, world, environment, call.author, {
      ...named(group),
      action: 'delete',
      before: recordOfGroup(group),
    })
    return ok({ acknowledged: true, status: 'deleted' })
  })
}

async function groupNamed(tx: Tx, environment: Environment, id: string): Promise<NotificationGroup> {
  const group = isUuid(id) ? await lockGroup(tx, environment, id) : undefined
  if (group === undefined) throw unknownGroup(id)
  return group
}

const named = ({ _id, name }: NotificationGroup) => ({ kind: 'notification-group', id: _id, name }) as const

export const unknownGroup = (id: string) => notFound(`Notification group ${id} not found`)

/** The group named, or the default one, which the first workflow of an environment makes. */
export async function groupFor(
  tx: Tx,
  world: World,
  environment: Environment,
  id: string | undefined,
): Promise<NotificationGroup> {
  if (id !== undefined) {
    const named = isUuid(id) ? await holdGroup(tx, environment, id) : undefined
    if (named === undefined) throw invalidField('notificationGroupId', 'notificationGroupId does not exist', id)
    return named
  }
  const known = await findGroupByName(tx, environment, defaultGroupName)
  if (known !== undefined) return known
  const now = world.now()
  const made = await insertGroup(tx, environment, { id: world.newId(now), name: defaultGroupName, now })
  // Another call has just made it; the default group is never deleted.
  const found = made ?? (await findGroupByName(tx, environment, defaultGroupName))
  if (found === undefined) throw new Error('The default group is missing and could not be created')
  return found
}
