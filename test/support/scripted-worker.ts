// A worker whose claims and batches are answered by the test.
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { Handling, Leased, Worker, WorkerOptions } from '../../src/queue/worker.ts'
import { createWorker } from '../../src/queue/worker.ts'
import type { Log } from '../../src/world/log.ts'
import { silentLog } from '../../src/world/log.ts'

export interface Claim {
  readonly limit: number
  readonly lease: string
  /** With so many rows, or with these. */
  answer(rows: number | readonly Leased[]): Promise<void>
  fail(message: string): Promise<void>
}

export interface Batch {
  readonly rows: readonly Leased[]
  readonly handling: Handling<Leased>
  /** Decided: the next batch may run; what is on its way still counts as in flight. */
  decide(): Promise<void>
  /** Decided, and all of it is over. */
  settle(): Promise<void>
  fail(message: string): Promise<void>
}

export interface ScriptedWorker {
  readonly worker: Worker
  readonly claims: readonly Claim[]
  readonly batches: readonly Batch[]
  readonly released: readonly Leased[]
  readonly warnings: readonly string[]
  readonly slept: readonly number[]
  rowsOf(count: number, lease: string, interruptions?: number): Leased[]
  sizes(): number[]
}

/** A worker that may have 20 rows in flight of each kind, in batches of 5, two at once. */
export function scriptedWorker(options: Partial<WorkerOptions<Leased>> = {}): ScriptedWorker {
  const claims: Claim[] = []
  const batches: Batch[] = []
  const released: Leased[] = []
  const warnings: string[] = []
  const slept: number[] = []
  const nextName = counter()
  const log: Log = {
    ...silentLog,
    warn: (_, message) => void warnings.push(message),
    error: (_, message) => void warnings.push(message),
  }
  const worker = createWorker<Leased>({
    log,
    name: 'scripted',
    claimedMax: 20,
    preLeasedMax: 20,
    batchMax: 5,
    runnersMax: 2,
    newLease: () => `lease-${nextName()}`,
    claim: (limit, lease) =>
      new Promise((resolve, reject) => {
        const answer = async (given: number | readonly Leased[]) => {
          const rows = typeof given === 'number' ? rowsOf(given, lease) : [...given]
          assert.ok(rows.length <= limit, `${rows.length} of ${limit}`)
          resolve(rows)
          await turn()
        }
        const fail = async (message: string) => {
          reject(new Error(message))
          await turn()
        }
        claims.push({ limit, lease, answer, fail })
      }),
    run: (rows, handling) =>
      new Promise((resolve, reject) => {
        const decide = async () => {
          resolve()
          await turn()
        }
        const settle = async () => {
          rows.forEach(handling.done)
          await decide()
        }
        const fail = async (message: string) => {
          reject(new Error(message))
          await turn()
        }
        batches.push({ rows, handling, decide, settle, fail })
      }),
    sleep: async (ms) => void slept.push(ms),
    release: async (held) => void released.push(...held),
    ...options,
  })
  const rowsOf = (count: number, lease: string, interruptions = 0): Leased[] =>
    Array.from({ length: count }, () => ({
      environmentId: 'environment',
      id: `row-${nextName()}`,
      lease,
      interruptions,
    }))
  const sizes = () => batches.map((batch) => batch.rows.length)
  return { worker, claims, batches, released, warnings, slept, rowsOf, sizes }
}

function counter(): () => number {
  let count = 0
  return () => {
    count += 1
    return count
  }
}

/** The latest of them. */
export function last<Item>(items: readonly Item[]): Item {
  return items.at(-1) ?? assert.fail('there is none')
}
