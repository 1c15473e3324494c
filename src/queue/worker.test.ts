// The worker's loop, with claims and batches that a script answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../world/log.ts'
import { silentLog } from '../world/log.ts'
import type { Ending, Leased, WorkerOptions } from './worker.ts'
import { createWorker, settledAtOnce } from './worker.ts'

interface Claim {
  readonly limit: number
  readonly lease: string
  answer(count: number): Promise<void>
  fail(message: string): Promise<void>
}

interface Batch {
  readonly rows: readonly Leased[]
  /** Decided: the next batch may run; what is on its way still counts as in hand. */
  decide(): Promise<void>
  settle(): Promise<void>
  fail(message: string): Promise<void>
}

/** A worker that may hold 20 rows, in batches of 5, two at once. */
function scripted(options: Partial<WorkerOptions<Leased>> = {}) {
  const claims: Claim[] = []
  const batches: Batch[] = []
  const released: Leased[] = []
  const warnings: string[] = []
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
    bornMax: 20,
    batchMax: 5,
    runnersMax: 2,
    newLease: () => `lease-${nextName()}`,
    claim: (limit, lease) =>
      new Promise((resolve, reject) => {
        const answer = async (count: number) => {
          assert.ok(count <= limit, `${count} of ${limit}`)
          resolve(rowsOf(count, lease))
          await turn()
        }
        const fail = async (message: string) => {
          reject(new Error(message))
          await turn()
        }
        claims.push({ limit, lease, answer, fail })
      }),
    run: (batch) => {
      let settled: () => void = () => {}
      const ending: Ending = { settled: new Promise((resolve) => (settled = resolve)) }
      return new Promise((resolve, reject) => {
        const decide = async () => {
          resolve(ending)
          await turn()
        }
        const settle = async () => {
          resolve(ending)
          settled()
          await turn()
        }
        const fail = async (message: string) => {
          reject(new Error(message))
          await turn()
        }
        batches.push({ rows: batch, decide, settle, fail })
      })
    },
    release: async (held) => void released.push(...held),
    ...options,
  })
  const rowsOf = (count: number, lease: string): Leased[] =>
    Array.from({ length: count }, () => ({ environmentId: 'environment', id: `row-${nextName()}`, lease }))
  return { worker, claims, batches, released, warnings, rowsOf, sizes: () => batches.map((batch) => batch.rows.length) }
}

function counter(): () => number {
  let count = 0
  return () => {
    count += 1
    return count
  }
}

/** The latest claim, which must not have been answered yet. */
function last<Item>(items: readonly Item[]): Item {
  return items.at(-1) ?? assert.fail('there is none')
}

test('nothing is claimed before the start, and as much as may run at once after it', async () => {
  const { worker, claims } = scripted()
  worker.poke()
  assert.equal(claims.length, 0)
  worker.start()
  assert.deepEqual(
    claims.map((claim) => claim.limit),
    [10],
  )
})

test('so many batches run at once, and the others wait their turn', async () => {
  const { worker, claims, batches, sizes } = scripted()
  worker.start()
  await last(claims).answer(10)
  assert.deepEqual(sizes(), [5, 5])
  await last(claims).answer(7)
  assert.deepEqual(sizes(), [5, 5])
  await batches[0]?.settle()
  assert.deepEqual(sizes(), [5, 5, 5])
  await batches[1]?.settle()
  assert.deepEqual(sizes(), [5, 5, 5, 2])
})

test('no more is in hand than may be, counting what is decided but still on its way', async () => {
  const { worker, claims, batches } = scripted({ claimedMax: 12 })
  worker.start()
  await last(claims).answer(10)
  for (const batch of batches) await batch.decide()
  worker.poke()
  assert.deepEqual(
    claims.map((claim) => claim.limit),
    [10],
    'there is room for two, but not for a batch',
  )
  await batches[0]?.settle()
  assert.equal(claims.length, 2)
  assert.equal(last(claims).limit, 7)
})

test('nothing more is claimed while a whole batch waits for its turn', async () => {
  const { worker, claims } = scripted()
  worker.start()
  await last(claims).answer(10)
  await last(claims).answer(9)
  worker.poke()
  await turn()
  assert.equal(claims.length, 2)
})

test('a full claim is followed by another, one that found less is not', async () => {
  const { worker, claims } = scripted({ claimedMax: 100, runnersMax: 3 })
  worker.start()
  await last(claims).answer(4)
  assert.equal(claims.length, 1)
  worker.poke()
  await last(claims).answer(0)
  assert.equal(claims.length, 2)
})

test('there is one claim at a time, and a poke meanwhile brings one more, not many', async () => {
  const { worker, claims } = scripted()
  worker.start()
  for (let count = 0; count < 50; count += 1) worker.poke()
  assert.equal(claims.length, 1)
  await last(claims).answer(0)
  assert.equal(claims.length, 2)
  await last(claims).answer(0)
  assert.equal(claims.length, 2)
})

test('every claim has a lease of its own', async () => {
  const { worker, claims } = scripted()
  worker.start()
  await last(claims).answer(0)
  worker.poke()
  assert.equal(new Set(claims.map((claim) => claim.lease)).size, 2)
})

test('a claim that fails is told and does not end the loop', async () => {
  const { worker, claims, warnings, sizes } = scripted()
  worker.start()
  await last(claims).fail('no connection')
  assert.equal(claims.length, 1, 'at once it would fail again')
  assert.equal(warnings.length, 1)
  worker.poke()
  await last(claims).answer(3)
  assert.deepEqual(sizes(), [3])
})

test('a batch that fails gives its room back, and the next one runs', async () => {
  const { worker, claims, batches, warnings, sizes } = scripted({ runnersMax: 1, claimedMax: 5 })
  worker.start()
  await last(claims).answer(5)
  await batches[0]?.fail('broken')
  assert.equal(warnings.length, 1)
  await last(claims).answer(5)
  assert.deepEqual(sizes(), [5, 5])
})

test('rows that are born here run without a claim', async () => {
  const { worker, claims, sizes, batches, rowsOf } = scripted()
  worker.start()
  await last(claims).answer(0)
  const reservation = worker.reserve(3) ?? assert.fail('there was room')
  reservation.give(rowsOf(3, reservation.lease))
  assert.deepEqual(sizes(), [3])
  assert.deepEqual([...new Set(batches[0]?.rows.map((row) => row.lease))], [reservation.lease])
  assert.equal(claims.length, 1)
})

test('room that is kept for what is born is kept once, and unused room comes back', async () => {
  const { worker, claims } = scripted({ bornMax: 12 })
  const first = scripted().worker
  assert.equal(first.reserve(1), undefined, 'not started')
  worker.start()
  await last(claims).answer(0)
  const reservation = worker.reserve(7) ?? assert.fail('there was room')
  assert.equal(worker.reserve(6), undefined)
  reservation.give([])
  assert.notEqual(worker.reserve(12), undefined)
  assert.equal(worker.reserve(1), undefined)
})

test('however much is born here, what is due is claimed, and batches of both take turns', async () => {
  const { worker, claims, batches, rowsOf } = scripted({ runnersMax: 1, bornMax: 20, claimedMax: 5 })
  worker.start()
  const reservation = worker.reserve(20) ?? assert.fail('there was room')
  reservation.give(rowsOf(20, reservation.lease))
  assert.equal(worker.reserve(1), undefined)
  await last(claims).answer(5)
  const leases = (): string[] =>
    batches.map(({ rows }) => (rows[0]?.lease === reservation.lease ? 'at once' : 'claimed'))
  for (let place = 0; place < 3; place += 1) await batches[place]?.settle()
  assert.deepEqual(leases(), ['at once', 'claimed', 'at once', 'at once'])
  assert.equal(claims.length, 2, 'more is looked for as soon as what was claimed is over')
  await last(claims).answer(5)
  await batches[3]?.settle()
  assert.deepEqual(leases().slice(4), ['claimed'])
})

test('a node that cannot show that it lives begins nothing and goes on when it can', async () => {
  const { worker, claims, sizes } = scripted()
  worker.start()
  worker.setAlive(false)
  await last(claims).answer(4)
  assert.deepEqual(sizes(), [])
  worker.poke()
  assert.equal(claims.length, 1)
  assert.equal(worker.reserve(1), undefined)
  worker.setAlive(true)
  assert.deepEqual(sizes(), [4])
  assert.equal(claims.length, 2)
})

test('stopping gives back what was not begun and waits for what was', async () => {
  const { worker, claims, batches, released, sizes } = scripted({ runnersMax: 1 })
  worker.start()
  await last(claims).answer(5)
  await last(claims).answer(4)
  let stopped = false
  const stopping = worker.stop().then(() => (stopped = true))
  await turn()
  assert.equal(released.length, 4)
  assert.equal(stopped, false)
  await batches[0]?.decide()
  assert.equal(stopped, false, 'its last calls are still on their way')
  await batches[0]?.settle()
  await stopping
  assert.deepEqual(sizes(), [5])
  worker.poke()
  assert.equal(claims.length, 2)
  assert.equal(worker.reserve(1), undefined)
})

test('stopping goes on where leases cannot be given back', async () => {
  const { worker, claims, batches, warnings } = scripted({
    runnersMax: 1,
    release: async () => {
      throw new Error('no connection')
    },
  })
  worker.start()
  await last(claims).answer(5)
  await last(claims).answer(5)
  const stopping = worker.stop()
  await batches[0]?.settle()
  await stopping
  assert.equal(warnings.length, 1)
})

test('a claim that comes back while the worker stops is given back, and the stop waits for it', async () => {
  const { worker, claims, released, sizes } = scripted()
  worker.start()
  let stopped = false
  const stopping = worker.stop().then(() => (stopped = true))
  await turn()
  assert.equal(stopped, false, 'a claim is on its way')
  await last(claims).answer(5)
  await stopping
  assert.deepEqual(sizes(), [])
  assert.equal(released.length, 5)
})

test('rows that were born while the worker stopped are settled or given back', async () => {
  const { worker, claims, batches, released, rowsOf } = scripted({ runnersMax: 1 })
  worker.start()
  await last(claims).answer(5)
  const reservation = worker.reserve(3) ?? assert.fail('there was room')
  const stopping = worker.stop()
  await turn()
  reservation.give(rowsOf(3, reservation.lease))
  await last(claims).answer(0)
  await batches[0]?.settle()
  await batches[1]?.settle()
  await stopping
  const begun = batches.slice(1).reduce((sum, batch) => sum + batch.rows.length, 0)
  assert.equal(released.length + begun, 3)
})

test('draining claims and runs until nothing is due, and tells how much there was', async () => {
  const answers = [5, 2, 0]
  const ran: number[] = []
  const { worker, rowsOf } = scripted({
    claim: async (limit, lease) => {
      assert.equal(limit, 5)
      return rowsOf(answers.shift() ?? 0, lease)
    },
    run: async (rows) => {
      ran.push(rows.length)
      return settledAtOnce
    },
  })
  assert.equal(await worker.drain(), 7)
  assert.deepEqual(ran, [5, 2])
})
