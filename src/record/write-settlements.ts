// Writes settlements: the fence, and then only what belongs to jobs that were still ours.
import type { Part } from '../db/one-statement.ts'
import { oneStatement } from '../db/one-statement.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { sql, whenCommitted } from '../db/sql.ts'
import { atOnce, over } from '../domain/delivery/due.ts'
import type { Job } from '../domain/delivery/job.ts'
import { jobIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { NewSuppression } from '../domain/people/suppression.ts'
import type { Queue } from '../queue/queue.ts'
import type { Reservation } from '../queue/worker.ts'
import { closeWindows } from '../store/events/digests.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { jobInsertions, madeJobs } from '../store/jobs/insert.ts'
import { jobSettlements, settledJobs, showDigests } from '../store/jobs/settle.ts'
import { withSealedAddresses } from '../store/messages/addresses.ts'
import { countedInboxes } from '../store/messages/inbox-changes.ts'
import { messageInsertions } from '../store/messages/insert.ts'
import type { CallResult } from '../store/messages/sending.ts'
import { callResults, recordedAmong, recordedIds } from '../store/messages/sending.ts'
import type { CountedJob, WrittenJobs } from '../store/operate/counts.ts'
import { jobCountInsertion } from '../store/operate/counts.ts'
import { suppressionInsertion } from '../store/people/suppressions.ts'
import { newsInsertions } from '../store/webhooks/webhook-news.ts'
import type { World } from '../world/world.ts'
import { hintAtListed } from './change-inboxes.ts'
import type { CountedCall } from './counts/count-settlements.ts'
import { countedByMessage, countedJobs } from './counts/count-settlements.ts'
import { preLeasedJob } from './notify.ts'
import type { MadeAfter, Settlement } from './settlement.ts'
import { newsOfMessages, newsOfResults } from './webhooks/message-news.ts'

export interface Written {
  /** The ids of the jobs that were still ours, and of those made after them. */
  readonly stillLeased: ReadonlySet<string>
  /** The next steps, created with the reservation's lease. */
  readonly preLeased: readonly Job[]
}

/** Settlements, and what is written with them. */
export interface SettlementBatch {
  readonly settlements: readonly Settlement[]
  readonly madeAfter?: MadeAfter
  /** The results of the calls of these jobs, if calls were made. */
  readonly results?: readonly CallResult[]
  /** The same as it is counted. */
  readonly calls?: readonly CountedCall[]
  /** What those calls revealed about addresses. It holds whoever has the jobs. */
  readonly suppressions?: readonly NewSuppression[]
  readonly reservation: Reservation | undefined
}

/** One statement, and so a transaction by itself, or a part of the one that it is given. */
export async function writeSettlements(
  db: Sql,
  world: World,
  environment: Environment,
  queue: Queue,
  { settlements, madeAfter = noneMade, results = [], calls = [], suppressions = [], reservation }: SettlementBatch,
): Promise<Written> {
  if (settlements.length === 0) return { stillLeased: new Set(), preLeased: [] }
  const now = world.now()
  const { clock, leaseMs } = queue
  const lease = reservation?.lease ?? null
  const messages = fastFlatMap(settlements, (settlement) => settlement.messages).map((message) =>
    withSealedAddresses(world.sealer, environment, message),
  )
  const next = nextJobs(settlements, madeAfter)
  const over = fastFlatMap(settlements, (settlement) => endedJobsOf(settlement, madeAfter))
  const counted = countedJobs(settlements, over, calls, now)
  const doubtful = countedByMessage(settlements, calls)
  const insertLease = { clock, leaseMs, lease, now }
  const settled = settlements.filter(({ job }) => !madeAfter.has(job.id)).map(jobSettlementOf)
  const decided = [...decidedJobs(settlements, madeAfter), ...over]
  const made = jobInsertions(environment, decided, insertLease, settledJobs)
  const preLeased = jobInsertions(environment, next, insertLease, settledJobs)
  const ours = idsOf(made)
  const isInApp = messages.some(({ draft }) => draft.channel === 'in_app')
  const news = newsInsertions(
    environment,
    [
      { as: sql`news_made`, name: ours.name, news: newsOfMessages(world, messages, now), written: ours.ids },
      { as: sql`news_recorded`, name: 'recorded', news: newsOfResults(world, results, now), written: recordedIds },
    ],
    { newId: () => world.newId(now), now },
  )
  const row = await db.row<{ ids: string | null; inboxes?: string | null }>(
    oneStatement(
      [
        ...jobSettlements(environment, settled, { clock, leaseMs, now }),
        ...made,
        ...preLeased,
        ...messageInsertions(environment, messages, ours.ids),
        ...(results.length === 0 ? [] : [callResults(environment, results, settledJobs, now)]),
        ...(suppressions.length === 0 ? [] : [suppressionInsertion(environment, suppressions, now)]),
        ...(counted.every(({ keys }) => keys.length === 0) ? [] : [jobCountInsertion(environment, counted, ours, now)]),
        ...(doubtful.length === 0 ? [] : [doubtfulCounts(environment, doubtful, now)]),
        ...news,
      ],
      // As one text: as rows, reading them costs more than finding them.
      sql`select string_agg(id::text, ',') as ids ${isInApp ? sql`, ${countedInboxes} as inboxes` : sql``}
          from (${idsOf([...made, ...preLeased]).ids}) as ours`,
    ),
  )
  hintAtListed(db, world, environment, row?.inboxes)
  if (news.length > 0) whenCommitted(db, () => queue.poke())
  const stillLeased = new Set(row?.ids?.split(',') ?? [])
  const mine = lease === null ? [] : next.filter((job) => stillLeased.has(job.id))
  const events = new Map(settlements.map(({ job }) => [job.eventId, job.event]))
  return {
    stillLeased,
    preLeased: mine.map((job) => preLeasedJob(environment, job, lease ?? '', events.get(job.eventId))),
  }
}

/** Those of messages that were recorded. */
function doubtfulCounts(environment: Environment, counted: readonly CountedJob[], now: Date): Part {
  const recorded = { name: 'recorded', ids: recordedAmong(counted.map(({ id }) => id)) }
  return { ...jobCountInsertion(environment, counted, recorded, now), as: sql`counted_of_messages` }
}

/** What was settled, and what was created with it. */
function idsOf(made: readonly Part[]): WrittenJobs {
  if (made.length === 0) return { name: 'settled', ids: settledJobs }
  return {
    name: made.map(({ name }) => name.split('-')[0]).join('-'),
    ids: sql`${settledJobs} union all ${madeJobs(made)}`,
  }
}

/**
 * With the windows that some of them close: nothing of it is committed unless the jobs that close them were still ours.
 */
export async function writeClosing(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { settlements, ...parts }: SettlementBatch,
): Promise<Written> {
  const now = world.now()
  const closing = fastFlatMap(settlements, (settlement) => settlement.closes ?? [])
  const closed = await closeWindows(tx, environment, closing, now)
  const counted = settlements.map((settlement) => withDigestCount(settlement, closed, now))
  const written = await writeSettlements(tx, world, environment, queue, { ...parts, settlements: counted })
  if (settlements.some((one) => one.closes !== null && !written.stillLeased.has(one.job.id))) throw new LostLease()
  await showDigests(
    tx,
    environment,
    settlements.filter(isReleased).map(({ job, closes }) => ({ id: job.id, digestId: closes })),
  )
  return written
}

function jobSettlementOf({ job, status, due, state, details }: Settlement) {
  return { id: job.id, lease: job.lease, status, due, state, details }
}

/** A lease that was needed for the whole transaction was lost: it is rolled back, and tried without that job. */
export class LostLease extends Error {
  constructor() {
    super('A lease was lost')
    this.name = 'LostLease'
  }
}

/** What was held back and collected is decided again, with all of it. */
export const isReleased = (settlement: Settlement): settlement is Settlement & { closes: string } =>
  settlement.status === 'queued' && settlement.closes !== null

/** Reports how many events the window that closes with it collected. */
export function withDigestCount(settlement: Settlement, closed: ReadonlyMap<string, number>, now: Date): Settlement {
  if (settlement.closes === null) return settlement
  const total = closed.get(settlement.closes) ?? 0
  const code = isReleased(settlement) ? 'heldReleased' : 'digestTriggered'
  const counted = detail(now, code, { raw: { total_count: total } })
  return { ...settlement, details: [...settlement.details, counted] }
}

const noneMade: MadeAfter = new Map()

/** The steps that come after them and are decided later. */
export function nextJobs(settlements: readonly Settlement[], madeAfter: MadeAfter = noneMade): NewJob[] {
  const followed = new Set(madeAfter.values())
  const jobs: NewJob[] = []
  for (const { job, next } of settlements) {
    if (next === null || followed.has(job.id)) continue
    const { step, digestId } = next
    jobs.push(laterJob(job, step, { status: 'queued', due: atOnce, digestId, details: [] }, madeAfter))
  }
  return jobs
}

/** Those that were decided before they were made. */
export function decidedJobs(settlements: readonly Settlement[], madeAfter: MadeAfter): NewJob[] {
  const jobs: NewJob[] = []
  for (const { job, status, due, state, details } of settlements) {
    const afterId = madeAfter.get(job.id)
    if (afterId === undefined) continue
    const { id, step, digestId, lease } = job
    jobs.push(newJob(job, { id, step, status, due, digestId, state, details, lease, afterId }))
  }
  return jobs
}

export function endedJobsOf({ job, rest }: Settlement, madeAfter: MadeAfter = noneMade): NewJob[] {
  if (rest === null) return []
  const { status, details } = rest
  const made = { status, due: over, digestId: job.digestId, details }
  return rest.steps.map((step) => laterJob(job, step, made, madeAfter))
}

/** Of a step after the job's own; it hangs on what that one hangs on. */
function laterJob(
  job: Job,
  step: number,
  { status, due, digestId, details }: Pick<NewJob, 'status' | 'due' | 'digestId' | 'details'>,
  madeAfter: MadeAfter,
): NewJob {
  const id = jobIdOf(job.eventId, job.notificationId, step)
  const afterId = madeAfter.get(job.id) ?? job.id
  return newJob(job, { id, step, status, due, digestId, state: null, details, lease: undefined, afterId })
}

type Shared = 'notificationId' | 'eventId' | 'subscriberId' | 'versionId' | 'lane'

/** Of the job's notification. Field by field, as there is one for most jobs: a spread costs ten times as much. */
function newJob(
  { notificationId, eventId, subscriberId, versionId, lane }: Pick<Job, Shared>,
  { id, step, status, due, digestId, state, details, lease, afterId }: Required<Omit<NewJob, Shared>>,
): NewJob {
  return {
    id,
    notificationId,
    eventId,
    subscriberId,
    versionId,
    step,
    status,
    due,
    lease,
    lane,
    digestId,
    state,
    details,
    afterId,
  }
}
