// The time that counts are asked for, in steps and as a whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../domain/problem.ts'
import type { AskedSteps } from './counts-range.ts'
import { steppedTime, wholeTime } from './counts-range.ts'

const now = new Date('2026-04-01T12:34:56.789Z')
const stepped = (asked: AskedSteps) => steppedTime(asked, now)
const iso = (dates: readonly Date[]): string[] => dates.map((date) => date.toISOString())
const refusal = (work: () => unknown): Record<string, unknown> => {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof Problem)
    assert.equal(error.status, 422)
    return error.members['errors'] as Record<string, unknown>
  }
  return assert.fail('was not refused')
}

test('the last day is asked for by hours by default', () => {
  const { from, to, step, starts, zone } = stepped({})
  assert.deepEqual(iso([from, to]), ['2026-03-31T12:00:00.000Z', '2026-04-01T13:00:00.000Z'])
  assert.deepEqual([step, starts.length, zone], ['hour', 25, 'UTC'])
})

test('a short time is reported by minutes, a long one by days, and what is older than minutes by hours', () => {
  assert.equal(stepped({ from: '2026-04-01T07:00Z' }).step, 'minute')
  assert.equal(stepped({ from: '2026-04-01T06:00Z' }).step, 'hour')
  assert.equal(stepped({ from: '2026-03-18' }).step, 'day')
  assert.equal(stepped({ from: '2026-03-01T00:00Z', to: '2026-03-01T01:00Z' }).step, 'hour')
})

test('a time is widened to whole steps, and one that is whole stays as it is', () => {
  const widened = stepped({ from: '2026-04-01T10:10:10Z', to: '2026-04-01T10:12:00.001Z', step: 'minute' })
  assert.deepEqual(iso(widened.starts), [
    '2026-04-01T10:10:00.000Z',
    '2026-04-01T10:11:00.000Z',
    '2026-04-01T10:12:00.000Z',
  ])
  const whole = stepped({ from: '2026-03-30', to: '2026-04-01', step: 'day' })
  assert.deepEqual(iso([...whole.starts, whole.to]), [
    '2026-03-30T00:00:00.000Z',
    '2026-03-31T00:00:00.000Z',
    '2026-04-01T00:00:00.000Z',
  ])
})

test('days of a zone are as long as its clocks make them, and are made of hours', () => {
  const { starts, to, pieces } = stepped({
    from: '2026-03-28T12:00Z',
    to: '2026-03-30T12:00Z',
    step: 'day',
    zone: 'Europe/Berlin',
  })
  assert.deepEqual(iso([...starts, to]), [
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T22:00:00.000Z',
  ])
  assert.deepEqual(
    pieces.map(({ grain }) => grain),
    ['hour'],
  )
  assert.deepEqual(
    stepped({ from: '2026-03-30', to: '2026-04-01', step: 'day' }).pieces.map(({ grain }) => grain),
    ['day'],
  )
})

test('as a whole, days are taken where they are whole and hours before and after', () => {
  const { pieces, from, to } = wholeTime({ from: '2026-03-29T22:30Z', to: '2026-04-01T01:30Z' }, now)
  assert.deepEqual(
    pieces.map((piece) => [piece.grain, ...iso([piece.from, piece.to])]),
    [
      ['hour', '2026-03-29T22:00:00.000Z', '2026-03-30T00:00:00.000Z'],
      ['day', '2026-03-30T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
      ['hour', '2026-04-01T00:00:00.000Z', '2026-04-01T02:00:00.000Z'],
    ],
  )
  assert.deepEqual(iso([from, to]), ['2026-03-29T22:00:00.000Z', '2026-04-01T02:00:00.000Z'])
  const day = wholeTime({ from: '2026-03-31T01:00Z', to: '2026-03-31T23:00Z' }, now)
  assert.deepEqual(
    day.pieces.map(({ grain }) => grain),
    ['hour'],
  )
  const short = wholeTime({ from: '2026-04-01T10:00:30Z', to: '2026-04-01T11:00Z' }, now)
  assert.deepEqual([short.grain, short.from.toISOString()], ['minute', '2026-04-01T10:00:00.000Z'])
})

test('what cannot be is refused by the field that is wrong', () => {
  const fields = (asked: AskedSteps): string[] => Object.keys(refusal(() => stepped(asked)))
  assert.deepEqual(fields({ from: 'yesterday' }), ['from'])
  assert.deepEqual(fields({ to: '2026-02-30' }), ['to'])
  assert.deepEqual(fields({ from: '2026-04-01', to: '2026-04-01' }), ['from'])
  assert.deepEqual(fields({ from: '2026-04-02', to: '2026-04-01' }), ['from'])
  assert.deepEqual(fields({ from: '2024-12-31' }), ['from'])
  assert.deepEqual(fields({ from: '2026-03-20', step: 'minute' }), ['from'])
  assert.deepEqual(fields({ from: '2026-03-31T11:00Z', step: 'minute' }), ['step'])
  assert.deepEqual(fields({ from: '2026-01-01', step: 'hour' }), ['step'])
  assert.deepEqual(fields({ from: '2026-03-31', to: '2028-03-31' }), ['to'])
  assert.deepEqual(fields({ zone: 'Middle/Earth' }), ['zone'])
})
