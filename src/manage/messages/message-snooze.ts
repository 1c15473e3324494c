// Putting an in-app message off, and bringing it back before its time.
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import { directLane } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import { snoozeMistake } from '../../domain/messages/message-marks.ts'
import type { SubscriberNotification } from '../../domain/messages/message-views.ts'
import { invalidField } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { changeInboxes } from '../../record/change-inboxes.ts'
import { endSnoozes } from '../../record/end-snooze.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import { deleteTasks, insertTasks } from '../../store/jobs/tasks.ts'
import { lockMessage } from '../../store/messages/lock.ts'
import { snoozeMessage } from '../../store/messages/snooze.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'
import { existing, notificationOf, unknownNotification } from './message-marks.ts'

interface Call {
  /** The caller's own id of the subscriber. */
  readonly subscriberId: string
  readonly messageId: string
  readonly idempotency: Idempotency | undefined
}

/** A message that is already snoozed gets the new time. */
export async function snooze(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { until: string },
): Promise<Answer<SubscriberNotification>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const until = new Date(call.until)
    const mistake = snoozeMistake(until, now)
    if (mistake !== undefined) throw invalidField('snoozeUntil', `snoozeUntil ${mistake}`, call.until)
    const subscriber = await existing(tx, environment, call.subscriberId)
    if (!isUuid(call.messageId)) throw unknownNotification(call.messageId)
    const counted = await changeInboxes(tx, world, environment, [subscriber.id])
    const message = { id: call.messageId, subscriberId: subscriber.id }
    const row = await snoozeMessage(tx, environment, { ...message, until, now, counted })
    if (row === undefined) throw unknownNotification(call.messageId)
    const task = { id: row.id, kind: 'unsnooze', lane: directLane, dueAt: until, state: { messageId: row.id } } as const
    await insertTasks(tx, environment, [task], now)
    // Whoever snoozes a message has seen it, possibly for the first time.
    const isFirstLook = row.first_seen_at?.getTime() === now.getTime()
    const details = [...(isFirstLook ? [detail(now, 'seen')] : []), detail(now, 'snoozed')]
    await appendDetails(tx, environment, [{ jobId: row.job_id, details }])
    const about = { type: 'message.seen', subjectId: row.id, subscriberId: subscriber.id, facts: {}, at: now } as const
    const news = isFirstLook ? [{ id: world.newId(now), ...about }] : []
    await reportNews(tx, environment, news, { newId: () => world.newId(now), now })
    return ok(await notificationOf(tx, environment, subscriber, row))
  })
}

/** One that is not snoozed is returned as it is: its time may just have come. */
export async function unsnooze(
  db: Db,
  world: World,
  environment: Environment,
  call: Call,
): Promise<Answer<SubscriberNotification>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscriber = await existing(tx, environment, call.subscriberId)
    const message = { id: call.messageId, subscriberId: subscriber.id }
    const counted = await changeInboxes(tx, world, environment, [subscriber.id])
    const held = isUuid(message.id) ? await lockMessage(tx, environment, message) : undefined
    if (held?.channel !== 'in_app') throw unknownNotification(call.messageId)
    const ended = await endSnoozes(tx, world, environment, { messageIds: [held.id], counted })
    if (ended > 0) await deleteTasks(tx, environment, [held.id])
    const row = ended === 0 ? held : ((await lockMessage(tx, environment, message)) ?? held)
    return ok(await notificationOf(tx, environment, subscriber, row))
  })
}
