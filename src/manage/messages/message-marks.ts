// Marking messages as read, seen or archived: some, all, or one; and the answers to their buttons.
import { once, onceInPages } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { ActionStatus, ButtonType, Mark } from '../../domain/messages/message-marks.ts'
import { actionPayloadBytesMax, firstsOf, withNotedAction } from '../../domain/messages/message-marks.ts'
import type { Message, SubscriberNotification } from '../../domain/messages/message-views.ts'
import { badRequest, invalidField, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'
import { changeInboxes } from '../../record/change-inboxes.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import { lockMessage } from '../../store/messages/lock.ts'
import type { FoundMessage, MarkingAll, OpenMessage } from '../../store/messages/marks.ts'
import { markedAtOnceMax, markMessages, markNext, setCta } from '../../store/messages/marks.ts'
import { findOrigins, messagesLength } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { messageOf, subscriberNotificationOf } from '../../store/messages/views.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import { findSubscriberRows } from '../../store/people/subscribers.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import { feedNames } from '../../store/workflows/feeds.ts'
import type { World } from '../../world/world.ts'
import { unknownSubscriber } from '../people/subscribers.ts'

interface Call {
  /** The caller's own id of the subscriber. */
  readonly subscriberId: string
  readonly idempotency: Idempotency | undefined
}

/** The messages that were marked, in the order of the request. Unknown ids are ignored. */
export async function markSome(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { messageIds: readonly string[]; mark: Mark },
): Promise<Answer<Message[]>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscriber = await existing(tx, environment, call.subscriberId)
    await refuseHeavy(tx, environment, { subscriberId: subscriber.id, ids: call.messageIds })
    const counted = await changeInboxes(tx, world, environment, [subscriber.id])
    const marking = { ids: call.messageIds, subscriberId: subscriber.id, mark: call.mark, now: world.now(), counted }
    const { marked, found } = await markMessages(tx, environment, marking)
    await recordFirstMarks(tx, world, environment, marking, found)
    const rows = new Map(marked.map((row) => [row.id, row]))
    const asked = [...new Set(call.messageIds.map((id) => id.toLowerCase()))].flatMap((id) => rows.get(id) ?? [])
    const origins = await findOrigins(tx, environment, asked)
    return created(asked.map((row) => messageOf(environment, row, origins)))
  })
}

/** So many are marked without a look at how long they are: their answer shows each with its payload. */
const unweighedMax = 10
const charactersMax = 16 * 1024 * 1024

async function refuseHeavy(
  tx: Tx,
  environment: Environment,
  { subscriberId, ids }: { subscriberId: string; ids: readonly string[] },
): Promise<void> {
  if (ids.length <= unweighedMax) return
  const characters = await messagesLength(tx, environment, { subscriberId, ids })
  if (characters <= charactersMax) return
  const words = `messageId must have fewer entries: these ${ids.length} messages have ${characters} characters of data, more than ${charactersMax}`
  throw invalidField('messageId', words)
}

/** How many were changed. */
export async function markAll(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { mark: Mark; feedIds: readonly string[] | undefined },
): Promise<Answer<number>> {
  const start: MarkedSoFar = { count: 0, after: undefined }
  return onceInPages(db, world, environment, call.idempotency, start, async (tx, soFar) => {
    const subscriber = await existing(tx, environment, call.subscriberId)
    // A step may name its feed by id or by identifier, and so may the caller.
    const feedIds = call.feedIds && (await feedNames(tx, environment, call.feedIds))
    const marking = { subscriberId: subscriber.id, mark: call.mark, feedIds, now: world.now() }
    const { next, count } = await markPage(tx, world, environment, marking, soFar)
    return next === undefined ? { answer: created(count) } : { next }
  })
}

/** How far marking everything has come. */
export interface MarkedSoFar {
  readonly count: number
  readonly after: OpenMessage | undefined
}

/** One transaction's worth of it; `next` is undefined when it is done. */
export async function markPage(
  tx: Tx,
  world: World,
  environment: Environment,
  marking: MarkingAll,
  { count, after }: MarkedSoFar,
): Promise<{ count: number; next: MarkedSoFar | undefined }> {
  const counted = await changeInboxes(tx, world, environment, [marking.subscriberId])
  // Marked messages no longer match, so this ends; continuing after the last saves scanning them again.
  const found = await markNext(tx, environment, { ...marking, counted }, after)
  await recordFirstMarks(tx, world, environment, marking, found)
  const marked = count + found.length
  const next = found.length < markedAtOnceMax ? undefined : { count: marked, after: found.at(-1) }
  return { count: marked, next }
}

/** One in-app message, as inboxes do it. */
export async function markOne(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { messageId: string; mark: Mark },
): Promise<Answer<SubscriberNotification>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscriber = await existing(tx, environment, call.subscriberId)
    if (!isUuid(call.messageId)) throw unknownNotification(call.messageId)
    const counted = await changeInboxes(tx, world, environment, [subscriber.id])
    const marking = {
      ids: [call.messageId],
      subscriberId: subscriber.id,
      channel: 'in_app',
      mark: call.mark,
      now: world.now(),
      counted,
    } as const
    const { marked, found } = await markMessages(tx, environment, marking)
    const [row] = marked
    if (row === undefined) throw unknownNotification(call.messageId)
    await recordFirstMarks(tx, world, environment, marking, found)
    return ok(await notificationOf(tx, environment, subscriber, row))
  })
}

/** That a message was seen or read for the first time is a part of its job's story, and an event. */
export async function recordFirstMarks(
  tx: Tx,
  world: World,
  environment: Environment,
  { mark, subscriberId, now }: { mark: Mark; subscriberId: string; now: Date },
  found: readonly FoundMessage[],
): Promise<void> {
  const entries = found.map((message) => ({
    jobId: message.jobId,
    details: firstsOf(mark, message).map((code) => detail(now, code)),
  }))
  await appendDetails(tx, environment, entries)
  const reported = found.filter((message) => message.isReported)
  const news = reported.flatMap((message) =>
    firstsOf(mark, message).map((first): News => {
      const type = `message.${first}` as const
      return { id: world.newId(now), type, subjectId: message.id, subscriberId, facts: {}, at: now }
    }),
  )
  await reportNews(tx, environment, news, { newId: () => world.newId(now), now })
}

export async function answerButton(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & {
    messageId: string
    type: ButtonType
    status: ActionStatus
    payload: Readonly<Record<string, unknown>> | undefined
  },
): Promise<Answer<Message>> {
  const { messageId, type, status, payload } = call
  if (payload !== undefined && Buffer.byteLength(JSON.stringify(payload)) > actionPayloadBytesMax) {
    throw invalidField('payload', `payload must be at most ${actionPayloadBytesMax} bytes`)
  }
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscriber = await existing(tx, environment, call.subscriberId)
    const counted = await changeInboxes(tx, world, environment, [subscriber.id])
    const found = isUuid(messageId)
      ? await lockMessage(tx, environment, { id: messageId, subscriberId: subscriber.id })
      : undefined
    if (found === undefined) throw unknownMessage(messageId)
    const cta = withNotedAction(found.cta ?? {}, { type, status, ...(payload === undefined ? {} : { payload }) })
    if (cta === undefined) throw badRequest(`Message ${messageId} has no ${type} button`)
    const row = await setCta(tx, environment, { id: found.id, cta, now: world.now(), counted })
    if (row === undefined) throw new Error('A message that was held is gone')
    return created(messageOf(environment, row, await findOrigins(tx, environment, [row])))
  })
}

export async function notificationOf(
  tx: Tx,
  environment: Environment,
  subscriber: SubscriberRow,
  row: MessageRow,
): Promise<SubscriberNotification> {
  return subscriberNotificationOf(environment, subscriber, row, await findOrigins(tx, environment, [row]))
}

export async function existing(tx: Tx, environment: Environment, subscriberId: string): Promise<SubscriberRow> {
  const [row] = await findSubscriberRows(tx, environment, [subscriberId])
  if (row === undefined) throw unknownSubscriber(subscriberId)
  return row
}

export const unknownMessage = (id: string) => notFound(`Message with id ${id} not found`)
export const unknownNotification = (id: string) => notFound(`Notification with id ${id} not found`)
