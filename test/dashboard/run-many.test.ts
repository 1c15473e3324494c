// Calls for many rows: when they pause, what counts as failed, and what is left after a stop.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ran } from '../../dashboard/src/ui/run-many.ts'
import { runMany } from '../../dashboard/src/ui/run-many.ts'

const rows = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
const tooOften = (retryAfterMs?: number) =>
  Object.assign(new Error('API rate limit exceeded'), { status: 429, retryAfterMs })

/** Pauses that end at once, and how long each would have been. */
function pauses() {
  const lengths: number[] = []
  const wait = (ms: number): Promise<void> => {
    lengths.push(ms)
    return Promise.resolve()
  }
  return { lengths, wait }
}

test('a row that was refused for asking too often is tried again after the pause that was asked for', async () => {
  const { lengths, wait } = pauses()
  const asked: number[] = []
  const reported: Ran<number>[] = []
  const act = async ([row = -1]: readonly number[]) => {
    asked.push(row)
    if (asked.length === 1) throw tooOften(7_000)
  }
  const { signal } = new AbortController()
  const ran = await runMany(rows(6), act, { signal, wait, onProgress: (now) => reported.push(now) })
  assert.deepEqual([[...ran.done].sort(), ran.failed, ran.left], [rows(6), [], []])
  assert.deepEqual(lengths, [7_000])
  assert.deepEqual(asked.filter((row) => row === 0).length, 2)
  assert.ok(reported.some(({ pauseMs }) => pauseMs === 7_000))
})

test('the pause is bounded: a second at least, a minute at most', async () => {
  for (const [given, expected] of [
    [undefined, 1_000],
    [0, 1_000],
    [3_600_000, 60_000],
  ]) {
    const { lengths, wait } = pauses()
    let asked = 0
    const act = async () => {
      asked += 1
      if (asked === 1) throw tooOften(given)
    }
    await runMany([1], act, { signal: new AbortController().signal, wait, onProgress: () => {} })
    assert.deepEqual(lengths, [expected])
  }
})

test('calls that are refused at the same time share one pause, and none begins in it', async () => {
  let [begin, end] = [() => {}, () => {}]
  const paused = new Promise<void>((resolve) => {
    begin = resolve
  })
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  let pausesBegun = 0
  let asked = 0
  const act = async () => {
    asked += 1
    if (asked <= 4) throw tooOften()
  }
  const wait = (): Promise<void> => {
    pausesBegun += 1
    begin()
    return over
  }
  const run = runMany(rows(8), act, { signal: new AbortController().signal, wait, onProgress: () => {} })
  await paused
  assert.deepEqual([asked, pausesBegun], [4, 1])
  end()
  assert.deepEqual([(await run).done.length, asked, pausesBegun], [8, 12, 1])
})

test('what is refused so each time has failed in the end, in the words of the service', async () => {
  const { lengths, wait } = pauses()
  const act = () => Promise.reject(tooOften())
  const { signal } = new AbortController()
  const ran = await runMany(['a'], act, { signal, wait, onProgress: () => {} })
  assert.deepEqual(ran.failed, [{ row: 'a', words: 'API rate limit exceeded' }])
  assert.equal(lengths.length, 7)
})

test('a service that is busy and says for how long is asked again; without that it has failed', async () => {
  const busy = (retryAfterMs?: number) => Object.assign(new Error('Too busy'), { status: 503, retryAfterMs })
  for (const [given, expected] of [
    [1_000, { done: ['a'], failed: [], left: [] }],
    [undefined, { done: [], failed: [{ row: 'a', words: 'Too busy' }], left: [] }],
  ] as const) {
    const { wait } = pauses()
    let asked = 0
    const act = async () => {
      asked += 1
      if (asked === 1) throw busy(given)
    }
    const { signal } = new AbortController()
    assert.deepEqual(await runMany(['a'], act, { signal, wait, onProgress: () => {} }), expected)
  }
})

test('other refusals are not tried again', async () => {
  const { lengths, wait } = pauses()
  let asked = 0
  const act = () => {
    asked += 1
    return Promise.reject(Object.assign(new Error('It was retracted'), { status: 409 }))
  }
  const { signal } = new AbortController()
  const ran = await runMany(['a'], act, { signal, wait, onProgress: () => {} })
  assert.deepEqual([ran.failed, asked, lengths], [[{ row: 'a', words: 'It was retracted' }], 1, []])
})

test('after a stop, rows in a pause and rows that were not begun are left, and none of them failed', async () => {
  const stop = new AbortController()
  let asked = 0
  const act = async ([row = -1]: readonly number[]) => {
    asked += 1
    if (row === 1) throw new Error('It is gone')
    if (row > 1) throw tooOften()
  }
  const wait = async (): Promise<void> => stop.abort()
  const ran = await runMany(rows(10), act, { signal: stop.signal, wait, onProgress: () => {} })
  assert.deepEqual(ran.done, [0])
  assert.deepEqual(ran.failed, [{ row: 1, words: 'It is gone' }])
  assert.deepEqual(ran.left, [2, 3, 4, 5, 6, 7, 8, 9])
  assert.ok(asked <= 6)
})

test('a pause that is not over when the run is stopped ends at once', async (t) => {
  // Time stands still: what waits for the end of the pause waits for ever.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  const onProgress = ({ pauseMs }: Ran<number>) => {
    if (pauseMs !== undefined) queueMicrotask(() => stop.abort())
  }
  const ran = await runMany([1], () => Promise.reject(tooOften(60_000)), { signal: stop.signal, onProgress })
  assert.deepEqual(ran, { done: [], failed: [], left: [1] })
})
