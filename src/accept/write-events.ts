// Writes events that will run: transactions, subscribers, contexts, then events with their notifications and jobs.

import { oneStatement } from '../db/one-statement.ts'
import type { Tx } from '../db/sql.ts'
import type { EventRequest, Recipient, TenantMention, TopicRecipient } from '../domain/delivery/event.ts'
import {
  contextKeyOf,
  directLane,
  fanOutLane,
  recipientAsGiven,
  recipientsAtOnceMax,
  recipientsInLargeCallMax,
  recipientsPerCallMax,
} from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import type { Topic } from '../domain/people/topic.ts'
import type { Queue } from '../queue/queue.ts'
import type { Reservation } from '../queue/worker.ts'
import { countedEvents } from '../record/counts/count-accepted.ts'
import { firstMentions } from '../record/foresee-surroundings.ts'
import type { Notified } from '../record/notify.ts'
import { firstJobs } from '../record/notify.ts'
import type { ResolvedRecipients } from '../record/resolve-recipients.ts'
import { channelWarnings, resolveRecipients } from '../record/resolve-recipients.ts'
import type { NewAttachment } from '../store/events/attachments.ts'
import { insertAttachments } from '../store/events/attachments.ts'
import type { NewEvent } from '../store/events/events.ts'
import { claimTransactions, eventInsertion } from '../store/events/events.ts'
import { notificationInsertion } from '../store/events/notifications.ts'
import { jobInsertions } from '../store/jobs/insert.ts'
import { insertTasks } from '../store/jobs/tasks.ts'
import { countInsertion } from '../store/operate/counts.ts'
import { insertContexts } from '../store/people/contexts.ts'
import { updateTenants } from '../store/people/tenants.ts'
import { findTopics } from '../store/people/topics.ts'
import type { World } from '../world/world.ts'
import type { GivenEvent, Runnable } from './judge-events.ts'
import { preLeasedJobs, sizedEvents, smallEventLetters } from './pre-leased.ts'

/** An event with the ids it was given. */
export interface Numbered extends Runnable {
  readonly id: string
  readonly transactionId: string
  readonly traceparent?: string | undefined
}

export interface WrittenEvents {
  readonly preLeased: readonly Job[]
  /** Whether something was left for the worker to find. */
  readonly leftWork: boolean
  /** The ids of events that were not written, as their transaction id is another's. */
  readonly outrun?: ReadonlySet<string>
}

/** How many notifications become jobs at once, so that the worker's capacity for them can be reserved. */
export function jobsAtOnce(events: readonly Runnable[]): number {
  return events.reduce((sum, { request }) => sum + (isExpanded(request) ? 0 : request.recipients.length), 0)
}

/** What a call writes: a notification for each recipient that is not left to the worker, or an event alone. */
export function rowsAtOnce(events: readonly GivenEvent[]): number {
  let rows = 0
  for (const event of events) {
    const recipients = 'request' in event && !isExpanded(event.request) ? event.request.recipients.length : 0
    rows += Math.max(1, recipients)
  }
  return rows
}

/** Whether the worker finds its recipients, in pages. */
const isExpanded = ({ recipients, isExpandedLater }: EventRequest): boolean =>
  recipients.length > recipientsAtOnceMax || isExpandedLater === true

/** Of a call with too many recipients together those that have most of them are left to the worker. */
export function withLargeExpanded(events: readonly GivenEvent[]): readonly GivenEvent[] {
  let recipients = 0
  for (const event of events)
    if ('request' in event && !isExpanded(event.request)) recipients += event.request.recipients.length
  if (recipients <= recipientsPerCallMax) return events
  return events.map((event) =>
    'request' in event && event.request.recipients.length > recipientsInLargeCallMax
      ? { ...event, request: { ...event.request, isExpandedLater: true } }
      : event,
  )
}

/** Whether it needs nothing written but itself, its transaction, and the people and contexts it names. */
export function isPlain(request: EventRequest): boolean {
  const { topics, tenant, isBroadcast, attachments } = request
  const changesTenant = tenant !== undefined && (tenant.name !== undefined || tenant.data !== undefined)
  const isLarge = isBroadcast || attachments.length > 0
  const hasMore = isLarge || topics.length > 0 || changesTenant
  return !hasMore && !isExpanded(request) && peopleOf(request).every((one) => one.channels.length === 0)
}

/** All subscribers to be found or created before the event is written. */
export function peopleOf(request: EventRequest): Recipient[] {
  const { recipients, actor } = request
  return [...(isExpanded(request) ? [] : recipients), ...(actor === undefined ? [] : [actor])]
}

export interface Acceptance {
  readonly environment: Environment
  readonly world: World
  readonly queue: Queue
  readonly reservation: Reservation | undefined
  readonly now: Date
}

/** Locks are taken in the global order: transactions, subscribers, the rest; sorted within each. */
export async function writeEvents(
  tx: Tx,
  world: World,
  acceptance: Acceptance,
  given: readonly Numbered[],
): Promise<WrittenEvents> {
  const { environment, now } = acceptance
  const events = await firstOfTheirTransaction(tx, environment, given)
  const outrun = events.length === given.length ? {} : { outrun: idsWithout(given, events) }
  if (events.length === 0) return { preLeased: [], leftWork: false, ...outrun }
  const people = fastFlatMap(events, ({ request }) => peopleOf(request))
  const resolved = await resolveRecipients(tx, world, environment, people)
  await insertContexts(tx, environment, [...firstMentions(events.map(({ request }) => request)).values()], now)
  await updateTenants(tx, environment, tenantChanges(events), now)
  const topics = await findTopics(tx, environment, [
    ...new Set(fastFlatMap(events, ({ request }) => request.topics.map((topic) => topic.topicKey))),
  ])
  const written = await insertAll(tx, acceptance, events, { resolved, topics })
  await insertAttachments(tx, environment, fastFlatMap(events, attachmentsOf), now)
  await insertTasks(
    tx,
    environment,
    written.expanding.map(({ id }) => ({ id, kind: 'expand', lane: fanOutLane, dueAt: now, state: {} })),
    now,
  )
  return { preLeased: written.preLeased, leftWork: written.leftWork || written.expanding.length > 0, ...outrun }
}

function idsWithout(all: readonly Numbered[], some: readonly Numbered[]): Set<string> {
  const ids = new Set(all.map(({ id }) => id))
  for (const { id } of some) ids.delete(id)
  return ids
}

/** Events with their notifications and the jobs those begin with. */
async function insertAll(
  tx: Tx,
  { environment, queue, reservation, now }: Acceptance,
  events: readonly Numbered[],
  { resolved, topics }: { resolved: ResolvedRecipients; topics: readonly Topic[] },
): Promise<WrittenEvents & { expanding: readonly NewEvent[] }> {
  const rows = events.map((event) => rowOf(event, resolved, topics, now))
  const { notifications, jobs } = firstJobs(fastFlatMap(events, (event) => notifiedOf(event, resolved)))
  const lease = reservation?.lease ?? null
  const { clock, leaseMs } = queue
  const [first = [], ...others] = piecesOf(rows)
  // Before those who name them.
  for (const piece of others) await tx.run(oneStatement([eventInsertion(environment, piece)]))
  const parts = [
    eventInsertion(environment, first),
    ...(notifications.length === 0 ? [] : [notificationInsertion(environment, notifications)]),
    ...jobInsertions(environment, jobs, { clock, leaseMs, lease, now }),
    countInsertion(environment, countedEvents(rows, notifications), now),
  ]
  await tx.run(oneStatement(parts))
  const preLeased = lease === null ? [] : preLeasedJobs(environment, jobs, lease, sizedEvents(rows, smallEventLetters))
  const expanding = rows.filter((row) => row.expandedAt === null)
  return { preLeased, leftWork: jobs.length > 0 && preLeased.length === 0, expanding }
}

/** Written at once: large events in one statement would keep all others waiting while it is made. */
export const statementBytesMax = 1024 * 1024

export const areLarge = (requests: readonly EventRequest[]): boolean =>
  requests.reduce((sum, { bytes = 0 }) => sum + bytes, 0) > statementBytesMax

/** One piece, unless they came in large bodies. */
function piecesOf(rows: readonly NewEvent[]): NewEvent[][] {
  const pieces: NewEvent[][] = [[]]
  let bytes = 0
  for (const row of rows) {
    bytes += row.bytes ?? 0
    if (bytes > statementBytesMax && pieces.at(-1)?.length !== 0) {
      pieces.push([])
      bytes = row.bytes ?? 0
    }
    pieces.at(-1)?.push(row)
  }
  return pieces
}

/**
 * Those whose transaction id is new. A generated one cannot have been used before; of two equal ones in a request the
 * first runs.
 */
async function firstOfTheirTransaction(
  tx: Tx,
  environment: Environment,
  events: readonly Numbered[],
): Promise<Numbered[]> {
  const first = firstOfEach(events)
  const claimed = await claimTransactions(tx, environment, claimsOf(first))
  return events.filter(
    (event) =>
      event.request.transactionId === undefined || (claimed.has(event.transactionId) && !isLaterOfIts(first, event)),
  )
}

/** By the callers' own transaction ids. */
export function firstOfEach(events: readonly Numbered[]): ReadonlyMap<string, Numbered> {
  const first = new Map<string, Numbered>()
  for (const event of events) {
    const isOwn = event.request.transactionId !== undefined
    if (isOwn && !first.has(event.transactionId)) first.set(event.transactionId, event)
  }
  return first
}

const isLaterOfIts = (first: ReadonlyMap<string, Numbered>, event: Numbered): boolean =>
  event.request.transactionId !== undefined && first.get(event.transactionId) !== event

export const claimsOf = (first: ReadonlyMap<string, Numbered>): { transactionId: string; eventId: string }[] =>
  [...first.values()].map(({ transactionId, id }) => ({ transactionId, eventId: id }))

/** A mention with a name or data changes the tenant; of several, what the last one gives counts. */
function tenantChanges(events: readonly Numbered[]): TenantMention[] {
  const changes = new Map<string, TenantMention>()
  for (const { request } of events) {
    const { tenant } = request
    if (tenant === undefined || (tenant.name === undefined && tenant.data === undefined)) continue
    changes.set(tenant.identifier, { ...changes.get(tenant.identifier), ...tenant })
  }
  return [...changes.values()]
}

export function rowOf(event: Numbered, resolved: ResolvedRecipients, topics: readonly Topic[], now: Date): NewEvent {
  const { request, version } = event
  const known = request.topics.length === 0 ? [] : topicsOf(request.topics, topics)
  const expands = isExpanded(request)
  const named = expands ? [] : request.recipients
  const isFannedOut = known.length > 0 || expands || request.isBroadcast
  return {
    id: event.id,
    transactionId: event.transactionId,
    workflowId: version.workflowId,
    versionId: version.id,
    payload: event.payload,
    overrides: request.overrides,
    actorId: request.actor === undefined ? null : (resolved.ids.get(request.actor.subscriberId) ?? null),
    tenantId: event.tenant?._id ?? null,
    contextKeys: request.context.length === 0 ? null : request.context.map(contextKeyOf).sort(),
    severity: event.severity === 'none' ? null : event.severity,
    attachments: request.attachments.length,
    lane: isFannedOut ? fanOutLane : directLane,
    recipients: expands ? request.recipients : null,
    topics: known.map((topic) => ({ id: topic._id, key: topic.key })),
    excluded: known.length === 0 ? [] : [...new Set(fastFlatMap(request.topics, (topic) => topic.exclude))],
    warnings: warningsOf(event, known, resolved),
    notified: named.length,
    isBroadcast: request.isBroadcast,
    createdAt: now,
    expandedAt: isFannedOut ? null : now,
    test: request.test ?? null,
    traceparent: event.traceparent ?? null,
    bytes: request.bytes,
  }
}

function topicsOf(named: readonly TopicRecipient[], topics: readonly Topic[]): Topic[] {
  const keys = new Set(named.map((topic) => topic.topicKey))
  return topics.filter((topic) => keys.has(topic.key))
}

function warningsOf({ request, warnings }: Numbered, known: readonly Topic[], resolved: ResolvedRecipients): string[] {
  if (request.topics.length === 0 && resolved.warnings.size === 0) return [...warnings]
  const keys = new Set(known.map((topic) => topic.key))
  const unknown = [...new Set(request.topics.map((topic) => topic.topicKey))].filter((key) => !keys.has(key))
  const own = new Set(request.recipients.map(({ subscriberId }) => subscriberId))
  const channels = channelWarnings(new Map([...resolved.warnings].filter(([subscriberId]) => own.has(subscriberId))))
  return [...warnings, ...unknown.map((key) => `Topic ${key} was not found`), ...channels]
}

const attachmentsOf = ({ id, request }: Numbered): NewAttachment[] =>
  request.attachments.map((attachment, place) => ({ ...attachment, eventId: id, place }))

export function notifiedOf(event: Numbered, resolved: ResolvedRecipients): Notified[] {
  const { request, version, firstStep } = event
  if (isExpanded(request)) return []
  return request.recipients.map((recipient) => ({
    eventId: event.id,
    versionId: version.id,
    firstStep,
    lane: directLane,
    subscriberId: resolved.ids.get(recipient.subscriberId) as string,
    recipient: recipientAsGiven(recipient),
    topicIds: null,
  }))
}
