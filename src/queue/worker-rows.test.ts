// What the worker does with single rows: their capacity, their second runs, and those that are suspected.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { last, scriptedWorker } from '../../test/support/scripted-worker.ts'
import type { Leased } from './worker.ts'

const leased = (id: string, interruptions = 0): Leased => ({ environmentId: 'e', id, lease: 'l', interruptions })

test('the capacity of a row is free when the row is over, however long the others of its batch take', async () => {
  const { worker, claims, batches } = scriptedWorker({ claimedMax: 10 })
  worker.start()
  await last(claims).answer(10)
  assert.equal(claims.length, 1)
  const [first, second] = batches
  for (const row of first?.rows.slice(0, 3) ?? []) first?.handling.done(row)
  for (const row of second?.rows.slice(0, 2) ?? []) second?.handling.done(row)
  await turn()
  assert.deepEqual(
    claims.map(({ limit }) => limit),
    [10, 5],
    'both batches are still being decided',
  )
})

test('a row that is reported twice gives its capacity back once', async () => {
  const { worker, claims, batches } = scriptedWorker({ claimedMax: 10 })
  worker.start()
  await last(claims).answer(10)
  const [{ rows, handling }] = batches as [(typeof batches)[number]]
  for (let count = 0; count < 5; count += 1) handling.done(rows[0] as Leased)
  handling.again([rows[0] as Leased])
  await turn()
  assert.equal(claims.length, 1, 'one row is over, not five')
})

test('rows whose database did not answer run again under the same lease, and keep their capacity meanwhile', async () => {
  const { worker, claims, batches, slept, sizes } = scriptedWorker({ claimedMax: 5 })
  worker.start()
  await last(claims).answer(5)
  const [{ rows, handling }] = batches as [(typeof batches)[number]]
  handling.again(rows.slice(3))
  handling.done(rows[3] as Leased)
  assert.equal(claims.length, 1)
  await turn()
  assert.deepEqual(slept, [500])
  assert.deepEqual(sizes(), [5, 2])
  assert.deepEqual(batches[1]?.rows, rows.slice(3))
  for (const row of rows.slice(0, 3)) handling.done(row)
  await batches[0]?.decide()
  assert.equal(claims.length, 1, 'two are still in flight')
  await batches[1]?.settle()
  assert.equal(claims.length, 2)
})

test('a row that is tried for longer than half its lease is left to it, and its capacity is used for others', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const { worker, claims, batches, sizes } = scriptedWorker({ claimedMax: 5 })
  worker.start()
  await last(claims).answer(5)
  nowMs = 29_000
  batches[0]?.handling.again(batches[0].rows)
  await batches[0]?.decide()
  assert.deepEqual(sizes(), [5, 5])
  nowMs = 30_000
  await batches[1]?.decide()
  batches[1]?.handling.again(batches[1].rows)
  await turn()
  assert.deepEqual(sizes(), [5, 5], 'the lease is left to end')
  assert.equal(claims.length, 2, 'and others are looked for at once')
})

test('rows that waited for half their lease are released and not run, unless they must be; later ones are', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const doubtful = new Set<string>()
  const mustRun = ({ id }: { id: string }): boolean => doubtful.has(id)
  const { worker, claims, batches, released, sizes, rowsOf } = scriptedWorker({ runnersMax: 1, mustRun })
  worker.start()
  const [first, early] = [worker.reserve(5), worker.reserve(3)]
  first?.give(rowsOf(5, first.lease))
  nowMs = 20_000
  const late = worker.reserve(3) ?? assert.fail('there was capacity')
  late.give(rowsOf(3, late.lease))
  // Reserved before, and answered after it.
  const rows = rowsOf(3, early?.lease ?? '')
  doubtful.add(rows[1]?.id ?? '')
  early?.give(rows)
  await last(claims).answer(0)
  nowMs = 30_000
  await batches[0]?.settle()
  assert.deepEqual(released, [rows[0], rows[2]])
  assert.deepEqual(sizes(), [5, 4])
  assert.equal(claims.length, 2, 'whoever has capacity claims them, and this node has')
  await last(claims).answer(0)
  await batches[1]?.settle()
  assert.notEqual(worker.reserve(20), undefined, 'nothing is in flight any more')
})

test('stopping waits for a row that runs later, and gives it back', async () => {
  let wake: () => void = () => {}
  const { worker, claims, batches, released } = scriptedWorker({
    sleep: () => new Promise((resolve) => (wake = resolve)),
  })
  worker.start()
  await last(claims).answer(1)
  batches[0]?.handling.again(batches[0].rows)
  let stopped = false
  const stopping = worker.stop().then(() => (stopped = true))
  await turn()
  assert.equal(stopped, false)
  wake()
  await stopping
  assert.deepEqual(released, batches[0]?.rows)
})

test('stopping ends although the last rows come in while others are being given back', async () => {
  let goOn: () => void = () => {}
  const releases: number[] = []
  const { worker, claims, batches, rowsOf } = scriptedWorker({
    runnersMax: 1,
    release: (rows) => {
      releases.push(rows.length)
      return new Promise((resolve) => (goOn = resolve))
    },
  })
  worker.start()
  await last(claims).answer(5)
  await last(claims).answer(4)
  const reservation = worker.reserve(2) ?? assert.fail('there was capacity')
  const stopping = worker.stop()
  await turn()
  assert.deepEqual(releases, [4])
  reservation.give(rowsOf(2, reservation.lease))
  await batches[0]?.settle()
  goOn()
  await turn()
  assert.deepEqual(releases, [4, 2])
  goOn()
  await stopping
})

test('a node begins with a small claim, and takes more with each batch that ends', async () => {
  const { worker, claims, batches } = scriptedWorker({ batchMax: 300, claimedMax: 2_000, runnersMax: 3 })
  worker.start()
  // The second is created when the only row of the first batch has finished, just before the batch has.
  for (const expected of [100, 100, 200, 400, 800, 900, 900]) {
    assert.equal(last(claims).limit, expected)
    await last(claims).answer(1)
    await batches.at(-1)?.settle()
    worker.poke()
    await turn()
  }
})

test('rows that were interrupted run in smaller groups, and alone after three times', async () => {
  const { worker, claims, sizes } = scriptedWorker({ batchMax: 300, claimedMax: 400, runnersMax: 100 })
  worker.start()
  const rows = [
    ...Array.from({ length: 60 }, (_, index) => leased(`once-${index}`, 1)),
    ...Array.from({ length: 25 }, (_, index) => leased(`twice-${index}`, 2)),
    leased('three', 3),
    leased('seven', 7),
    ...Array.from({ length: 5 }, (_, index) => leased(`never-${index}`)),
  ]
  await last(claims).answer(rows)
  assert.deepEqual(sizes(), [50, 10, 10, 10, 5, 1, 1, 5])
})

test('one that was interrupted does not join those before it where they are more than may run with it', async () => {
  const { worker, claims, batches } = scriptedWorker({ batchMax: 300, claimedMax: 400, runnersMax: 100 })
  worker.start()
  const harmless = Array.from({ length: 20 }, (_, index) => leased(`never-${index}`))
  await last(claims).answer([...harmless, leased('twice', 2), leased('alone', 3)])
  assert.deepEqual(
    batches.map(({ rows }) => [rows.length, rows[0]?.id]),
    [
      [20, 'never-0'],
      [1, 'twice'],
      [1, 'alone'],
    ],
  )
})

test('where a claim is a run, nothing is claimed while something is decided or waits to be', async () => {
  const { worker, claims, batches } = scriptedWorker({ batchMax: 1, runnersMax: 1, claimedMax: 50, claimsToRun: true })
  worker.start()
  await last(claims).answer(1)
  worker.poke()
  await turn()
  assert.deepEqual(
    claims.map(({ limit }) => limit),
    [1],
  )
  await batches[0]?.decide()
  assert.equal(claims.length, 2, 'what the first waits for outside holds up none')
})

test('nothing is claimed while something else must be written first, and a poke continues afterwards', async () => {
  let mayClaim = false
  const { worker, claims, batches, rowsOf } = scriptedWorker({ mayClaim: () => mayClaim })
  worker.start()
  worker.poke()
  assert.equal(claims.length, 0)
  const reservation = worker.reserve(1) ?? assert.fail('there was capacity')
  reservation.give(rowsOf(1, reservation.lease))
  assert.equal(batches.length, 1, 'what was created already leased runs')
  mayClaim = true
  worker.poke()
  assert.equal(claims.length, 1)
})

test('rows of claims whose answers were lost are freed before the next claim, all together', async () => {
  const forgotten: (readonly string[])[] = []
  let isAnswering = true
  const { worker, claims } = scriptedWorker({
    forget: async (leases) => {
      forgotten.push(leases)
      if (!isAnswering) throw new Error('no answer')
    },
  })
  worker.start()
  await last(claims).fail('no answer')
  const [first] = claims
  isAnswering = false
  for (let count = 0; count < 3; count += 1) {
    worker.poke()
    await turn()
  }
  assert.equal(claims.length, 1, 'nothing is claimed before')
  assert.deepEqual(forgotten, [[first?.lease], [first?.lease], [first?.lease]], 'no claim was made with the others')
  isAnswering = true
  worker.poke()
  await turn()
  await last(claims).fail('no answer')
  worker.poke()
  await turn()
  assert.deepEqual(forgotten.slice(3), [[first?.lease], [claims[1]?.lease]])
  await last(claims).answer(0)
  worker.poke()
  await turn()
  assert.equal(forgotten.length, 5, 'what was freed is forgotten')
})
