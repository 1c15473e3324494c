// Redriving: one notification, an event's, or all that a filter finds; and stopping that.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { accepted, ok } from '../../domain/answer.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Redrive, RedriveBounds, RedriveFilter, SkipReason, Way } from '../../domain/delivery/redrive.ts'
import { recoveriesKeptMs, skipSentences } from '../../domain/delivery/redrive.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { Problem } from '../../domain/problem.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import { redriveNotifications } from '../../record/recovery/redrive.ts'
import { hasFailed } from '../../record/recovery/redrive-page.ts'
import { findEventIds } from '../../store/events/events.ts'
import { findRedrive, insertRedrive, redriveOf, stopRedrive, sweepRedrives } from '../../store/events/redrives.ts'
import type { RecoverableNotification } from '../../store/jobs/redrive.ts'
import { findRecoverable, lockEvents } from '../../store/jobs/redrive.ts'
import { deleteTasks, insertTasks } from '../../store/jobs/tasks.ts'
import type { World } from '../../world/world.ts'
import { boundsOf, withoutAbsent } from './redrive-filter.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

export interface RedrivenNotification {
  readonly notificationId: string
  readonly steps: readonly {
    readonly stepId: string
    readonly name?: string
    readonly type: StepType
    readonly way: Way
    readonly messages: number
  }[]
}

export async function redriveNotification(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { notificationId: string; includeUnsure?: boolean | undefined },
): Promise<Answer<RedrivenNotification>> {
  const answer = await once(db, world, environment, call.idempotency, async (tx) =>
    accepted(
      await redriveOne(tx, world, environment, {
        notificationId: call.notificationId,
        by: keyId,
        includesUnsure: call.includeUnsure === true,
      }),
    ),
  )
  queue.poke()
  return answer
}

/** Carries a result out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly result: RedrivenNotification

  constructor(result: RedrivenNotification) {
    super('Only a preview')
    this.name = 'RolledBack'
    this.result = result
  }
}

/** What a redrive would do: it is carried out, and taken back before anything of it can be seen. */
export async function previewRedrive(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  call: { notificationId: string; includeUnsure?: boolean | undefined },
): Promise<RedrivenNotification> {
  const { notificationId, includeUnsure } = call
  try {
    return await db.transaction(async (tx) => {
      const how = { notificationId, by: keyId, includesUnsure: includeUnsure === true }
      throw new RolledBack(await redriveOne(tx, world, environment, how))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}

/** In the transaction it is given. */
export async function redriveOne(
  tx: Tx,
  world: World,
  environment: Environment,
  { notificationId, by, includesUnsure }: { notificationId: string; by: string; includesUnsure?: boolean },
): Promise<RedrivenNotification> {
  const notification = await recoverableNotification(tx, environment, notificationId)
  const call = {
    notifications: [notification],
    by,
    lane: null,
    now: world.now(),
    includesUnsure: includesUnsure === true,
  }
  const result = (await redriveNotifications(tx, world, environment, call)).get(notification.id)
  if (result === undefined) throw refused(notificationId, 'gone')
  if ('skipped' in result) throw refused(notificationId, result.skipped)
  const steps = result.steps.map(({ step, way, messages }) => ({
    stepId: step._id,
    ...(step.name === undefined ? {} : { name: step.name }),
    type: step.template.type,
    way,
    messages,
  }))
  return { notificationId: notification.id, steps }
}

/** Throws 404 when it is missing. */
export async function recoverableNotification(
  tx: Tx,
  environment: Environment,
  id: string,
): Promise<RecoverableNotification> {
  const found = isUuid(id) ? await findRecoverable(tx, environment, id) : undefined
  if (found === undefined) throw notFound(`Notification ${id} was not found`)
  return found
}

const refused = (id: string, reason: SkipReason): Problem =>
  conflict(`Notification ${id} cannot be redriven: ${skipSentences[reason]}`, { reason })

export async function redriveEvent(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { transactionId: string },
): Promise<Answer<Redrive>> {
  const { transactionId } = call
  const answer = await once(db, world, environment, call.idempotency, async (tx) => {
    const eventId = (await findEventIds(tx, environment, [transactionId])).get(transactionId)
    const [event] = eventId === undefined ? [] : await lockEvents(tx, environment, [eventId], 'share')
    if (event === undefined) throw notFound(`No event has the transactionId ${transactionId}`)
    if (event.isCanceled) throw refusedEvent(transactionId, 'canceled', 'it was canceled')
    if (!(await hasFailed(tx, environment, event.id))) {
      throw refusedEvent(transactionId, 'nothingFailed', 'none of its notifications has a failed step')
    }
    return accepted(await begin(tx, world, environment, keyId, { transactionId }, { eventId: event.id }))
  })
  queue.poke()
  return answer
}

const refusedEvent = (transactionId: string, reason: SkipReason, why: string): Problem =>
  conflict(`Event ${transactionId} cannot be redriven: ${why}`, { reason })

export async function startRedrive(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { filter: RedriveFilter },
): Promise<Answer<Redrive>> {
  const filter = withoutAbsent(call.filter)
  const answer = await once(db, world, environment, call.idempotency, async (tx) => {
    const bounds = await boundsOf(tx, environment, filter)
    return accepted(await begin(tx, world, environment, keyId, filter, bounds))
  })
  queue.poke()
  return answer
}

async function begin(
  tx: Tx,
  world: World,
  environment: Environment,
  requestedBy: string,
  filter: RedriveFilter,
  bounds: RedriveBounds,
): Promise<Redrive> {
  const now = world.now()
  const id = world.newId(now)
  await sweepRedrives(tx, environment, new Date(now.getTime() - recoveriesKeptMs))
  const row = await insertRedrive(tx, environment, { id, filter, bounds, requestedBy, now })
  await insertTasks(tx, environment, [{ id, kind: 'redrive', lane: fanOutLane, dueAt: now, state: {} }], now)
  return redriveOf(row)
}

/** What it redrove is not called back. */
export async function endRedrive(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { redriveId: string },
): Promise<Answer<Redrive>> {
  const { redriveId } = call
  return once(db, world, environment, call.idempotency, async (tx) => {
    if (!isUuid(redriveId)) throw unknownRedrive(redriveId)
    // First the task, as whoever runs a page does it.
    await deleteTasks(tx, environment, [redriveId])
    const stopped = await stopRedrive(tx, environment, redriveId, world.now())
    if (stopped !== undefined) return ok(redriveOf(stopped))
    const found = await findRedrive(tx, environment, redriveId)
    if (found === undefined) throw unknownRedrive(redriveId)
    throw conflict(`Redrive ${redriveId} is ${found.state}: there is nothing to stop`)
  })
}

export const unknownRedrive = (id: string): Problem => notFound(`Redrive ${id} was not found`)
