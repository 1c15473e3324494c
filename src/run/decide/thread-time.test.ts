// How long threads have worked for a job: from when one begins, and not while it waits for others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunOptions, Threads } from '../../world/threads.ts'
import { ThreadTime } from './thread-time.ts'

test('time counts while a thread works, however long it waits before; jobs go first', async () => {
  let nowMs = 0
  const time = new ThreadTime(() => nowMs)
  const begin: (() => void)[] = []
  const end: (() => void)[] = []
  const threads = {
    size: 1,
    run: (_message: unknown, { isFirst, onBegun }: RunOptions = {}) => {
      assert.equal(isFirst, true)
      begin.push(onBegun ?? assert.fail('it is not reported when it begins'))
      return new Promise<void>((resolve) => void end.push(resolve))
    },
  } as unknown as Threads
  const timed = time.of(threads)
  for (const [at, expected] of [0, 5].entries()) {
    const run = timed.run('a')
    nowMs += 1_000
    assert.equal(time.ms(), expected)
    begin[at]?.()
    nowMs += 5
    assert.equal(time.ms(), expected + 5)
    end[at]?.()
    await run
  }
  nowMs += 1_000
  assert.equal(time.ms(), 10)
})
