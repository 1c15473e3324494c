// Writes events that will run: transactions, subscribers, contexts, then events with their notifications and jobs.
import { channelChanges } from '../commit/channel-changes.ts'
import type { Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { ContextMention, Recipient, TenantMention, TopicRecipient } from '../domain/event.ts'
import { contextKeyOf, directLane, fanOutLane, recipientAsGiven, recipientsAtOnceMax } from '../domain/event.ts'
import type { Job } from '../domain/job.ts'
import { Problem } from '../domain/problem.ts'
import type { Topic } from '../domain/topic.ts'
import type { Queue } from '../queue/queue.ts'
import type { Reservation } from '../queue/worker.ts'
import type { Notified } from '../record/notify.ts'
import { notify } from '../record/notify.ts'
import type { ResolveChannels, ResolvedRecipients } from '../record/resolve-recipients.ts'
import { resolveRecipients } from '../record/resolve-recipients.ts'
import { insertContexts } from '../store/contexts.ts'
import type { NewEvent } from '../store/events.ts'
import { claimTransactions, insertEvents } from '../store/events.ts'
import { insertTasks } from '../store/tasks.ts'
import { updateTenants } from '../store/tenants.ts'
import { findTopics } from '../store/topics.ts'
import type { World } from '../world/world.ts'
import type { Runnable } from './judge-events.ts'

/** An event with the ids it was given. */
export interface Numbered extends Runnable {
  readonly id: string
  readonly transactionId: string
}

export interface WrittenEvents {
  readonly born: readonly Job[]
  /** Whether something was left for the worker to find. */
  readonly leftWork: boolean
}

/** Entries that name an integration nobody knows cost nobody else anything: they are told as a warning. */
export const resolveChannels: ResolveChannels = async (db, environment, recipients) => {
  const lists = recipients.map((recipient) => recipient.channels)
  const resolved = await channelChanges(db, environment, lists)
  return resolved.map((one) => (one instanceof Problem ? one.message : one))
}

/** How many notifications become jobs at once, so that room for them can be kept. */
export function jobsAtOnce(events: readonly Runnable[]): number {
  return events.reduce((sum, { request }) => sum + (isExpanded(request.recipients) ? 0 : request.recipients.length), 0)
}

const isExpanded = (recipients: readonly Recipient[]): boolean => recipients.length > recipientsAtOnceMax

/** Locks are taken in the order of the house: transactions, subscribers, the rest; sorted within each. */
export async function writeEvents(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  given: readonly Numbered[],
  reservation: Reservation | undefined,
): Promise<WrittenEvents> {
  const now = world.now()
  const events = await firstOfTheirTransaction(tx, environment, given)
  if (events.length === 0) return { born: [], leftWork: false }
  const people = events.flatMap(({ request }) => [
    ...(isExpanded(request.recipients) ? [] : request.recipients),
    ...(request.actor === undefined ? [] : [request.actor]),
  ])
  const resolved = await resolveRecipients(tx, world, environment, people, resolveChannels)
  await insertContexts(tx, environment, distinctContexts(events), now)
  await updateTenants(tx, environment, tenantChanges(events), now)
  const topics = await findTopics(tx, environment, [
    ...new Set(events.flatMap(({ request }) => request.topics.map((topic) => topic.topicKey))),
  ])
  const rows = events.map((event) => rowOf(event, resolved, topics, now))
  await insertEvents(tx, environment, rows)
  const notified = events.flatMap((event) => notifiedOf(event, resolved))
  const { born } = await notify(tx, environment, queue, notified, { reservation, now })
  const expanding = rows.filter((row) => row.expandedAt === null)
  await insertTasks(
    tx,
    environment,
    expanding.map(({ id }) => ({ id, kind: 'expand', lane: fanOutLane, dueAt: now, state: {} })),
    now,
  )
  return { born, leftWork: expanding.length > 0 || (notified.length > 0 && born.length === 0) }
}

/** Those whose transaction id is new. One of ours cannot have been used before; of two alike in a call the first runs. */
async function firstOfTheirTransaction(
  tx: Tx,
  environment: Environment,
  events: readonly Numbered[],
): Promise<Numbered[]> {
  const first = new Map<string, Numbered>()
  for (const event of events) {
    if (event.request.transactionId !== undefined && !first.has(event.transactionId)) {
      first.set(event.transactionId, event)
    }
  }
  const claimed = await claimTransactions(
    tx,
    environment,
    [...first.values()].map(({ transactionId, id }) => ({ transactionId, eventId: id })),
  )
  return events.filter(
    (event) =>
      event.request.transactionId === undefined ||
      (claimed.has(event.transactionId) && first.get(event.transactionId) === event),
  )
}

function distinctContexts(events: readonly Numbered[]): ContextMention[] {
  const mentions = new Map<string, ContextMention>()
  for (const { request } of events) {
    for (const mention of request.context) {
      const key = contextKeyOf(mention)
      if (!mentions.has(key)) mentions.set(key, mention)
    }
  }
  return [...mentions.values()]
}

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

function rowOf(event: Numbered, resolved: ResolvedRecipients, topics: readonly Topic[], now: Date): NewEvent {
  const { request, version } = event
  const known = request.topics.length === 0 ? [] : topicsOf(request.topics, topics)
  const expands = isExpanded(request.recipients)
  const named = expands ? [] : request.recipients
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
    lane: known.length > 0 || expands ? fanOutLane : directLane,
    recipients: expands ? request.recipients : null,
    topics: known.map((topic) => ({ id: topic._id, key: topic.key })),
    excluded: known.length === 0 ? [] : [...new Set(request.topics.flatMap((topic) => topic.exclude))],
    warnings: warningsOf(event, known, resolved),
    notified: named.length,
    createdAt: now,
    expandedAt: known.length > 0 || expands ? null : now,
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
  const channels = request.recipients.flatMap(({ subscriberId }) => {
    const warning = resolved.warnings.get(subscriberId)
    return warning === undefined ? [] : [`Channels of ${subscriberId} were not stored: ${warning}`]
  })
  return [...warnings, ...unknown.map((key) => `Topic ${key} was not found`), ...channels]
}

function notifiedOf(event: Numbered, resolved: ResolvedRecipients): Notified[] {
  const { request, version, firstStep } = event
  if (isExpanded(request.recipients)) return []
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
