// One statement for the outcomes of calls: messages, their jobs, and the steps after them.
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Queue } from '../queue/queue.ts'
import type { CallResult } from '../store/messages/sending.ts'
import type { World } from '../world/world.ts'
import type { Settlement } from './settlement.ts'
import type { Written } from './write-settlements.ts'
import { writeSettlements } from './write-settlements.ts'

export interface JobOutcome {
  readonly settlement: Settlement
  readonly results: readonly CallResult[]
}

/** A job whose lease was lost meanwhile is left to whoever holds it now. */
export async function recordOutcomes(
  db: Sql,
  world: World,
  environment: Environment,
  queue: Queue,
  outcomes: readonly JobOutcome[],
): Promise<void> {
  const nextCount = outcomes.filter(({ settlement }) => settlement.next !== null).length
  const reservation = nextCount === 0 ? undefined : queue.reserve(nextCount)
  let written: Written = { kept: new Set(), born: [] }
  try {
    written = await writeSettlements(db, world, environment, queue, {
      settlements: outcomes.map(({ settlement }) => settlement),
      results: outcomes.flatMap(({ results }) => results),
      reservation,
    })
  } finally {
    reservation?.give(written.born)
  }
  if (nextCount > 0 && reservation === undefined) queue.poke()
}
