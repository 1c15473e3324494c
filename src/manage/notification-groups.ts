// Notification groups: create one, and the one that a workflow is put into.
import { once } from '../commit/once.ts'
import type { Db, Tx } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { created } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import { conflict, invalidField } from '../domain/problem.ts'
import type { NotificationGroup } from '../domain/workflow.ts'
import { findGroup, findGroupByName, insertGroup } from '../store/notification-groups.ts'
import type { World } from '../world/world.ts'

/** Where workflows are that name no group. */
const defaultGroupName = 'General'

export async function createGroup(
  db: Db,
  world: World,
  environment: Environment,
  call: { name: string; idempotency: Idempotency | undefined },
): Promise<Answer<NotificationGroup>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const group = await insertGroup(tx, environment, { id: world.newId(now), name: call.name, now })
    if (group === undefined) throw conflict(`Notification group ${call.name} already exists`)
    return created(group)
  })
}

/** The group named, or the default one, which the first workflow of an environment makes. */
export async function groupFor(
  tx: Tx,
  world: World,
  environment: Environment,
  id: string | undefined,
): Promise<NotificationGroup> {
  if (id !== undefined) {
    const named = await findGroup(tx, environment, id)
    if (named === undefined) throw invalidField('notificationGroupId', 'notificationGroupId is not a group we know', id)
    return named
  }
  const known = await findGroupByName(tx, environment, defaultGroupName)
  if (known !== undefined) return known
  const now = world.now()
  const made = await insertGroup(tx, environment, { id: world.newId(now), name: defaultGroupName, now })
  // Another call has just made it; groups are never deleted.
  const found = made ?? (await findGroupByName(tx, environment, defaultGroupName))
  if (found === undefined) throw new Error('The default group is neither there nor can it be made')
  return found
}
