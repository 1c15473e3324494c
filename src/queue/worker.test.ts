// The worker's loop, with claims and batches that a script answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { last, scriptedWorker as scripted } from '../../test/support/scripted-worker.ts'

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

test('rows that fill a batch together run with no others, and one that fills more than a batch runs alone', async () => {
  const shares = [0.5, 0.5, 0.1, 3, 0.2, 0.2, 0.2, 0.2, 0.2, 0]
  const shareOf = ({ id }: { id: string }): number => shares[ids.indexOf(id)] ?? 0
  const { worker, claims, batches, rowsOf } = scripted({ shareOf, runnersMax: 10 })
  const rows = rowsOf(10, 'lease')
  const ids = rows.map(({ id }) => id)
  worker.start()
  await last(claims).answer(rows)
  assert.deepEqual(
    batches.map((batch) => batch.rows.map(({ id }) => shares[ids.indexOf(id)])),
    [[0.5, 0.5], [0.1], [3], [0.2, 0.2, 0.2, 0.2, 0.2], [0]],
  )
})

test('a runner that rests takes no batch; what is over gives its capacity back meanwhile', async () => {
  const resting: (() => void)[] = []
  const rest = () => new Promise<void>((resolve) => resting.push(resolve))
  const { worker, claims, batches, sizes } = scripted({ runnersMax: 1, claimedMax: 10, rest })
  worker.start()
  await last(claims).answer(5)
  await last(claims).answer(5)
  await batches[0]?.settle()
  assert.deepEqual(sizes(), [5])
  worker.poke()
  await turn()
  assert.equal(last(claims).limit, 5, 'capacity for a batch is free')
  resting[0]?.()
  await turn()
  assert.deepEqual(sizes(), [5, 5])
})

test('no more is in flight than may be, counting what is decided but still on its way', async () => {
  const { worker, claims, batches } = scripted({ claimedMax: 12 })
  worker.start()
  await last(claims).answer(10)
  for (const batch of batches) await batch.decide()
  worker.poke()
  assert.deepEqual(
    claims.map((claim) => claim.limit),
    [10],
    'there is capacity for two, but not for a batch',
  )
  await batches[0]?.settle()
  assert.equal(claims.length, 2)
  assert.equal(last(claims).limit, 5, 'as soon as there is capacity for a batch')
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

test('a claim that fails is reported and does not end the loop', async () => {
  const { worker, claims, warnings, sizes } = scripted()
  worker.start()
  await last(claims).fail('no connection')
  assert.equal(claims.length, 1, 'at once it would fail again')
  assert.equal(warnings.length, 1)
  worker.poke()
  await last(claims).answer(3)
  assert.deepEqual(sizes(), [3])
})

test('a batch that fails gives its capacity back, and the next one runs', async () => {
  const { worker, claims, batches, warnings, sizes } = scripted({ runnersMax: 1, claimedMax: 5 })
  worker.start()
  await last(claims).answer(5)
  await batches[0]?.fail('broken')
  assert.equal(warnings.length, 1)
  await last(claims).answer(5)
  assert.deepEqual(sizes(), [5, 5])
})

test('rows that are created already leased run without a claim', async () => {
  const { worker, claims, sizes, batches, rowsOf } = scripted()
  worker.start()
  await last(claims).answer(0)
  const reservation = worker.reserve(3) ?? assert.fail('there was capacity')
  reservation.give(rowsOf(3, reservation.lease))
  assert.deepEqual(sizes(), [3])
  assert.deepEqual([...new Set(batches[0]?.rows.map((row) => row.lease))], [reservation.lease])
  assert.equal(claims.length, 1)
})

test('what is under way already needs no runner, and holds its capacity until it is over; what is given twice counts once', async () => {
  const { worker, sizes } = scripted({ preLeasedMax: 4 })
  worker.start()
  const reservation = worker.reserve(4) ?? assert.fail('there was capacity')
  const ended = reservation.begin(3)
  reservation.give([])
  reservation.give([])
  assert.deepEqual(sizes(), [])
  assert.notEqual(worker.reserve(1), undefined, 'one was not used')
  assert.equal(worker.reserve(1), undefined)
  ended()
  assert.notEqual(worker.reserve(1), undefined)
  assert.equal(worker.reserve(1), undefined, 'two are still under way')
})

test('only a lease of which it is unknown whether rows have it is looked for, before the next claim', async () => {
  const forgotten: string[] = []
  const { worker, claims } = scripted({ forget: async (leases) => void forgotten.push(...leases) })
  worker.start()
  await last(claims).answer(0)
  const [none, unknown, both] = [worker.reserve(1), worker.reserve(1), worker.reserve(1)]
  none?.give([])
  unknown?.lose()
  unknown?.lose()
  both?.give([])
  both?.lose()
  worker.poke()
  await turn()
  assert.deepEqual(forgotten, [unknown?.lease])
  assert.notEqual(worker.reserve(20), undefined, 'all of the capacity came back, once')
})

test('capacity that is reserved is reserved once, and what is not used comes back', async () => {
  const { worker, claims } = scripted({ preLeasedMax: 12 })
  const first = scripted().worker
  assert.equal(first.reserve(1), undefined, 'not started')
  worker.start()
  await last(claims).answer(0)
  const reservation = worker.reserve(7) ?? assert.fail('there was capacity')
  assert.equal(worker.reserve(6), undefined)
  reservation.give([])
  assert.notEqual(worker.reserve(12), undefined)
  assert.equal(worker.reserve(1), undefined)
})

test('however much is created already leased, what is due is claimed, and batches of both take turns', async () => {
  const { worker, claims, batches, rowsOf } = scripted({ runnersMax: 1, preLeasedMax: 20, claimedMax: 5 })
  worker.start()
  const reservation = worker.reserve(20) ?? assert.fail('there was capacity')
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

test('a node that cannot show that it lives begins nothing and continues when it can', async () => {
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

test('stopping continues where leases cannot be given back', async () => {
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

test('rows that were created while the worker stopped are settled or given back', async () => {
  const { worker, claims, batches, released, rowsOf } = scripted({ runnersMax: 1 })
  worker.start()
  await last(claims).answer(5)
  const reservation = worker.reserve(3) ?? assert.fail('there was capacity')
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

test('draining claims and runs until nothing is due, and returns how much there was', async () => {
  const answers = [5, 2, 0]
  const ran: number[] = []
  const { worker, rowsOf } = scripted({
    claim: async (limit, lease) => {
      assert.equal(limit, 5)
      return rowsOf(answers.shift() ?? 0, lease)
    },
    run: async (rows, { done }) => {
      ran.push(rows.length)
      rows.forEach(done)
    },
  })
  assert.equal(await worker.drain(), 7)
  assert.deepEqual(ran, [5, 2])
})

test('draining runs what the database did not answer for once more, and counts it once', async () => {
  const answers = [3]
  const ran: number[] = []
  const { worker, rowsOf } = scripted({
    claim: async (_limit, lease) => rowsOf(answers.shift() ?? 0, lease),
    run: async (rows, { done, again }) => {
      ran.push(rows.length)
      if (ran.length > 1) return rows.forEach(done)
      again(rows.slice(1))
      rows.slice(0, 1).forEach(done)
    },
  })
  assert.equal(await worker.drain(), 3)
  assert.deepEqual(ran, [3, 2])
})

test('draining claims nothing for a node that must not work', async () => {
  let claims = 0
  const { worker, rowsOf } = scripted({
    claim: async (_limit, lease) => {
      claims += 1
      return rowsOf(claims === 1 ? 1 : 0, lease)
    },
    run: async (rows, { done }) => rows.forEach(done),
  })
  worker.setAlive(false)
  assert.equal(await worker.drain(), 0)
  assert.equal(claims, 0)
})
