// A simulated node: the real worker on the faulty database, which can die, freeze and lose its leases.
import type { Clock } from '../../src/db/clock.ts'
import type { Database } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { freeLeases } from '../../src/queue/leases.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import type { Workers } from '../../src/run/workers.ts'
import { createWorkers } from '../../src/run/workers.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import { createMeter } from '../../src/world/meter.ts'
import type { World } from '../../src/world/world.ts'
import type { Faults } from './faulty-db.ts'
import { FaultyDb } from './faulty-db.ts'
import type { Ledger } from './ledger.ts'
import type { FakeProviders } from './providers.ts'
import type { Actor, Schedule } from './schedule.ts'

export interface NodeParts {
  readonly real: Database
  readonly schedule: Schedule
  readonly faults: Faults
  readonly providers: FakeProviders
  readonly ledger: Ledger
  readonly world: World
}

/** A node that shows no heartbeat for so long begins nothing; as the real one. */
const aliveMsMax = 6_000

export type WorkerName = 'jobs' | 'tasks' | 'suspectedJobs' | 'suspectedTasks'

export class SimulatedNode implements Actor {
  readonly name: string
  isDead = false
  frozenUntilMs = 0
  isStopping = false
  readonly workers: Workers
  readonly db: FaultyDb
  readonly clock: Clock
  readonly #parts: NodeParts
  #leases = createLeaseSource()
  #isAlive = true
  /** While it cannot write heartbeats. */
  #silentSinceMs: number | undefined

  constructor(name: string, parts: NodeParts) {
    this.name = name
    this.#parts = parts
    const { schedule } = parts
    this.clock = () => sql`${new Date(schedule.nowMs)}::timestamptz`
    this.db = new FaultyDb(parts.real, schedule, this, parts.faults)
    const world = this.#worldOf(parts.world)
    this.workers = createWorkers({
      db: this.db,
      outcomesDb: this.db,
      world,
      clock: this.clock,
      renderer: createRenderer(() => world.now()),
      operatorMail: undefined,
      newLease: () => this.#leases.newLease(),
      isAlive: () => this.#isAlive,
      lastBeatAgeMs: () => (this.#silentSinceMs === undefined ? 0 : schedule.nowMs - this.#silentSinceMs),
      isStopping: () => this.isStopping,
      hint: () => {},
    })
    for (const worker of this.#all()) worker.start()
  }

  #worldOf(world: World): World {
    const { schedule, providers } = this.#parts
    return {
      ...world,
      meter: createMeter(),
      fetch: (request, options) => providers.call(this, request, options),
      sleep: (ms) => new Promise((resolve) => schedule.add(this, ms, 'sleep', resolve)),
    }
  }

  #all() {
    return [this.workers.jobs, this.workers.tasks, ...this.workers.possiblyPoisonous]
  }

  poke(name: WorkerName): void {
    const { jobs, tasks, possiblyPoisonous } = this.workers
    const [suspectedJobs, suspectedTasks] = possiblyPoisonous
    const named = { jobs, tasks, suspectedJobs, suspectedTasks }
    named[name]?.poke()
  }

  /** Nothing of it runs any more; others free its leases soon, or they end by themselves. */
  die(freedAfterMs: number | undefined): void {
    const { schedule, ledger } = this.#parts
    const { nowMs } = schedule
    schedule.note(this, `DIES, leases ${freedAfterMs === undefined ? 'expire' : `freed after ${freedAfterMs} ms`}`)
    this.isDead = true
    this.db.breakTransactions()
    this.#parts.providers.interrupt(this)
    ledger.interruptions.push({ node: this.name, fromMs: nowMs, untilMs: nowMs })
    if (freedAfterMs !== undefined) this.#freeAfter(freedAfterMs, nowMs)
  }

  #freeAfter(ms: number, aliveAtMs: number): void {
    const { schedule, real } = this.#parts
    const keeper: Actor = { name: `keeper of ${this.name}`, isDead: false, frozenUntilMs: 0 }
    const range = this.#leases.all
    const free = async (): Promise<void> => {
      for (const queue of [jobQueue, taskQueue]) {
        const dead = { ...range, leaseMs, aliveAt: new Date(aliveAtMs - aliveMsMax) }
        const { freed } = await freeLeases(real, queue, this.clock, dead)
        schedule.note(keeper, `frees ${freed} ${queue.name}`)
      }
    }
    schedule.add(keeper, ms, 'free leases', free, null)
  }

  /** Gives back what it has not begun, waits for the rest, and ends. */
  stop(): void {
    this.#parts.schedule.note(this, 'STOPS')
    this.isStopping = true
    void this.workers.stop().then(() => {
      this.#parts.schedule.note(this, 'is over')
      this.isDead = true
    })
  }

  /** Stands still, and goes on as if nothing had been; after a while the others take it for dead. */
  freeze(ms: number, isTakenForDead: boolean): void {
    const { schedule, ledger } = this.#parts
    const { nowMs } = schedule
    schedule.note(this, `FREEZES for ${ms} ms${isTakenForDead ? ', is taken for dead' : ''}`)
    this.db.breakTransactions()
    this.frozenUntilMs = nowMs + ms
    this.#silentSinceMs = nowMs
    ledger.interruptions.push({ node: this.name, fromMs: nowMs, untilMs: nowMs + ms })
    if (isTakenForDead) this.#freeAfter(Math.min(20_000, ms), nowMs)
    if (ms >= aliveMsMax)
      schedule.add(this, ms, 'falls silent', () => {
        this.#isAlive = false
        this.workers.setAlive(false)
      })
    schedule.add(this, ms + schedule.random.integer(300), 'heartbeat', () => {
      if (isTakenForDead) this.#leases = createLeaseSource()
      this.#silentSinceMs = undefined
      this.#isAlive = true
      this.workers.setAlive(true)
    })
  }
}
