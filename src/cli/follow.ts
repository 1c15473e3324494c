// Follows the activity by polling its list: the result of each step, each outcome once, none missed.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { JobStatus } from '../domain/delivery/job.ts'
import { endedStatuses } from '../domain/delivery/job.ts'
import type { Activity, ActivityJob, EventProgress } from '../domain/insight/activity.ts'
import { wordings } from '../domain/insight/execution-detail.ts'

/** One step of a notification, and what has just become of it. */
export interface StepOutcome {
  readonly at: string
  readonly notificationId: string
  readonly transactionId: string
  readonly workflow: string
  /** Empty once the subscriber was deleted. */
  readonly subscriberId: string
  readonly stepId: string
  readonly step: string
  readonly type: ActivityJob['type']
  readonly outcome: JobStatus
  readonly reason: string
  readonly isTest: boolean
}

export interface ActivityReader {
  /** A page of the list since the given time, newest first. */
  since(from: Date, page: number): Promise<{ data: readonly Activity[]; hasMore: boolean }>
  /** The notifications of these events for these subscribers. */
  ofEvents(
    transactionIds: readonly string[],
    subscriberIds: readonly string[],
    page: number,
  ): Promise<{ data: readonly Activity[]; hasMore: boolean }>
  progress(transactionId: string): Promise<EventProgress['state'] | undefined>
  /** Something could not be followed. */
  warn(sentence: string): void
}

/** Events are committed slightly after the time in their ids; the newest are read again for this long. */
const overlapMs = 5_000
/** Now and then as far back as this: for a commit that took long, and for recipients that were found late. */
const wideOverlapMs = 60_000
const roundsBetweenWide = 10
/** A round reads no more; if there is more at once, a note says so. */
export const readMax = 10_000
/** Notifications that wait for something are remembered, up to so many. */
const openMax = 20_000
/** Of those, so many are read again in a round, the ones that were not for the longest time first. */
const lookedAtMax = 200
const batchSize = 50
/** An address holds the ids of a batch; Node's own limit is 16 KB. */
const batchBytesMax = 4_000
/** Jobs whose outcome was reported are remembered for as long as they can be read again. */
const reportedMax = 200_000
/** More recipients than that are found page by page, as the members of topics are. */
const expandedFrom = 100

interface Open {
  readonly transactionId: string
  readonly subscriberId: string
  lookedAt: number
}

export class Follower {
  readonly #reader: ActivityReader
  readonly #sinceAt: number
  readonly #reported = new BoundedMap<string, string>(reportedMax)
  readonly #open = new Map<string, Open>()
  /** Notifications of large audiences that were seen. */
  readonly #known = new BoundedMap<string, true>(reportedMax)
  /** Events that may still be finding their recipients, and when they came. */
  readonly #audiences = new Map<string, number>()
  #newestAt: number
  #round = 0

  constructor(reader: ActivityReader, sinceAt: Date) {
    this.#reader = reader
    this.#sinceAt = sinceAt.getTime()
    this.#newestAt = this.#sinceAt
  }

  /** What is new since the round before, oldest first. */
  async round(): Promise<StepOutcome[]> {
    const isWide = this.#round % roundsBetweenWide === 0
    this.#round += 1
    const found = new Map<string, Activity>()
    const expanded = isWide ? await this.#expanded() : []
    const audienceAt = isWide ? Math.min(...this.#audiences.values()) : Number.POSITIVE_INFINITY
    const from = Math.min(this.#newestAt - (isWide ? wideOverlapMs : overlapMs), audienceAt)
    await this.#readSince(new Date(Math.max(from, this.#sinceAt)), found)
    await this.#readOpen(found)
    // Only now: where reading failed, the next round reads the same again.
    for (const transactionId of expanded) this.#audiences.delete(transactionId)
    const outcomes = [...found.values()].flatMap((activity) => this.#outcomesOf(activity))
    this.#noteAudiences(found.values())
    this.#forget()
    return outcomes.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
  }

  async #readSince(from: Date, found: Map<string, Activity>): Promise<void> {
    for (let page = 0; ; page += 1) {
      // New items push others to the next page: they are read twice, and none is missed.
      const { data, hasMore } = await this.#reader.since(from, page)
      for (const activity of data) found.set(activity._id, activity)
      if (!hasMore) return
      if (found.size >= readMax) {
        this.#reader.warn(
          `There are more than ${readMax} notifications since ${from.toISOString()}: the oldest are not shown. Use a filter or a later --since to see all.`,
        )
        return
      }
    }
  }

  /**
   * Events that have resolved all their recipients; the last of them may have arrived since, so they are read once
   * more.
   */
  async #expanded(): Promise<string[]> {
    const expanded: string[] = []
    for (const transactionId of this.#audiences.keys()) {
      if ((await this.#reader.progress(transactionId)) !== 'expanding') expanded.push(transactionId)
    }
    return expanded
  }

  #noteAudiences(activities: Iterable<Activity>): void {
    const counts = new Map<string, number>()
    for (const { transactionId, topics, createdAt, _id } of activities) {
      const count = (counts.get(transactionId) ?? 0) + 1
      counts.set(transactionId, count)
      const isLarge = topics.length > 0 || count > expandedFrom
      if (!isLarge || this.#known.has(_id)) continue
      this.#known.set(_id, true)
      this.#audiences.set(transactionId, Date.parse(createdAt))
    }
  }

  async #readOpen(found: Map<string, Activity>): Promise<void> {
    const waiting = [...this.#open]
      .filter(([id]) => !found.has(id))
      .sort(([, one], [, other]) => one.lookedAt - other.lookedAt)
      .slice(0, lookedAtMax)
    for (const batch of batchesOf(waiting)) {
      const transactionIds = [...new Set(batch.map(([, open]) => open.transactionId))]
      const subscriberIds = [...new Set(batch.map(([, open]) => open.subscriberId))]
      const read = new Set<string>()
      for (let page = 0; ; page += 1) {
        const { data, hasMore } = await this.#reader.ofEvents(transactionIds, subscriberIds, page)
        for (const activity of data) {
          read.add(activity._id)
          found.set(activity._id, activity)
        }
        if (!hasMore || data.length === 0) break
      }
      for (const [id, open] of batch) {
        open.lookedAt = this.#round
        // Its subscriber was deleted, or it is no longer kept: there will be nothing more to report.
        if (!read.has(id)) this.#open.delete(id)
      }
    }
  }

  #outcomesOf(activity: Activity): StepOutcome[] {
    this.#newestAt = Math.max(this.#newestAt, Date.parse(activity.createdAt))
    const subscriberId = activity.subscriber?.subscriberId ?? ''
    const isOver = activity.jobs.every((job) => endedStatuses.has(job.status))
    if (isOver || subscriberId === '') this.#open.delete(activity._id)
    else if (!this.#open.has(activity._id)) {
      this.#open.set(activity._id, { transactionId: activity.transactionId, subscriberId, lookedAt: this.#round })
    }
    return activity.jobs.flatMap((job) => this.#outcomeOf(activity, job))
  }

  #outcomeOf(activity: Activity, job: ActivityJob): StepOutcome[] {
    const own = job.executionDetails.filter((detail) => !isLater(detail))
    const mark = `${job.status} ${own.length}`
    if (this.#reported.get(job._id) === mark) return []
    this.#reported.set(job._id, mark)
    const last = own.at(-1)
    const isRetried = job.status === 'running' && last?.status === 'Queued'
    if (!endedStatuses.has(job.status) && job.status !== 'delayed' && !isRetried) return []
    return [
      {
        // The row also changes when its message is seen or reported on.
        at: last?.createdAt ?? job.updatedAt,
        notificationId: activity._id,
        transactionId: activity.transactionId,
        workflow: activity.template.triggers[0]?.identifier ?? activity.template.name,
        subscriberId: activity.subscriber?.subscriberId ?? '',
        stepId: job.step._id,
        step: job.step.name ?? job.type,
        type: job.type,
        outcome: job.status,
        reason: last === undefined ? '' : reasonOf(last),
        isTest: activity.isTest,
      },
    ]
  }

  #forget(): void {
    if (this.#open.size <= openMax) return
    this.#reader.warn(`More than ${openMax} notifications are waiting: the oldest are no longer followed.`)
    for (const id of this.#open.keys()) {
      if (this.#open.size <= openMax) return
      this.#open.delete(id)
    }
  }
}

type Detail = ActivityJob['executionDetails'][number]

const textsOf = (...codes: (keyof typeof wordings)[]): ReadonlySet<string> =>
  new Set(codes.map((code) => wordings[code].detail))
const conditionTexts = textsOf('webhookRetried', 'webhookFailed')
const laterTexts = textsOf('snoozed', 'unsnoozed', 'replyCalled', 'replyFailed', 'replyReceived')

/** What is reported about a message after its step has finished: receipts, replies, and what its reader did. */
function isLater({ detail, source, status }: Detail): boolean {
  if (status === 'ReadConfirmation' || laterTexts.has(detail)) return true
  return source === 'Webhook' && !conditionTexts.has(detail)
}

/** The full response is left to `why`. */
const answerLengthMax = 200

function reasonOf({ detail, raw }: Detail): string {
  const said = answerOf(raw)
  return said === undefined ? detail : `${detail}: ${said}`
}

function answerOf(raw: string | undefined): string | undefined {
  if (raw === undefined) return undefined
  try {
    const { message } = JSON.parse(raw) as { message?: unknown }
    return typeof message === 'string' && message !== '' ? message.slice(0, answerLengthMax) : undefined
  } catch {
    return undefined
  }
}

/** As many as one address can name. */
function batchesOf(waiting: readonly (readonly [string, Open])[]): (readonly (readonly [string, Open])[])[] {
  const batches: (readonly [string, Open])[][] = []
  let bytes = 0
  for (const entry of waiting) {
    const [, { transactionId, subscriberId }] = entry
    const own = encodeURIComponent(transactionId + subscriberId).length
    const batch = batches.at(-1)
    if (batch === undefined || batch.length === batchSize || bytes + own > batchBytesMax) {
      batches.push([entry])
      bytes = own
    } else {
      batch.push(entry)
      bytes += own
    }
  }
  return batches
}
