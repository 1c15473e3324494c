// One page of an event's recipients: their notifications and jobs, and how far the event has come, in one transaction.
import type { Db, Tx } from '../db/sql.ts'
import type { Recipient } from '../domain/delivery/event.ts'
import { fanOutLane, recipientAsGiven, recipientsPerPageMax } from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import type { Queue } from '../queue/queue.ts'
import { insertReserved } from '../queue/reserved.ts'
import type { ExpandingEvent } from '../store/events/events.ts'
import { countNotified, findEvents, findExpandingEvent } from '../store/events/events.ts'
import type { Task } from '../store/jobs/tasks.ts'
import { advanceTask, finishTasks } from '../store/jobs/tasks.ts'
import { insertCounts } from '../store/operate/counts.ts'
import { findAllSubscribers } from '../store/people/all-subscribers.ts'
import { findTopicMembers } from '../store/people/topic-subscriptions.ts'
import { wantedMembers } from '../store/people/wanted-members.ts'
import type { World } from '../world/world.ts'
import { countedNotifications } from './counts/count-accepted.ts'
import type { Notified } from './notify.ts'
import { notifyMissing, preLeasedJob } from './notify.ts'
import { channelWarnings, resolveRecipients } from './resolve-recipients.ts'

/** The progress of an event: how many of the named recipients, then the subscribers of its topics by id. */
export interface ExpansionState {
  readonly named: number
  /** The last subscriber of the topics that became a notification; null before the first. */
  readonly after: string | null
}

export const expansionStart: ExpansionState = { named: 0, after: null }

export interface ExpansionParts {
  readonly task: Task
  readonly state: ExpansionState
  /** Of the event's version. */
  workflowOf(versionId: string): Promise<ExpandedWorkflow | undefined>
}

export interface ExpandedWorkflow {
  readonly id: string
  readonly isCritical: boolean
  /** The first active one. */
  readonly firstStep: number
}

/** Where to continue; undefined when the event is expanded, or no longer ours. */
export async function expandPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  parts: ExpansionParts,
): Promise<ExpansionState | undefined> {
  const since = world.tracer?.mark()
  const reservation = queue.reserve(recipientsPerPageMax, environment.id)
  const writing = (): Promise<Page | undefined> =>
    db.transaction(async (tx) => {
      const written = await writePage(tx, world, environment, parts)
      if (written === undefined) return undefined
      const { notified, next } = written
      const now = world.now()
      const lease = reservation?.lease ?? null
      const made = await notifyMissing(tx, environment, queue, notified, { lease, now })
      const preLeased = lease === null ? [] : made.map((job) => preLeasedJob(environment, job, lease, undefined))
      await countNotified(tx, environment, {
        eventId: parts.task.id,
        count: made.length,
        warnings: written.warnings,
        expandedAt: next === undefined ? now : null,
      })
      await insertCounts(tx, environment, countedNotifications(made), now)
      const { task } = parts
      const isOurs =
        next === undefined
          ? (await finishTasks(tx, environment, [task])).size > 0
          : await advanceTask(tx, environment, { id: task.id, lease: task.lease, state: { ...next } }, queue)
      if (!isOurs) throw new LostTask()
      const { traceparent } = written
      return { preLeased, next, made: made.length, lane: made[0]?.lane ?? fanOutLane, traceparent }
    })
  const page = await insertReserved(reservation, writing).catch((error: unknown) => {
    if (!(error instanceof LostTask)) throw error
    return undefined
  })
  if (page !== undefined) world.meter.countNotifications(page.lane, page.made)
  if (page?.traceparent) {
    const attributes = { 'posthorn.notifications': page.made, 'posthorn.is_last_page': page.next === undefined }
    world.tracer?.begin('expand page', page.traceparent, { since })?.end({ attributes })
  }
  if (page !== undefined && reservation === undefined) queue.poke()
  return page?.next
}

interface WrittenPage {
  readonly notified: Notified[]
  readonly next: ExpansionState | undefined
  /** What the caller should know of these recipients. */
  readonly warnings: readonly string[]
  readonly traceparent: string | null
}

interface Page {
  readonly preLeased: readonly Job[]
  readonly made: number
  readonly lane: number
  readonly next: ExpansionState | undefined
  readonly traceparent: string | null
}

/** Another node has it now: what this one wrote is rolled back. */
class LostTask extends Error {}

async function writePage(
  tx: Tx,
  world: World,
  environment: Environment,
  { task, state, workflowOf }: ExpansionParts,
): Promise<WrittenPage | undefined> {
  const event = await findExpandingEvent(tx, environment, task.id)
  // Dropped with its partition, or cancelled: there is no one left to notify.
  if (event === undefined || event.canceled_at !== null) {
    await finishTasks(tx, environment, [task])
    return undefined
  }
  const workflow = await workflowOf(event.version_id)
  if (workflow === undefined) throw new Error(`Version ${event.version_id} of an event is missing`)
  const { traceparent } = event
  const common = { eventId: event.id, versionId: event.version_id, firstStep: workflow.firstStep, lane: event.lane }
  // Null if a person was erased.
  const recipients = (event.recipients ?? []) as readonly (Recipient | null)[]
  if (state.named < recipients.length) {
    const places = recipients.slice(state.named, state.named + recipientsPerPageMax)
    const part = places.filter((recipient) => recipient !== null)
    const { ids, warnings } = await resolveRecipients(tx, world, environment, part)
    const notified = part.map((recipient) => ({
      ...common,
      subscriberId: ids.get(recipient.subscriberId) as string,
      recipient: recipientAsGiven(recipient),
      topicIds: null,
    }))
    const named = state.named + places.length
    const isLast = named >= recipients.length && event.topic_ids === null && !event.is_broadcast
    const next = isLast ? undefined : { ...state, named }
    return { notified, next, warnings: channelWarnings(warnings), traceparent }
  }
  const page = { after: state.after, limit: recipientsPerPageMax }
  const { members, last } = event.is_broadcast
    ? await allMembers(tx, environment, page)
    : await topicMembers(tx, world, environment, event, workflow, page)
  const excluded = new Set(event.excluded ?? [])
  const notified = members
    // The actor does not need to be notified.
    .filter((member) => member.isThere && member.id !== event.actor_id && !excluded.has(member.subscriberId))
    .map((member) => ({ ...common, subscriberId: member.id, recipient: null, topicIds: member.topicIds }))
  return { notified, next: last === undefined ? undefined : { ...state, after: last }, warnings: [], traceparent }
}

interface PageOfMembers {
  readonly members: readonly {
    readonly id: string
    readonly subscriberId: string
    readonly isThere: boolean
    readonly topicIds: readonly string[] | null
  }[]
  /** The internal id of the last one, if there are more. */
  readonly last: string | undefined
}

interface PageAsked {
  readonly after: string | null
  readonly limit: number
}

const lastOf = (found: readonly { readonly id: string }[], { limit }: PageAsked): string | undefined =>
  found.length < limit ? undefined : found.at(-1)?.id

async function allMembers(tx: Tx, environment: Environment, page: PageAsked): Promise<PageOfMembers> {
  const members = await findAllSubscribers(tx, environment, page)
  return { members, last: lastOf(members, page) }
}

/** Without those who do not want the workflow through any of the topics. */
async function topicMembers(
  tx: Tx,
  world: World,
  environment: Environment,
  event: ExpandingEvent,
  workflow: ExpandedWorkflow,
  page: PageAsked,
): Promise<PageOfMembers> {
  const asked = { topicIds: event.topic_ids ?? [], workflowId: workflow.id, ...page }
  const found = await findTopicMembers(tx, environment, asked)
  const { wanted, judged } = await wantedMembers(tx, environment, found, {
    isCritical: workflow.isCritical,
    event: async () => (await findEvents(tx, environment, [event.id]))[0],
    now: world.now(),
  })
  // Conditions that take long cut the page: the next one goes on after the last member that was judged.
  const last = judged < found.length ? found[judged - 1]?.id : lastOf(found, page)
  return { members: wanted, last }
}
