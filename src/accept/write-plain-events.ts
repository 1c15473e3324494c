// Writes events that need nothing but themselves, their recipients and their contexts: one statement, possibly with what was
// decided for them at once.
import type { AnsweredCall } from '../commit/once.ts'
import { firstAnswers } from '../commit/once.ts'
import { expectRows, wasOutrun } from '../db/expect-rows.ts'
import { isInfrastructureError } from '../db/failure.ts'
import type { Part } from '../db/one-statement.ts'
import { oneStatement } from '../db/one-statement.ts'
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import { hintAtListed } from '../record/change-inboxes.ts'
import { countedEvents } from '../record/counts/count-accepted.ts'
import type { DecideAtOnce, DecidedAtOnce, DecidedRows } from '../record/decided-at-once.ts'
import { decidedAtOnceMax, decidedRows } from '../record/decided-at-once.ts'
import type { ForeseenSurroundings } from '../record/foresee-surroundings.ts'
import type { FirstJobs, PreLeasedJob, Surroundings } from '../record/notify.ts'
import { firstJobs } from '../record/notify.ts'
import type { ForeseenPeople } from '../record/resolve-recipients.ts'
import type { NewEvent } from '../store/events/events.ts'
import { eventInsertion, transactionClaims } from '../store/events/events.ts'
import { notificationInsertion } from '../store/events/notifications.ts'
import type { InsertLease } from '../store/jobs/insert.ts'
import { jobInsertions } from '../store/jobs/insert.ts'
import { countedInboxes, inboxNumbers } from '../store/messages/inbox-changes.ts'
import type { CountedKey } from '../store/operate/counts.ts'
import { countInsertion } from '../store/operate/counts.ts'
import { contextInsertion } from '../store/people/contexts.ts'
import { subscriberChanges, subscriberInsertion } from '../store/people/subscribers.ts'
import type { World } from '../world/world.ts'
import type { SizedEvents } from './pre-leased.ts'
import { jobsWithAll, largeEventLetters, preLeasedJobs, sizedEvents, smallEventLetters } from './pre-leased.ts'
import type { Acceptance, Numbered, WrittenEvents } from './write-events.ts'
import { claimsOf, firstOfEach, notifiedOf, rowOf } from './write-events.ts'

/** What is written, but for the jobs. */
interface PlainRows extends FirstJobs {
  readonly rows: readonly NewEvent[]
  /** What was read must still be so: each of these returns a row for each of its own then. */
  readonly before: readonly CheckedPart[]
}

interface CheckedPart {
  readonly part: Part
  readonly count: number
}

/** What was read for the events before they are written. */
export interface Foreseen {
  readonly people: ForeseenPeople
  readonly surroundings: ForeseenSurroundings
}

export interface PlainEvents {
  /** No two with the same transaction id. */
  readonly events: readonly Numbered[]
  /** Their calls with an idempotency key, no two with the same. */
  readonly answered: readonly AnsweredCall[]
  readonly decideAtOnce?: DecideAtOnce | undefined
}

/**
 * Plain events in one statement, which is its own transaction. It relies on what was read before it began, and on every call being
 * the first with its key. If another transaction was faster, it fails as outrun, and nothing is written.
 */
export async function writePlainEvents(
  db: Sql,
  acceptance: Acceptance,
  { events, answered, decideAtOnce }: PlainEvents,
  foreseen: Foreseen,
): Promise<WrittenEvents> {
  if (events.length === 0) return { preLeased: [], leftWork: false }
  const { environment, world, reservation } = acceptance
  // First: a repeat does not wait for what the first call waits for.
  const answers =
    answered.length === 0 ? [] : [{ part: await firstAnswers(world, environment, answered), count: answered.length }]
  const plain = plainRows(acceptance, events, foreseen, answers)
  const { jobs, rows } = plain
  const lease = reservation?.lease
  const { facts } = foreseen.people
  const mayDecide = decideAtOnce !== undefined && jobs.length > 0 && jobs.length <= decidedAtOnceMax
  const sized: SizedEvents =
    lease === undefined ? new Map() : sizedEvents(rows, mayDecide ? largeEventLetters : smallEventLetters)
  if (mayDecide && lease !== undefined) {
    const surroundings = surroundingsOf(events, foreseen.surroundings)
    const whole = jobsWithAll(environment, jobs, lease, sized, { facts, surroundings })
    const decided = await decideAtOnce(environment, whole)
    const next = decided && (await writeDecided(db, acceptance, { ...plain, sized }, whole, decided))
    if (next !== undefined) return { preLeased: next, leftWork: false }
  }
  await write(db, acceptance, plain, jobInsertions(environment, jobs, leaseOf(acceptance)))
  const preLeased = lease === undefined ? [] : preLeasedJobs(environment, jobs, lease, sized, facts)
  return { preLeased, leftWork: jobs.length > 0 && preLeased.length === 0 }
}

/** Undefined if they name nothing, as most do. */
function surroundingsOf(
  events: readonly Numbered[],
  { contexts, overrides }: ForeseenSurroundings,
): Surroundings | undefined {
  const tenants = new Map(
    fastFlatMap(events, ({ tenant }) => (tenant === undefined ? [] : [[tenant._id, tenant] as const])),
  )
  return contexts.length + tenants.size === 0 ? undefined : { contexts, overrides, tenants: [...tenants.values()] }
}

function plainRows(
  { environment, now }: Acceptance,
  events: readonly Numbered[],
  { people: { ids, made, changed }, surroundings: { made: contexts } }: Foreseen,
  first: readonly CheckedPart[],
): PlainRows {
  const resolved = { ids, warnings: new Map() }
  const claims = claimsOf(firstOfEach(events))
  return {
    rows: events.map((event) => rowOf(event, resolved, [], now)),
    ...firstJobs(fastFlatMap(events, (event) => notifiedOf(event, resolved))),
    before: [
      ...first,
      ...checked(claims, () => transactionClaims(environment, claims)),
      ...checked(made, () => subscriberInsertion(environment, made, now)),
      ...checked(changed, () => subscriberChanges(environment, changed, now)),
      ...checked(contexts, () => contextInsertion(environment, contexts, now)),
    ],
  }
}

const checked = ({ length: count }: readonly unknown[], part: () => Part): CheckedPart[] =>
  count === 0 ? [] : [{ part: part(), count }]

const leaseOf = ({ queue: { clock, leaseMs }, reservation, now }: Acceptance): InsertLease => ({
  clock,
  leaseMs,
  lease: reservation?.lease ?? null,
  now,
})

/** The steps that run separately; undefined if nothing was written because of what was decided. */
async function writeDecided(
  db: Sql,
  acceptance: Acceptance,
  plain: PlainRows & { readonly sized: SizedEvents },
  jobs: readonly PreLeasedJob[],
  decided: DecidedAtOnce,
): Promise<readonly Job[] | undefined> {
  const { environment, reservation } = acceptance
  const lease = reservation?.lease ?? ''
  let rows: DecidedRows
  try {
    rows = decidedRows(acceptance.world, environment, jobs, decided, leaseOf(acceptance))
    await write(db, acceptance, plain, rows.parts, rows.counted)
  } catch (error) {
    const isUnknown = isInfrastructureError(error)
    decided.notWritten(isUnknown)
    // They may exist: under their lease this node checks, and knows that nothing of them was called.
    if (isUnknown) reservation?.give(preLeasedJobs(environment, plain.jobs, lease, plain.sized))
    if (isUnknown || wasOutrun(error)) throw error
    // Content that PostgreSQL rejects costs that message, in its own turn, and not the event.
    return undefined
  }
  const ended = reservation?.begin(jobs.length - rows.next.length)
  // The callers are answered first: starting their calls would keep each of them waiting for all.
  setImmediate(() => startCalls(acceptance.world, decided, () => ended?.()))
  return preLeasedJobs(environment, rows.next, lease, plain.sized)
}

/** No one waits for it any more: an error here would end the process. */
function startCalls({ log }: Pick<World, 'log'>, decided: DecidedAtOnce, ended: () => void): void {
  try {
    decided.written(ended)
  } catch (error) {
    log.error({ err: error }, 'Could not start the calls of accepted events; their leases will expire')
  }
}

async function write(
  db: Sql,
  { environment, world, now }: Acceptance,
  { rows, notifications, before }: PlainRows,
  jobs: readonly Part[],
  counted: readonly CountedKey[] = [],
): Promise<void> {
  const parts = [
    ...before.map(({ part }) => part),
    eventInsertion(environment, rows),
    ...(notifications.length === 0 ? [] : [notificationInsertion(environment, notifications)]),
    ...jobs,
    countInsertion(environment, [...countedEvents(rows, notifications), ...counted], now),
  ]
  const expected = before.map(({ part, count }) => ({ of: part.as, count }))
  const inboxes = jobs.some(({ as }) => as === inboxNumbers) ? sql`${countedInboxes} as inboxes` : undefined
  const row = await db.row<{ inboxes?: string | null }>(oneStatement(parts, expectRows(expected, inboxes)))
  hintAtListed(db, world, environment, row?.inboxes)
}
