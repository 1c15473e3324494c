// Ends the hold on an environment after a restore: what is due is sent, or cancelled first.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { conflict } from '../../domain/problem.ts'
import { cancelStart } from '../../record/cancel/cancel-page.ts'
import { cancelTaskOf } from '../../record/cancel/cancel-task.ts'
import { markEventsCanceled } from '../../store/events/events.ts'
import { stopRedrive } from '../../store/events/redrives.ts'
import { deleteTasks, insertTasks } from '../../store/jobs/tasks.ts'
import type { SendingHold } from '../../store/operate/sending-holds.ts'
import {
  deleteHold,
  findDueEvents,
  findDueRedrives,
  findHold,
  holdEverywhere,
} from '../../store/operate/sending-holds.ts'
import type { World } from '../../world/world.ts'
import { unhurried } from '../operate/retention-plan.ts'

export interface Released {
  readonly environment: string
  /** How many events were cancelled. */
  readonly canceledEvents: number
}

/** One transaction's worth of events. */
const eventsPerPage = 1_000

/** For a restore: until each of them is released, no node claims anything in it. Says how many there are. */
export const holdSending = (db: Db, times: { heldAt: Date; backupAt: Date }): Promise<number> =>
  db.transaction((tx) => holdEverywhere(tx, times))

/**
 * Cancels in pages while the hold is still there: if the process ends in between, nothing has been sent, and the call can be
 * repeated. Only what was accepted before the restore is cancelled, by whole events: what waits of them for a later time too.
 */
export async function releaseSending(
  db: Db,
  world: World,
  environment: Environment,
  call: { cancel: boolean; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<Released>> {
  const hold = call.cancel ? await findHold(db, environment) : undefined
  const due =
    hold === undefined ? [] : await db.transaction((tx) => findDueEvents(tx, environment, hold.heldAt), unhurried)
  for (let from = 0; from < due.length; from += eventsPerPage) {
    const page = due.slice(from, from + eventsPerPage)
    await db.transaction((tx) => cancelEvents(tx, world, environment, page))
  }
  if (hold !== undefined) await stopRedrives(db, world, environment, hold.heldAt)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const ended = await deleteHold(tx, environment)
    if (ended === undefined) throw conflict('Sending is not held in this environment')
    const { id, name } = environment
    await audit(tx, world, environment, call.author, {
      action: 'change',
      kind: 'environment',
      id,
      name,
      before: recordOf(shownHold(ended)),
      after: recordOf({ held: false, canceledEvents: due.length }),
    })
    return ok({ environment: name, canceledEvents: due.length })
  })
}

const shownHold = ({ heldAt, backupAt, movedAt }: SendingHold) => ({
  held: true,
  heldAt: heldAt.toISOString(),
  ...(backupAt === null ? {} : { backupAt: backupAt.toISOString() }),
  ...(movedAt === null ? {} : { movedAt: movedAt.toISOString() }),
})

const recordOf = (sending: Readonly<Record<string, unknown>>) => ({ compared: { sending }, shown: { sending } })

/** What they have made due is among the events that are cancelled. */
async function stopRedrives(db: Db, world: World, environment: Environment, heldAt: Date): Promise<void> {
  const ids = await findDueRedrives(db, environment, heldAt)
  if (ids.length === 0) return
  await db.transaction(async (tx) => {
    // First the task, as whoever runs a page does it.
    await deleteTasks(tx, environment, ids)
    for (const id of ids) await stopRedrive(tx, environment, id, world.now())
  })
}

/** From here on nothing of them is sent; their tasks end what is left of them. */
async function cancelEvents(tx: Tx, world: World, environment: Environment, ids: readonly string[]): Promise<void> {
  const now = world.now()
  const events = await markEventsCanceled(tx, environment, ids, now)
  await deleteTasks(tx, environment, ids)
  const tasks = events.map((event) =>
    cancelTaskOf({ eventId: event.id, versionId: event.version_id }, cancelStart, now),
  )
  await insertTasks(tx, environment, tasks, now)
}
