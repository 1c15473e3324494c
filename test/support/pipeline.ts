// The pipeline in virtual time: what is due runs when a test says so, and time moves when set.

import type { Clock } from '../../src/db/clock.ts'
import type { Db, Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Credentials } from '../../src/domain/delivery/integration.ts'
import type { Renderer } from '../../src/domain/workflows/rendering.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { freeLeases } from '../../src/queue/leases.ts'
import { leaseMs, queueOf } from '../../src/queue/queue.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import type { Workers } from '../../src/run/workers.ts'
import { createWorkers } from '../../src/run/workers.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import type { FakeWorld } from './fake-world.ts'

/** The queue goes by the fake world's clock. */
export const worldClock =
  (world: FakeWorld): Clock =>
  () =>
    sql`${world.now()}::timestamptz`

export interface TestPipeline {
  readonly workers: Workers
  /**
   * Runs everything that is due now, and what follows from it at once; reports how many jobs and tasks were claimed.
   */
  work(): Promise<number>
  /** Moves the clock, then works. In steps of `everyMs` if given, so that things happen near their time. */
  advance(ms: number, everyMs?: number): Promise<void>
  /** As if its process had ended now: what it held is freed as a dead node's. Nothing may be asked of it afterwards. */
  died(): Promise<void>
}

export interface TestPipelineOptions {
  readonly operatorMail?: Credentials
  readonly linkBase?: string
  readonly renderer?: Renderer
  /** What the queue goes by; the world's clock unless given. */
  readonly clock?: Clock
  /** Where it is looked whether anything is due, so that steps of `advance` in which nothing is cost next to nothing. */
  readonly quietDb?: Sql
}

/** Rounds of claims that follow from each other; a workflow has far fewer steps. */
const roundsMax = 10_000

export function createTestPipeline(db: Db, world: FakeWorld, options: TestPipelineOptions = {}): TestPipeline {
  const leases = createLeaseSource()
  const clock = options.clock ?? worldClock(world)
  const workers = createWorkers({
    db,
    outcomesDb: db,
    world,
    clock,
    renderer: options.renderer ?? createRenderer(() => world.now()),
    operatorMail: options.operatorMail,
    linkBase: options.linkBase,
    newLease: leases.newLease,
    isAlive: () => true,
    lastBeatAgeMs: () => 0,
    isStopping: () => false,
    // However slow the machine is, nothing takes long here.
    monotonicMs: () => world.now().getTime(),
    hint: () => {},
  })
  const work = async (): Promise<number> => {
    let total = 0
    for (let round = 0; round < roundsMax; round += 1) {
      let claimed = (await workers.tasks.drain()) + (await workers.jobs.drain())
      for (const worker of workers.possiblyPoisonous) claimed += await worker.drain()
      if (claimed === 0) return total
      total += claimed
    }
    throw new Error('The pipeline did not come to rest')
  }
  return {
    workers,
    work,
    died: async () => {
      workers.setAlive(false)
      for (const queue of [jobQueue, taskQueue]) await freeLeases(db, queue, clock, { ...leases.all, leaseMs })
    },
    advance: async (ms, everyMs = ms) => {
      let nextMs = everyMs < ms ? await nextDueMs(options.quietDb) : 0
      for (let left = ms; left > 0; left -= everyMs) {
        world.advance(Math.min(left, everyMs))
        if (left > everyMs && world.now().getTime() < nextMs) continue
        await work()
        nextMs = await nextDueMs(options.quietDb)
      }
    },
  }
}

/** Before then nothing is due; 0 where something is leased, or where one cannot look. */
async function nextDueMs(db: Sql | undefined): Promise<number> {
  const row = await db?.row<{ at: Date | null; held: boolean }>(sql`
    select min(due_at) as at, coalesce(bool_or(lease is not null), false) as held from (
      select due_at, lease from jobs where due_at is not null
      union all select due_at, lease from tasks where due_at is not null) as open`)
  if (row === undefined || row.held) return 0
  return row.at?.getTime() ?? Number.POSITIVE_INFINITY
}

/** What accepts events in a test: nothing is created already leased, so that every job is claimed. */
export const testQueue = (world: FakeWorld) => queueOf(worldClock(world))
