// Time limits: they are for what works too long, not for what others kept from working.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createThreadClock, isOutOfTime, isStarved, withinTime } from './within-time.ts'

function busyFor(ms: number): string {
  // Not `performance`, which is loaded with its first use: ended in the midst of that, it stays broken.
  const endMs = Date.now() + ms
  while (Date.now() < endMs) Math.sqrt(endMs)
  return 'done'
}

/** What the processor is said to have spent on each attempt, in turn. */
function cpuOf(...spentMs: number[]): () => number {
  const readings = spentMs.flatMap((ms) => [0, ms])
  return () => readings.shift() ?? 0
}

test('work that had the processor and took too long is ended', () => {
  let begun = 0
  const work = () => {
    begun += 1
    return busyFor(10_000)
  }
  assert.throws(
    () => withinTime(10, work, cpuOf(10)),
    (error) => isOutOfTime(error) && !isStarved(error),
  )
  assert.equal(begun, 1)
})

test('work that others kept waiting begins again with more time, but not forever', () => {
  assert.equal(
    withinTime(10, () => busyFor(60), cpuOf(0.5)),
    'done',
  )
  let begun = 0
  const work = () => {
    begun += 1
    return busyFor(10_000)
  }
  assert.throws(
    () => withinTime(5, work, cpuOf(1, 1, 1)),
    (error) => isOutOfTime(error) && isStarved(error),
  )
  assert.equal(begun, 3)
})

test('an attempt that had its time on the processor counts, however long others kept it from that', () => {
  assert.throws(
    () => withinTime(5, () => busyFor(10_000), cpuOf(1, 4)),
    (error) => isOutOfTime(error) && !isStarved(error),
  )
})

test('what other threads do is not counted', async () => {
  const other = new Worker('for (;;) Math.sqrt(2)', { eval: true })
  try {
    await once(other, 'online')
    // The thread waits, and has next to no processor time, while the process has all that the other takes.
    const lock = new Int32Array(new SharedArrayBuffer(4))
    const waits = (): string => {
      Atomics.wait(lock, 0, 0, 40)
      return 'done'
    }
    assert.equal(withinTime(20, waits), 'done')
  } finally {
    await other.terminate()
  }
})

test('all attempts together take no longer than one turn may', () => {
  const limits: number[] = []
  const work = () => {
    limits.push(Date.now())
    return busyFor(10_000)
  }
  const begun = process.cpuUsage()
  // The processor was free again at the second attempt, which would have had 200 ms.
  assert.throws(() => withinTime(10, work, cpuOf(1, 30, 1), 40), isOutOfTime)
  assert.equal(limits.length, 2)
  // Not by the clock: on a busy machine it goes on while this waits.
  const { user, system } = process.cpuUsage(begun)
  assert.ok(user + system < 150_000, 'the second attempt ends after what is left')
})

test('a kernel that does not count the time of threads is found out once, and the process is asked instead', () => {
  let asked = 0
  const still = (): number => {
    asked += 1
    return 0
  }
  const clock = createThreadClock(still, () => 7)
  assert.equal(clock(), 7)
  const askedFirst = asked
  assert.ok(askedFirst > 1)
  assert.deepEqual([clock(), asked], [7, askedFirst])
  // With its zeros every limit would count as one that others had used up.
  assert.throws(
    () =>
      withinTime(
        10,
        () => busyFor(10_000),
        createThreadClock(() => 0),
      ),
    (error) => isOutOfTime(error) && !isStarved(error),
  )
})

test('a count that grows is kept, and one that cannot be read is not', () => {
  let ms = 0
  const growing = createThreadClock(
    () => {
      ms += 1
      return ms
    },
    () => -1,
  )
  assert.ok(growing() > 0)
  const missing = (): number => {
    throw new Error('no such file')
  }
  assert.equal(createThreadClock(missing, () => -1)(), -1)
  assert.equal(
    createThreadClock(
      () => Number.NaN,
      () => -1,
    )(),
    -1,
  )
})

test('what the work throws is thrown', () => {
  assert.throws(
    () =>
      withinTime(50, () => {
        throw new RangeError('deep')
      }),
    RangeError,
  )
})
