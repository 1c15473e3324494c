// Accepts events: one transaction for a call, or for several that come at once. Committed, then answered.
import type { Group } from '../commit/group.ts'
import { createGroup } from '../commit/group.ts'
import { claimCalls, keepAnswers } from '../commit/once.ts'
import type { Db, Tx } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { created } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import type { TriggerResult } from '../domain/event.ts'
import type { Problem } from '../domain/problem.ts'
import type { Queue } from '../queue/queue.ts'
import type { World } from '../world/world.ts'
import type { GivenEvent, Judged, JudgedVersions } from './judge-events.ts'
import { createJudgedVersions, judgeEvents } from './judge-events.ts'
import type { Numbered, WrittenEvents } from './write-events.ts'
import { jobsAtOnce, writeEvents } from './write-events.ts'

export interface Triggers {
  /** A call of many events: results in their order, one bad event never costs a good one. */
  bulk(
    environment: Environment,
    call: { events: readonly GivenEvent[]; idempotency: Idempotency | undefined },
  ): Promise<Answer<readonly TriggerResult[]>>
  /** Concurrent single calls share a commit. */
  single(
    environment: Environment,
    call: { event: GivenEvent; idempotency: Idempotency | undefined },
  ): Promise<Answer<TriggerResult>>
}

interface TriggerCall {
  readonly events: readonly GivenEvent[]
  readonly idempotency: Idempotency | undefined
}

/** Large enough that callers share the cost of a commit, small enough that the last of them does not wait long. */
const singleCallsPerCommitMax = 128
const bulkCallsPerCommitMax = 8

export function createTriggers(db: Db, world: World, queue: Queue): Triggers {
  const accepting = { db, world, queue, known: createJudgedVersions() }
  const singles = createCalls<TriggerResult>(
    accepting,
    { sizeMax: singleCallsPerCommitMax },
    {
      bodyOf: ([result]) => result as TriggerResult,
      // An error becomes a 4xx, which is not kept: the same key may carry the mended event.
      isKept: (result) => result.status !== 'error',
    },
  )
  const bulks = createCalls<readonly TriggerResult[]>(
    accepting,
    { sizeMax: bulkCallsPerCommitMax, atOnceMax: 3 },
    {
      bodyOf: (results) => results,
      isKept: () => true,
    },
  )
  return {
    bulk: (environment, call) => bulks.add(environment, call),
    single: (environment, { event, idempotency }) => singles.add(environment, { events: [event], idempotency }),
  }
}

interface Accepting {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
  readonly known: JudgedVersions
}

interface AnswerShape<Body> {
  bodyOf(results: readonly TriggerResult[]): Body
  /** Whether a repeat with the same idempotency key gets this answer again. */
  isKept(body: Body): boolean
}

function createCalls<Body>(
  accepting: Accepting,
  size: { sizeMax: number; atOnceMax?: number },
  shape: AnswerShape<Body>,
): Group<TriggerCall, Answer<Body>> {
  let callCount = 0
  const ownKey = (): string => {
    callCount += 1
    return `call ${callCount}`
  }
  return createGroup({
    ...size,
    // Two calls with one idempotency key must not share a group's transaction: the second is told that the first runs.
    keyOf: ({ idempotency }) => idempotency?.scopeHash.toString('hex') ?? ownKey(),
    commit: (environment, calls) => acceptTogether(accepting, environment, calls, shape),
  })
}

async function acceptTogether<Body>(
  accepting: Accepting,
  environment: Environment,
  calls: readonly TriggerCall[],
  { bodyOf, isKept }: AnswerShape<Body>,
): Promise<(Answer<Body> | Problem)[]> {
  const { db, world, known } = accepting
  const judged = await judgeEvents(
    db,
    environment,
    known,
    calls.flatMap((call) => call.events),
  )
  let taken = 0
  const numbered = calls.map(({ events }) => {
    taken += events.length
    return numberEvents(world, judged.slice(taken - events.length, taken))
  })
  const answers = numbered.map(({ results }) => created(bodyOf(results)))
  const all = numbered.flatMap((one) => one.runnable)
  return withRoom(accepting, all, (write) =>
    db.transaction(async (tx) => {
      const keyed = calls.flatMap((call) => call.idempotency ?? [])
      const claimed = keyed.length === 0 ? [] : await claimCalls<Body>(tx, world, environment, keyed)
      const before = new Map(keyed.map((idempotency, index) => [idempotency, claimed[index]]))
      const earlier = calls.map(({ idempotency }) => idempotency && before.get(idempotency))
      await write(
        tx,
        environment,
        numbered.flatMap((one, index) => (earlier[index] === undefined ? one.runnable : [])),
      )
      const kept = calls.flatMap(({ idempotency }, index) => {
        const answer = answers[index]
        const isFresh = idempotency !== undefined && earlier[index] === undefined
        return isFresh && answer !== undefined && isKept(answer.body) ? [{ idempotency, answer }] : []
      })
      await keepAnswers(tx, world, environment, kept)
      return answers.map((answer, index) => earlier[index] ?? answer)
    }),
  )
}

interface NumberedCall {
  readonly runnable: Numbered[]
  readonly results: TriggerResult[]
}

/** Gives each event its id; a transaction id that the caller left out is the event's own. */
function numberEvents(world: World, judged: readonly Judged[]): NumberedCall {
  const now = world.now()
  const runnable: Numbered[] = []
  const results = judged.map((one): TriggerResult => {
    if ('result' in one) return one.result
    const id = world.newId(now)
    const transactionId = one.runnable.request.transactionId ?? id
    runnable.push({ ...one.runnable, id, transactionId })
    return { acknowledged: true, status: 'processed', transactionId }
  })
  return { runnable, results }
}

type Write = (tx: Tx, environment: Environment, events: readonly Numbered[]) => Promise<void>

/** Jobs are born leased where this node has room for them; whatever happens, room that was not used is given back. */
async function withRoom<Result>(
  { world, queue }: Accepting,
  events: readonly Numbered[],
  accept: (write: Write) => Promise<Result>,
): Promise<Result> {
  const count = jobsAtOnce(events)
  const reservation = count === 0 ? undefined : queue.reserve(count)
  let written: WrittenEvents = { born: [], leftWork: false }
  try {
    const result = await accept(async (tx, environment, fresh) => {
      written = await writeEvents(tx, world, environment, queue, fresh, reservation)
    })
    reservation?.give(written.born)
    if (written.leftWork) queue.poke()
    return result
  } catch (error) {
    reservation?.give([])
    throw error
  }
}
