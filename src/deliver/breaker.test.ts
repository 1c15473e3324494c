// Circuit breakers: when they open, for how long, and what closes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Breaker } from './breaker.ts'
import { createBreaker } from './breaker.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)

function failing(breaker: Breaker, times: number, ms: number): Breaker {
  for (let count = 0; count < times; count += 1) breaker.note(true, at(ms))
  return breaker
}

test('five failures in a row open it, four do not', () => {
  const breaker = failing(createBreaker(), 4, 0)
  assert.equal(breaker.state(at(0)), 'closed')
  assert.equal(breaker.down(), undefined)
  breaker.note(true, at(10))
  assert.equal(breaker.state(at(10)), 'open')
  assert.deepEqual(breaker.down(), { since: at(10), until: at(2_010) })
})

test('an answer in between starts the count from the beginning', () => {
  const breaker = failing(createBreaker(), 4, 0)
  breaker.note(false, at(0))
  failing(breaker, 4, 0)
  assert.equal(breaker.state(at(0)), 'closed')
})

test('it is half-open when its time is over, and open before', () => {
  const breaker = failing(createBreaker(), 5, 0)
  assert.equal(breaker.state(at(1_999)), 'open')
  assert.equal(breaker.state(at(2_000)), 'half-open')
})

test('each time the call that is let through fails, it stays open for twice as long, up to a minute', () => {
  const breaker = failing(createBreaker(), 5, 0)
  const lengths: number[] = []
  for (let count = 0; count < 8; count += 1) {
    const until = breaker.down()?.until as Date
    breaker.note(true, until)
    lengths.push((breaker.down()?.until.getTime() ?? 0) - until.getTime())
  }
  assert.deepEqual(lengths, [4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
  assert.deepEqual(breaker.down()?.since, at(0), 'down since the first time')
})

test('calls that began before it opened and fail while it is open are no news', () => {
  const breaker = failing(createBreaker(), 5, 0)
  failing(breaker, 45, 1_500)
  assert.deepEqual(breaker.down(), { since: at(0), until: at(2_000) })
})

test('an answer closes it, whichever call it is of, and the next outage begins with the shortest time', () => {
  const breaker = failing(createBreaker(), 5, 0)
  breaker.note(true, at(2_000))
  breaker.note(false, at(2_500))
  assert.equal(breaker.state(at(2_500)), 'closed')
  assert.equal(breaker.down(), undefined)
  failing(breaker, 5, 10_000)
  assert.deepEqual(breaker.down(), { since: at(10_000), until: at(12_000) })
})
