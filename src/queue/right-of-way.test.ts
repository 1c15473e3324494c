// Who has the right of way, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRightOfWay } from './right-of-way.ts'

function scene() {
  let nowMs = 1_000
  /** What happens at a given time, while the worker pauses. */
  const happens = new Map<number, () => void>()
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms
    happens.get(nowMs)?.()
  }
  const way = createRightOfWay(sleep, () => nowMs)
  const restMs = async (tookMs: number): Promise<number> => {
    const beganMs = nowMs
    await way.rest(tookMs)
    return nowMs - beganMs
  }
  return { way, happens, restMs }
}

test('without callers, and for one alone, the worker does not rest', async () => {
  const { way, restMs } = scene()
  assert.equal(await restMs(100), 0)
  way.enter()
  assert.equal(await restMs(100), 0)
})

test('while callers wait for each other it rests for twice as long as the batch took, and continues', async () => {
  const { way, restMs } = scene()
  way.enter()
  way.enter()
  assert.equal(await restMs(100), 200)
  assert.equal(await restMs(3), 6)
  assert.equal(await restMs(60_000), 500, 'whatever the batch took')
})

test('it continues as soon as they have their answers and do not come back', async () => {
  const { way, happens, restMs } = scene()
  const [one, other] = [way.enter(), way.enter()]
  happens.set(1_030, () => {
    one()
    other()
  })
  assert.equal(await restMs(100), 40)
  assert.equal(await restMs(100), 0)
})

test('a caller that comes back at once with the next call keeps the right of way', async () => {
  const { way, happens, restMs } = scene()
  const one = way.enter()
  way.enter()
  happens.set(1_030, one)
  happens.set(1_035, () => way.enter())
  assert.equal(await restMs(17.5), 35)
  way.enter()
  assert.equal(await restMs(100), 200)
})
