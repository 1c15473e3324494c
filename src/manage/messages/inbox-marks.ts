// What a subscriber does with the notifications of their own inbox: marks, snoozes, buttons, deletions; one, or all that match.
import { once, onceInPages } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import { allOf } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import { directLane } from '../../domain/delivery/event.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Inbox } from '../../domain/messages/inbox.ts'
import type { InboxFilter } from '../../domain/messages/inbox-filter.ts'
import type { ActionAnswer, Mark } from '../../domain/messages/message-marks.ts'
import { inboxSnoozeMistake, withAction, withNotedAction } from '../../domain/messages/message-marks.ts'
import type { InboxNotification } from '../../domain/messages/message-views.ts'
import type { Problem } from '../../domain/problem.ts'
import { badRequest, invalidField, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { changeInboxes } from '../../record/change-inboxes.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import { deleteTasks, insertTasks } from '../../store/jobs/tasks.ts'
import { deletedAtOnceMax } from '../../store/messages/delete.ts'
import { endSnoozeEarly, inContexts, lockInbox, matchesFilter } from '../../store/messages/inbox.ts'
import type { CountedInboxes } from '../../store/messages/inbox-changes.ts'
import { lockMessage } from '../../store/messages/lock.ts'
import { markMessages, setCta } from '../../store/messages/marks.ts'
import { findReaderOrigins } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { snoozeMessage } from '../../store/messages/snooze.ts'
import { inboxNotificationOf } from '../../store/messages/views.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'
import { removeBatch } from './message-deletion.ts'
import type { MarkedSoFar } from './message-marks.ts'
import { markPage, recordFirstMarks } from './message-marks.ts'

/** Calls with an API key may have a key for repeats; those of a session have none. */
interface Repeatable {
  readonly idempotency?: Idempotency | undefined
}

/** A transaction that changes the inbox; what the work returns is the body of the answer. */
function changing<Result>(
  db: Db,
  world: World,
  { environment, id }: Inbox,
  { idempotency }: Repeatable,
  work: (tx: Tx, counted: CountedInboxes) => Promise<Result>,
): Promise<Answer<Result>> {
  return once(db, world, environment, idempotency, async (tx) =>
    ok(await work(tx, await changeInboxes(tx, world, environment, [id]))),
  )
}

export async function markNotification(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & { id: string; mark: Mark },
): Promise<Answer<InboxNotification>> {
  return changing(db, world, inbox, call, async (tx, counted) => {
    const { id } = await held(tx, inbox, call.id)
    const [row] = await markThose(tx, world, inbox, { ids: [id], mark: call.mark, counted })
    return shown(tx, inbox, row, call.id)
  })
}

/** Those of the ids that are in the inbox; the others are left out without a word. */
export async function markNotifications(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & { ids: readonly string[]; mark: Mark },
): Promise<Answer<null>> {
  const { mark, idempotency } = call
  const ids = call.ids.filter(isUuid)
  return once(db, world, inbox.environment, idempotency, async (tx) => {
    const counted = await changeInboxes(tx, world, inbox.environment, [inbox.id])
    await markThose(tx, world, inbox, { ids, mark, counted })
    return noContent
  })
}

async function markThose(
  tx: Tx,
  world: World,
  { environment, id: subscriberId, contextKeys }: Inbox,
  { ids, mark, counted }: { ids: readonly string[]; mark: Mark; counted: CountedInboxes },
): Promise<MessageRow[]> {
  const marking = {
    ids,
    subscriberId,
    channel: 'in_app',
    also: inContexts(contextKeys),
    mark,
    now: world.now(),
    counted,
  } as const
  const { marked, found } = await markMessages(tx, environment, marking)
  await recordFirstMarks(tx, world, environment, marking, found)
  return marked
}

/** Everything in the feed that matches; what is snoozed is not in it. */
export async function markMatching(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & { filter: InboxFilter; mark: Mark },
): Promise<Answer<null>> {
  const { environment, id: subscriberId, contextKeys } = inbox
  const { filter, mark, idempotency } = call
  const also = allOf([inContexts(contextKeys), matchesFilter(environment, filter)])
  const marking = { subscriberId, feedIds: undefined, also, mark, now: world.now() }
  const start: MarkedSoFar = { count: 0, after: undefined }
  return onceInPages(db, world, environment, idempotency, start, async (tx, soFar) => {
    const { next } = await markPage(tx, world, environment, marking, soFar)
    return next === undefined ? { answer: noContent } : { next }
  })
}

/** The same, and how many were changed. */
export async function markFeed(
  db: Db,
  world: World,
  inbox: Inbox,
  { feedIds, mark }: { feedIds: readonly string[] | undefined; mark: Mark },
): Promise<Answer<number>> {
  const { environment, id: subscriberId, contextKeys } = inbox
  const marking = { subscriberId, feedIds, also: inContexts(contextKeys), mark, now: world.now() }
  const start: MarkedSoFar = { count: 0, after: undefined }
  return onceInPages(db, world, environment, undefined, start, async (tx, soFar) => {
    const { next, count } = await markPage(tx, world, environment, marking, soFar)
    return next === undefined ? { answer: ok(count) } : { next }
  })
}

export async function deleteNotification(
  db: Db,
  world: World,
  inbox: Inbox,
  { id, idempotency }: Repeatable & { id: string },
): Promise<Answer<null>> {
  const { environment } = inbox
  return once(db, world, environment, idempotency, async (tx) => {
    const counted = await changeInboxes(tx, world, environment, [inbox.id])
    const row = await held(tx, inbox, id)
    await removeBatch(tx, environment, [row.id], { now: world.now(), counted })
    return noContent
  })
}

/** Those of the ids that are in the feed; the others are left out without a word. */
export async function deleteNotifications(
  db: Db,
  world: World,
  inbox: Inbox,
  { ids }: { ids: readonly string[] },
): Promise<void> {
  const { environment } = inbox
  await db.transaction(async (tx) => {
    const counted = await changeInboxes(tx, world, environment, [inbox.id])
    const found = await lockInbox(tx, inbox, {}, ids.filter(isUuid))
    await removeBatch(tx, environment, found, { now: world.now(), counted })
  })
}

export async function deleteMatching(
  db: Db,
  world: World,
  inbox: Inbox,
  { filter, idempotency }: Repeatable & { filter: InboxFilter },
): Promise<Answer<null>> {
  const { environment } = inbox
  return onceInPages(db, world, environment, idempotency, undefined, async (tx) => {
    const counted = await changeInboxes(tx, world, environment, [inbox.id])
    const ids = await lockInbox(tx, inbox, filter)
    const count = await removeBatch(tx, environment, ids, { now: world.now(), counted })
    // What was deleted no longer matches, so this ends.
    return count === deletedAtOnceMax ? { next: undefined } : { answer: noContent }
  })
}

export async function snoozeNotification(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & { id: string; until: string },
): Promise<Answer<InboxNotification>> {
  const now = world.now()
  const until = new Date(call.until)
  const mistake = inboxSnoozeMistake(until, now)
  if (mistake !== undefined) throw invalidField('snoozeUntil', `snoozeUntil ${mistake}`, call.until)
  const { environment, id: subscriberId } = inbox
  return changing(db, world, inbox, call, async (tx, counted) => {
    const { id, first_seen_at: seenBefore } = await held(tx, inbox, call.id)
    const row = await snoozeMessage(tx, environment, { id, subscriberId, until, now, counted })
    const task = { id, kind: 'unsnooze', lane: directLane, dueAt: until, state: { messageId: id } } as const
    await insertTasks(tx, environment, [task], now)
    const details = [...(seenBefore === null ? [detail(now, 'seen')] : []), detail(now, 'snoozed')]
    await appendDetails(tx, environment, row === undefined ? [] : [{ jobId: row.job_id, details }])
    if (seenBefore === null) {
      const event = { type: 'message.seen', subjectId: id, subscriberId, facts: {}, at: now } as const
      const news = { id: world.newId(now), ...event }
      await reportNews(tx, environment, [news], { newId: () => world.newId(now), now })
    }
    return shown(tx, inbox, row, call.id)
  })
}

/** Before its time: it is back where it was, as it was. */
export async function unsnoozeNotification(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & { id: string },
): Promise<Answer<InboxNotification>> {
  const { id: messageId } = call
  return changing(db, world, inbox, call, async (tx, counted) => {
    const { id, job_id: jobId } = await held(tx, inbox, messageId)
    const now = world.now()
    if (!(await endSnoozeEarly(tx, inbox.environment, { id, now, counted }))) throw unknown(messageId)
    await deleteTasks(tx, inbox.environment, [id])
    await appendDetails(tx, inbox.environment, [{ jobId, details: [detail(now, 'unsnoozed')] }])
    return shown(tx, inbox, await held(tx, inbox, messageId), messageId)
  })
}

export async function answerAction(
  db: Db,
  world: World,
  inbox: Inbox,
  call: Repeatable & ActionAnswer & { id: string; isNoted?: boolean },
): Promise<Answer<InboxNotification>> {
  return changing(db, world, inbox, call, async (tx, counted) => {
    const { id, cta: before } = await held(tx, inbox, call.id)
    const cta = (call.isNoted === true ? withNotedAction : withAction)(before ?? {}, call)
    if (cta === undefined) {
      throw badRequest(`Could not perform action on the ${call.type} button because it does not exist.`)
    }
    const row = await setCta(tx, inbox.environment, { id, cta, now: world.now(), counted })
    return shown(tx, inbox, row, call.id)
  })
}

/** One of the reader's own, in its contexts; no one else changes it before the transaction ends. */
async function held(tx: Tx, { environment, id: subscriberId, contextKeys }: Inbox, id: string): Promise<MessageRow> {
  const row = isUuid(id) ? await lockMessage(tx, environment, { id, subscriberId }) : undefined
  const isTheirs =
    row?.channel === 'in_app' && (contextKeys === undefined || sameKeys(row.context_keys ?? [], contextKeys))
  if (row === undefined || !isTheirs) throw unknown(id)
  return row
}

/** Both are sorted. */
const sameKeys = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index])

async function shown(
  tx: Tx,
  { environment, id }: Inbox,
  row: MessageRow | undefined,
  asked: string,
): Promise<InboxNotification> {
  const [subscriber] = await findSubscribersById(tx, environment, [id])
  if (subscriber === undefined || row === undefined) throw unknown(asked)
  return inboxNotificationOf(subscriber, row, await findReaderOrigins(tx, environment, [row]))
}

const unknown = (id: string): Problem => notFound(`Notification with id: ${id} is not found.`)
