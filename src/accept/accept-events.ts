// Accepts events: one transaction for a request, or for several concurrent ones. Committed, then answered.
import type { Group, GroupOptions } from '../commit/group.ts'
import { createGroup } from '../commit/group.ts'
import type { AnsweredCall } from '../commit/once.ts'
import { claimCalls, keepAnswers } from '../commit/once.ts'
import { wasOutrun } from '../db/expect-rows.ts'
import type { Db, Sql, Tx } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { created } from '../domain/answer.ts'
import type { EventRequest, Recipient, TriggerResult } from '../domain/delivery/event.ts'
import { directLane } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import { Problem } from '../domain/problem.ts'
import type { Queue } from '../queue/queue.ts'
import { insertReserved } from '../queue/reserved.ts'
import type { DecideAtOnce } from '../record/decided-at-once.ts'
import { decidedAtOnceMax } from '../record/decided-at-once.ts'
import { foreseeSurroundings } from '../record/foresee-surroundings.ts'
import { foreseePeople } from '../record/resolve-recipients.ts'
import { compileSchema } from '../render/payload/schema-elsewhere.ts'
import { hasAnswers } from '../store/operate/idempotency.ts'
import type { World } from '../world/world.ts'
import { cancelEvent } from './accept-cancel.ts'
import type { CheckedVersions, GivenEvent, Judged } from './judge-events.ts'
import { createCheckedVersions, readForJudging } from './judge-events.ts'
import type { Acceptance, Numbered, WrittenEvents } from './write-events.ts'
import {
  areLarge,
  isPlain,
  jobsAtOnce,
  peopleOf,
  rowsAtOnce,
  statementBytesMax,
  withLargeExpanded,
  writeEvents,
} from './write-events.ts'
import type { Foreseen } from './write-plain-events.ts'
import { writePlainEvents } from './write-plain-events.ts'

export interface Triggers {
  /** A call of many events: results in their order, one bad event never costs a good one. */
  bulk(
    environment: Environment,
    call: { events: readonly GivenEvent[]; idempotency: Idempotency | undefined; traceparent?: string | undefined },
  ): Promise<Answer<readonly TriggerResult[]>>
  /** Concurrent single calls share a commit. */
  single(
    environment: Environment,
    call: { event: GivenEvent; idempotency: Idempotency | undefined; traceparent?: string | undefined },
  ): Promise<Answer<TriggerResult>>
  /** Stops further notifications of that event; false if there was nothing left to cancel. */
  cancel(environment: Environment, transactionId: string): Promise<boolean>
}

interface TriggerCall {
  readonly events: readonly GivenEvent[]
  readonly idempotency: Idempotency | undefined
  /** Stored with the events, if the request is traced. */
  readonly traceparent?: string | undefined
}

/** Large enough that callers share the cost of a commit, small enough that the last of them does not wait long. */
const singleCallsPerCommitMax = 128
/** Of bulk calls: notifications. Each call counts as ten at least, as it is a caller that waits for all others. */
const bulkRowsPerCommitMax = 300
const rowsPerCallMin = 10
/** The jobs of more people have their turn later, and are loaded together then. */
const foreseenMax = 8

/**
 * `decideAtOnce`: if this node is a worker as well. Bulk requests are answered first, as their callers wait for many
 * events.
 */
export function createTriggers(
  db: Db,
  world: World,
  queue: Queue,
  decideAtOnce?: DecideAtOnce,
  known = createCheckedVersions(undefined, { compile: compileSchema(() => world.judgingThreads) }),
): Triggers {
  const accepting = { db, world, queue, known }
  const oneAnswer: AnswerShape<TriggerResult> = {
    bodyOf: ([result]) => result as TriggerResult,
    problemOf: ([problem]) => problem,
    // An error becomes a 4xx, which is not stored: the same key may carry the corrected event.
    isKept: ({ results: [result] }) => result?.status !== 'error',
  }
  const quick = createCalls(
    { ...accepting, decideAtOnce },
    { sizeMax: decidedAtOnceMax, sizeOf: ({ events }) => events.reduce((sum, event) => sum + sizeOf(event), 0) },
    oneAnswer,
  )
  // By themselves: in a group with those above, all would have to be written in several statements, and decided later.
  const others = createCalls(accepting, { sizeMax: singleCallsPerCommitMax }, oneAnswer)
  const bulks = createCalls<readonly TriggerResult[]>(
    accepting,
    {
      sizeMax: bulkRowsPerCommitMax,
      sizeOf: ({ events }) => Math.max(rowsPerCallMin, rowsAtOnce(events)),
      atOnceMax: 3,
    },
    {
      bodyOf: (results) => results,
      problemOf: () => undefined,
      // Where all were put off nothing has run: the same key may carry them again.
      isKept: ({ results, problems }) => problems.length < results.length,
    },
  )
  return {
    bulk: async (environment, call) => {
      const answered = queue.callerWaits?.()
      try {
        return await bulks.add(environment, { ...call, events: withLargeExpanded(call.events) })
      } finally {
        answered?.()
      }
    },
    single: (environment, { event, idempotency, traceparent }) => {
      const isQuick = 'request' in event && isPlain(event.request) && traceparent === undefined
      return (isQuick ? quick : others).add(environment, { events: [event], idempotency, traceparent })
    },
    cancel: (environment, transactionId) => cancelEvent(db, world, environment, queue, transactionId),
  }
}

/** Of what can be decided with its acceptance: by the people it names, and by its share of what one statement may hold. */
function sizeOf(event: GivenEvent): number {
  if (!('request' in event)) return 1
  const share = Math.ceil(((event.request.bytes ?? 0) / statementBytesMax) * decidedAtOnceMax)
  return Math.max(1, peopleOf(event.request).length, share)
}

interface Accepting {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
  readonly known: CheckedVersions
  readonly decideAtOnce?: DecideAtOnce | undefined
}

interface AnswerShape<Body> {
  bodyOf(results: readonly TriggerResult[]): Body
  /** What the call as a whole gets if events could not be judged; undefined if it is answered for each. */
  problemOf(problems: readonly Problem[]): Problem | undefined
  /** Whether a repeat with the same idempotency key gets this answer again. */
  isKept(call: NumberedCall): boolean
}

function createCalls<Body>(
  accepting: Accepting,
  size: Pick<GroupOptions<TriggerCall, Answer<Body>>, 'sizeMax' | 'sizeOf' | 'atOnceMax'>,
  shape: AnswerShape<Body>,
): Group<TriggerCall, Answer<Body>> {
  let callCount = 0
  const ownKey = (): string => {
    callCount += 1
    return `call ${callCount}`
  }
  return createGroup({
    ...size,
    // Two requests with one idempotency key must not share a group's transaction: the second gets the response that the
    // first is still running.
    keyOf: ({ idempotency }) => idempotency?.scopeHash.toString('hex') ?? ownKey(),
    commit: (environment, calls) => acceptTogether(accepting, environment, calls, shape),
  })
}

async function acceptTogether<Body>(
  accepting: Accepting,
  environment: Environment,
  calls: readonly TriggerCall[],
  shape: AnswerShape<Body>,
): Promise<(Answer<Body> | Problem)[]> {
  const { db, world, decideAtOnce } = accepting
  const { judged, foreseen } = await judgeCalls(accepting, environment, calls)
  let taken = 0
  const numbered = calls.map(({ events, traceparent }) => {
    taken += events.length
    return numberEvents(world, judged.slice(taken - events.length, taken), traceparent)
  })
  const answersOf = (outrun?: ReadonlySet<string>): (Answer<Body> | Problem)[] =>
    numbered.map((one) => shape.problemOf(one.problems) ?? answerOf(one, shape.bodyOf(one.results), outrun))
  const answers = answersOf()
  const answered = calls.map(({ idempotency }, index) =>
    answeredCall(idempotency, numbered[index], answers[index], shape),
  )
  const all = fastFlatMap(numbered, (one) => one.runnable)
  let repeats: readonly (Answer<Body> | Problem | undefined)[] = []
  const result = await withCapacity(accepting, environment, all, async (acceptance) => {
    const plain = { events: all, answered: answered.flatMap((one) => one ?? []), decideAtOnce }
    // A call with a key whose answer is not stored would not be protected by it.
    const areProtected = calls.every(({ idempotency }, index) => idempotency === undefined || answered[index])
    const written =
      foreseen && areProtected && (await unlessOutrun(() => writePlainEvents(db, acceptance, plain, foreseen)))
    if (written) return { written, result: answers }
    return db.transaction(async (tx) => {
      const earlier = await answeredBefore<Body>(tx, world, environment, calls)
      repeats = earlier
      const fresh = fastFlatMap(numbered, (one, index) => (earlier[index] === undefined ? one.runnable : []))
      const written = await writeEvents(tx, world, acceptance, fresh)
      const kept = answered.flatMap((one, index) => (earlier[index] === undefined ? (one ?? []) : []))
      await keepAnswers(tx, world, environment, kept)
      const { outrun } = written
      const own = outrun === undefined ? answers : answersOf(outrun)
      return { written, result: own.map((answer, index) => earlier[index] ?? answer) }
    })
  })
  const fresh = numbered.filter((_, index) => repeats[index] === undefined)
  countAccepted(world, fresh)
  return result
}

/** With its answer, if a repeat gets that again. */
function answeredCall<Body>(
  idempotency: Idempotency | undefined,
  call: NumberedCall | undefined,
  answer: Answer<Body> | Problem | undefined,
  { isKept }: AnswerShape<Body>,
): AnsweredCall | undefined {
  if (idempotency === undefined || call === undefined || answer === undefined || answer instanceof Problem)
    return undefined
  return isKept(call) ? { idempotency, answer } : undefined
}

/** A call all of whose events had run before is answered as a replay; of a call with others each repeat is named. */
function answerOf<Body>(call: NumberedCall, body: Body, outrun?: ReadonlySet<string>): Answer<Body> {
  const { results, runnable, runnableAt, repeats } = call
  if (repeats.length === 0 && outrun === undefined) return created(body)
  const late = runnableAt.filter((_, index) => outrun?.has(runnable[index]?.id ?? ''))
  const places = [...repeats, ...late].sort((one, other) => one - other)
  if (places.length === 0) return created(body)
  if (places.length === results.length) return { ...created(body), replayed: true }
  const warnings = places.map((place) => ({ code: 'repeated', path: `events.${place}.transactionId` }) as const)
  return { ...created(body), warnings }
}

/** Undefined if another transaction was faster, and nothing was written. */
async function unlessOutrun<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (wasOutrun(error)) return undefined
    throw error
  }
}

/** An event whose transaction id had run before is answered as processed, and counts as a repeat. */
function countAccepted({ meter }: World, calls: readonly NumberedCall[]): void {
  const seen = new Set<string>()
  const isFirst = ({ transactionId }: Numbered): boolean => seen.size < seen.add(transactionId).size
  const run = fastFlatMap(calls, ({ runnable }) => runnable).filter(isFirst)
  let processed = 0
  for (const { status } of fastFlatMap(calls, ({ results }) => results)) {
    if (status === 'processed') processed += 1
    else meter.countEvents(status, 1)
  }
  if (run.length > 0) meter.countEvents('processed', run.length)
  if (processed > run.length) meter.countEvents('repeated', processed - run.length)
  const notifications = jobsAtOnce(run)
  if (notifications > 0) meter.countNotifications(directLane, notifications)
}

interface JudgedCalls {
  readonly judged: readonly Judged[]
  /** When the events need nothing written but themselves, and the people and contexts they name. */
  readonly foreseen: Foreseen | undefined
}

/** The content of the events and their recipients, in one round trip. */
async function judgeCalls(
  { db, world, known: versions, decideAtOnce }: Accepting,
  environment: Environment,
  calls: readonly TriggerCall[],
): Promise<JudgedCalls> {
  const events = fastFlatMap(calls, (call) => call.events)
  const requests = fastFlatMap(events, (event) => ('request' in event ? [event.request] : []))
  const keyed = fastFlatMap(calls, (call) => call.idempotency ?? [])
  const mayBePlain = requests.every(isPlain) && !repeatsTransaction(requests) && !areLarge(requests)
  const named = mayBePlain ? fastFlatMap(requests, peopleOf) : []
  const areDecidedSoon = named.length <= (decideAtOnce === undefined ? foreseenMax : decidedAtOnceMax)
  const isDecidedAtOnce = areDecidedSoon && decideAtOnce !== undefined
  const [judge, foreseen, hasRepeats] = await db.together((on) =>
    Promise.all([
      readForJudging(on, environment, versions, events),
      mayBePlain ? foresee(on, world, environment, { requests, named, areDecidedSoon, isDecidedAtOnce }) : undefined,
      mayBePlain && keyed.length > 0 && hasAnswers(on, environment, keyed),
    ]),
  )
  const judged = await judge()
  if (hasRepeats) return { judged, foreseen: undefined }
  const allRun = judged.every((one) => 'runnable' in one)
  // An event that was refused may name people and contexts too: they must not be saved because of it. With a key, what does not run may be a
  // repeat, and has been answered before.
  const mayWrite = allRun || (keyed.length === 0 && foreseen !== undefined && !writesMore(foreseen))
  return { judged, foreseen: mayWrite ? foreseen : undefined }
}

async function foresee(
  db: Sql,
  world: World,
  environment: Environment,
  events: {
    readonly requests: readonly EventRequest[]
    readonly named: readonly Recipient[]
    readonly areDecidedSoon: boolean
    readonly isDecidedAtOnce: boolean
  },
): Promise<Foreseen> {
  const [people, surroundings] = await Promise.all([
    foreseePeople(db, world, environment, events.named, events.areDecidedSoon),
    foreseeSurroundings(db, environment, events.requests, events.isDecidedAtOnce),
  ])
  return { people, surroundings }
}

const writesMore = ({ people: { made, changed }, surroundings }: Foreseen): boolean =>
  made.length + changed.length + surroundings.made.length > 0

/** The second of two alike does not run, and the people it names are not to be written for it. */
function repeatsTransaction(requests: readonly EventRequest[]): boolean {
  const ids = requests.flatMap(({ transactionId }) => transactionId ?? [])
  return new Set(ids).size < ids.length
}

/** For each call the answer it was given before, if it is a repeat. */
async function answeredBefore<Body>(
  tx: Tx,
  world: World,
  environment: Environment,
  calls: readonly TriggerCall[],
): Promise<(Answer<Body> | Problem | undefined)[]> {
  const keyed = calls.flatMap((call) => call.idempotency ?? [])
  const claimed = keyed.length === 0 ? [] : await claimCalls<Body>(tx, world, environment, keyed)
  const before = new Map(keyed.map((idempotency, index) => [idempotency, claimed[index]]))
  return calls.map(({ idempotency }) => idempotency && before.get(idempotency))
}

export interface NumberedCall {
  readonly runnable: Numbered[]
  /** The place of each among the events of the call. */
  readonly runnableAt: readonly number[]
  readonly results: TriggerResult[]
  /** The places of events whose transaction id was used before. */
  readonly repeats: readonly number[]
  /** Of events that the machine was too busy to judge. */
  readonly problems: readonly Problem[]
}

/** Gives each event its id; a transaction id that the caller left out is the event's own. */
export function numberEvents(
  world: Pick<World, 'now' | 'newId'>,
  judged: readonly Judged[],
  traceparent?: string | undefined,
): NumberedCall {
  const now = world.now()
  const runnable: Numbered[] = []
  const runnableAt: number[] = []
  const repeats: number[] = []
  const problems: Problem[] = []
  const results = judged.map((one, place): TriggerResult => {
    if ('result' in one) {
      if (one.isRepeat === true) repeats.push(place)
      if (one.problem !== undefined) problems.push(one.problem)
      return one.result
    }
    const id = world.newId(now)
    const transactionId = one.runnable.request.transactionId ?? id
    // Field by field, as elsewhere on this path: a spread costs ten times as much.
    const { request, warnings, version, firstStep, payload, severity, tenant } = one.runnable
    runnable.push({ request, warnings, version, firstStep, payload, severity, tenant, id, transactionId, traceparent })
    runnableAt.push(place)
    return { acknowledged: true, status: 'processed', transactionId }
  })
  return { runnable, runnableAt, results, repeats, problems }
}

/**
 * Jobs are created already leased if this node has capacity for them; unused capacity is released, whatever happens.
 */
async function withCapacity<Result>(
  { world, queue }: Accepting,
  environment: Environment,
  events: readonly Numbered[],
  accept: (acceptance: Acceptance) => Promise<{ written: WrittenEvents; result: Result }>,
): Promise<Result> {
  const count = jobsAtOnce(events)
  const reservation = count === 0 ? undefined : queue.reserve(count, environment.id)
  const { result, leftWork } = await insertReserved(reservation, async () => {
    const { written, result } = await accept({ environment, world, queue, reservation, now: world.now() })
    return { ...written, result }
  })
  if (leftWork) queue.poke()
  return result
}
