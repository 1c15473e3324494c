// Accepts events: one transaction for a call, one for many single calls that come at once. Committed, then answered.
import type { Group } from '../commit/group.ts'
import { createGroup } from '../commit/group.ts'
import { claimCalls, keepAnswers, once } from '../commit/once.ts'
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

interface SingleCall {
  readonly event: GivenEvent
  readonly idempotency: Idempotency | undefined
}

/** Large enough that callers share the cost of a commit, small enough that the last of them does not wait long. */
const callsPerCommitMax = 128

export function createTriggers(db: Db, world: World, queue: Queue): Triggers {
  const known = createJudgedVersions()
  const accepting = { db, world, queue }
  let callCount = 0
  const ownKey = (): string => {
    callCount += 1
    return `call ${callCount}`
  }
  const singles: Group<SingleCall, Answer<TriggerResult>> = createGroup({
    sizeMax: callsPerCommitMax,
    // Two calls with one idempotency key must not share a group's transaction: the second is told that the first runs.
    keyOf: ({ idempotency }) => idempotency?.scopeHash.toString('hex') ?? ownKey(),
    commit: (environment, calls) => acceptTogether(accepting, environment, known, calls),
  })
  return {
    bulk: async (environment, { events, idempotency }) => {
      const judged = await judgeEvents(db, environment, known, events)
      return acceptCall(accepting, environment, judged, idempotency)
    },
    single: (environment, call) => singles.add(environment, call),
  }
}

interface Accepting {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
}

async function acceptCall(
  accepting: Accepting,
  environment: Environment,
  judged: readonly Judged[],
  idempotency: Idempotency | undefined,
): Promise<Answer<readonly TriggerResult[]>> {
  const { db, world } = accepting
  const numbered = numberEvents(world, judged)
  return withRoom(accepting, numbered.runnable, (write) =>
    once(db, world, environment, idempotency, async (tx) => {
      await write(tx, environment, numbered.runnable)
      return created(numbered.results)
    }),
  )
}

async function acceptTogether(
  accepting: Accepting,
  environment: Environment,
  known: JudgedVersions,
  calls: readonly SingleCall[],
): Promise<(Answer<TriggerResult> | Problem)[]> {
  const { db, world } = accepting
  const judged = await judgeEvents(
    db,
    environment,
    known,
    calls.map((call) => call.event),
  )
  const numbered = judged.map((one) => numberEvents(world, [one]))
  const all = numbered.flatMap((one) => one.runnable)
  return withRoom(accepting, all, (write) =>
    db.transaction(async (tx) => {
      const keyed = calls.flatMap((call) => call.idempotency ?? [])
      const claimed = keyed.length === 0 ? [] : await claimCalls<TriggerResult>(tx, world, environment, keyed)
      const before = new Map(keyed.map((idempotency, index) => [idempotency, claimed[index]]))
      const fresh = calls.map((call) => call.idempotency === undefined || before.get(call.idempotency) === undefined)
      await write(
        tx,
        environment,
        numbered.flatMap((one, index) => (fresh[index] === true ? one.runnable : [])),
      )
      const answers = numbered.map((one) => created(one.results[0] as TriggerResult))
      await keepAnswers(
        tx,
        world,
        environment,
        calls.flatMap(({ idempotency }, index) => {
          const answer = answers[index]
          // An error becomes a 4xx, which is not kept: the same key may carry the mended event.
          const keeps = fresh[index] === true && answer !== undefined && answer.body.status !== 'error'
          return idempotency !== undefined && keeps ? [{ idempotency, answer }] : []
        }),
      )
      return calls.map(
        (call, index) =>
          (call.idempotency && before.get(call.idempotency)) ?? (answers[index] as Answer<TriggerResult>),
      )
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
