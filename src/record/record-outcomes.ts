// One statement for the outcomes of calls: messages, their jobs, and the steps after them.
import type { Db, Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import type { Queue } from '../queue/queue.ts'
import { insertReserved } from '../queue/reserved.ts'
import type { World } from '../world/world.ts'
import { countCalls } from './counts/count-messages.ts'
import { countedCalls } from './counts/count-settlements.ts'
import type { JobOutcome } from './job-outcome.ts'
import { pruneTokens } from './prune-tokens.ts'
import { awaitReceipts } from './receipts/await-receipts.ts'
import { recordLateSent } from './record-late-sent.ts'
import type { Written } from './write-settlements.ts'
import { writeSettlements } from './write-settlements.ts'

/**
 * A job whose lease was lost in the meantime is left to its current holder; that a message was sent is written anyway.
 * Returns the jobs that were still ours.
 */
export async function recordOutcomes(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  outcomes: readonly JobOutcome[],
): Promise<ReadonlySet<string>> {
  const nextCount = outcomes.filter(({ settlement }) => settlement.next !== null).length
  const reservation = nextCount === 0 ? undefined : queue.reserve(nextCount, environment.id)
  const dead = fastFlatMap(outcomes, ({ deadTokens }) => deadTokens ?? [])
  const polls = fastFlatMap(outcomes, (outcome) => outcome.polls ?? [])
  const write = (place: Sql): Promise<Written> =>
    writeSettlements(place, world, environment, queue, {
      settlements: outcomes.map(({ settlement }) => settlement),
      results: fastFlatMap(outcomes, ({ results }) => results),
      calls: countedCalls(outcomes, world.now()),
      suppressions: fastFlatMap(outcomes, ({ suppressions }) => suppressions ?? []),
      reservation,
    })
  const writeIn = async (place: Sql): Promise<Written> => {
    const result = await write(place)
    await awaitReceipts(place, environment, polls, { clock: queue.clock, now: world.now() })
    return result
  }
  const written = await insertReserved(reservation, () => {
    if (dead.length > 0) return pruneTokens(db, world, environment, dead, writeIn)
    return polls.length > 0 ? db.transaction(writeIn) : write(db)
  })
  const lost = outcomes.filter(({ settlement }) => !written.stillLeased.has(settlement.job.id))
  const late = lost.length === 0 ? none : await recordLateSent(db, environment, lost, world)
  countCalls(world.meter, outcomes, written.stillLeased, world.now())
  if (late.size > 0) countCalls(world.meter, lost.map(onlyOf(late)), idsOf(lost), world.now())
  if (nextCount > 0 && reservation === undefined) queue.poke()
  return written.stillLeased
}

const none: ReadonlySet<string> = new Set()

const onlyOf =
  (messageIds: ReadonlySet<string>) =>
  ({ settlement, results }: JobOutcome): JobOutcome => ({
    settlement,
    results: results.filter(({ id }) => messageIds.has(id)),
  })

const idsOf = (outcomes: readonly JobOutcome[]): ReadonlySet<string> =>
  new Set(outcomes.map(({ settlement }) => settlement.job.id))
