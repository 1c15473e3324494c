// When a digest's window closes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DigestMetadata, TimedConfig, TimedDigest, TimeUnit } from '../workflows/workflow.ts'
import { cronExpressionOf, digestDueAt, timeOf } from './digest-window.ts'

const timed = (amount: number, unit: TimeUnit, config: TimedConfig = {}): TimedDigest => ({
  type: 'timed',
  amount,
  unit,
  timed: config,
})
const due = (metadata: DigestMetadata, now: string, zone: string | null = null): string | undefined =>
  digestDueAt(metadata, new Date(now), zone)?.toISOString()

/** Each case: opens, closes, and perhaps the zone. */
type Case = readonly [opens: string, closes: string, zone?: string]
function closes(metadata: DigestMetadata, cases: readonly Case[]): void {
  for (const [opens, expected, zone] of cases)
    assert.equal(due(metadata, opens, zone ?? null), new Date(expected).toISOString(), `${opens} ${zone ?? ''}`)
}

test('a regular and a back-off window close after their time, whatever the zone', () => {
  const cases: readonly Case[] = [
    ['2024-03-31T00:30:00.123Z', '2024-04-01T00:30:00.123Z', 'Europe/Berlin'],
    ['2024-12-31T12:00:00Z', '2025-01-01T12:00:00Z'],
  ]
  closes({ type: 'regular', amount: 1, unit: 'days' }, cases)
  closes({ type: 'backoff', amount: 24, unit: 'hours', backoffAmount: 5, backoffUnit: 'minutes' }, cases)
  closes({ type: 'regular', amount: 1, unit: 'months' }, [['2024-01-31T00:00:00Z', '2024-03-01T00:00:00Z']])
})

test('a timed window of seconds, minutes or hours counts from now', () => {
  closes(timed(90, 'seconds'), [['2024-01-01T00:00:00.500Z', '2024-01-01T00:01:30.500Z']])
  closes(timed(30, 'minutes', { atTime: '09:00' }), [['2024-01-01T23:45:00Z', '2024-01-02T00:15:00Z']])
  closes(timed(6, 'hours'), [['2024-03-31T00:30:00Z', '2024-03-31T06:30:00Z', 'Europe/Berlin']])
})

test('a daily window closes at its time today, or tomorrow when that is over', () => {
  closes(timed(1, 'days', { atTime: '09:00' }), [
    ['2024-02-28T08:59:59.999Z', '2024-02-28T09:00:00Z'],
    ['2024-02-28T09:00:00.000Z', '2024-02-29T09:00:00Z'],
    ['2023-02-28T09:00:00.001Z', '2023-03-01T09:00:00Z'],
    ['2024-12-31T20:00:00Z', '2025-01-01T09:00:00Z'],
    ['2024-01-15T07:00:00Z', '2024-01-15T08:00:00Z', 'Europe/Berlin'],
    ['2024-01-15T04:00:00Z', '2024-01-16T03:30:00Z', 'Asia/Kolkata'],
    ['2024-01-15T23:30:00Z', '2024-01-16T14:00:00Z', 'America/New_York'],
    // There it is tomorrow already.
    ['2024-01-15T18:59:00Z', '2024-01-15T19:00:00Z', 'Pacific/Kiritimati'],
  ])
  closes(timed(1, 'days', { atTime: '00:00:30' }), [['2024-01-15T00:00:29Z', '2024-01-15T00:00:30Z']])
})

test('every n days counts today as the first', () => {
  closes(timed(3, 'days', { atTime: '09:00' }), [
    ['2024-02-27T08:00:00Z', '2024-02-27T09:00:00Z'],
    ['2024-02-27T10:00:00Z', '2024-03-01T09:00:00Z'],
  ])
})

test('a daily window may be for some days of the week only', () => {
  const workdays = timed(1, 'days', {
    atTime: '17:00',
    weekDays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
  })
  closes(workdays, [
    ['2024-03-01T16:00:00Z', '2024-03-01T17:00:00Z'],
    ['2024-03-01T17:00:00Z', '2024-03-04T17:00:00Z'],
  ])
})

test('a weekly window closes on its next day of the week', () => {
  const twice = timed(1, 'weeks', { atTime: '09:00', weekDays: ['friday', 'monday'] })
  closes(twice, [
    ['2024-02-26T08:00:00Z', '2024-02-26T09:00:00Z'],
    ['2024-02-26T09:00:00Z', '2024-03-01T09:00:00Z'],
    ['2024-03-01T12:00:00Z', '2024-03-04T09:00:00Z'],
    ['2024-12-28T12:00:00Z', '2024-12-30T09:00:00Z'],
    // Monday morning in Auckland is Sunday evening in UTC.
    ['2024-03-03T19:00:00Z', '2024-03-03T20:00:00Z', 'Pacific/Auckland'],
  ])
  closes(timed(1, 'weeks', { atTime: '09:00', weekDays: ['sunday'] }), [
    ['2024-03-03T08:00:00Z', '2024-03-03T09:00:00Z'],
    ['2024-03-03T09:00:00Z', '2024-03-10T09:00:00Z'],
  ])
})

test('every n weeks counts this week, from Monday, as the first', () => {
  closes(timed(2, 'weeks', { atTime: '09:00', weekDays: ['wednesday', 'sunday'] }), [
    ['2024-02-27T00:00:00Z', '2024-02-28T09:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-03-03T09:00:00Z'],
    ['2024-03-03T10:00:00Z', '2024-03-13T09:00:00Z'],
  ])
})

test('a monthly window closes on its next day of the month; a day that a month lacks is left out', () => {
  closes(timed(1, 'months', { atTime: '09:00', monthDays: ['15', '1'] }), [
    ['2024-02-01T08:00:00Z', '2024-02-01T09:00:00Z'],
    ['2024-02-01T09:00:00Z', '2024-02-15T09:00:00Z'],
    ['2024-12-15T09:00:00Z', '2025-01-01T09:00:00Z'],
  ])
  closes(timed(1, 'months', { monthlyType: 'each', atTime: '09:00', monthDays: ['31'] }), [
    ['2024-01-31T09:00:00Z', '2024-03-31T09:00:00Z'],
    ['2024-04-01T00:00:00Z', '2024-05-31T09:00:00Z'],
  ])
  closes(timed(1, 'months', { atTime: '09:00', monthDays: ['29'] }), [
    ['2024-02-01T00:00:00Z', '2024-02-29T09:00:00Z'],
    ['2023-02-01T00:00:00Z', '2023-03-29T09:00:00Z'],
  ])
  closes(timed(1, 'months', { atTime: '09:00', monthDays: ['30', '31'] }), [
    ['2024-04-30T09:00:00Z', '2024-05-30T09:00:00Z'],
    ['2024-01-31T09:00:00Z', '2024-03-30T09:00:00Z'],
  ])
})

test('every n months counts this month as the first, over the end of the year too', () => {
  closes(timed(3, 'months', { atTime: '09:00', monthDays: ['10'] }), [
    ['2024-11-09T00:00:00Z', '2024-11-10T09:00:00Z'],
    ['2024-11-11T00:00:00Z', '2025-02-10T09:00:00Z'],
  ])
  closes(timed(3, 'months', { atTime: '09:00', monthDays: ['31'] }), [['2024-01-31T10:00:00Z', '2024-07-31T09:00:00Z']])
})

test('a monthly window may close on the n-th or last day of a kind', () => {
  const on = (ordinal: NonNullable<TimedConfig['ordinal']>, ordinalValue: NonNullable<TimedConfig['ordinalValue']>) =>
    due(timed(1, 'months', { monthlyType: 'on', atTime: '09:00', ordinal, ordinalValue }), '2024-06-01T00:00:00Z')
  // June 2024 begins on a Saturday and ends on a Sunday.
  assert.equal(on('1', 'day'), '2024-06-01T09:00:00.000Z')
  assert.equal(on('5', 'day'), '2024-06-05T09:00:00.000Z')
  assert.equal(on('last', 'day'), '2024-06-30T09:00:00.000Z')
  assert.equal(on('1', 'weekday'), '2024-06-03T09:00:00.000Z')
  assert.equal(on('5', 'weekday'), '2024-06-07T09:00:00.000Z')
  assert.equal(on('last', 'weekday'), '2024-06-28T09:00:00.000Z')
  assert.equal(on('1', 'weekend'), '2024-06-01T09:00:00.000Z')
  assert.equal(on('3', 'weekend'), '2024-06-08T09:00:00.000Z')
  assert.equal(on('last', 'weekend'), '2024-06-30T09:00:00.000Z')
  assert.equal(on('2', 'tuesday'), '2024-06-11T09:00:00.000Z')
  assert.equal(on('5', 'saturday'), '2024-06-29T09:00:00.000Z')
  assert.equal(on('last', 'monday'), '2024-06-24T09:00:00.000Z')
  // June has no fifth Monday, July has.
  assert.equal(on('5', 'monday'), '2024-07-29T09:00:00.000Z')
})

test('the last day of February knows leap years', () => {
  const last = timed(1, 'months', { monthlyType: 'on', atTime: '09:00', ordinal: 'last', ordinalValue: 'day' })
  closes(last, [
    ['2024-02-10T00:00:00Z', '2024-02-29T09:00:00Z'],
    ['2023-02-10T00:00:00Z', '2023-02-28T09:00:00Z'],
    ['2100-02-10T00:00:00Z', '2100-02-28T09:00:00Z'],
    ['2024-12-31T09:00:00Z', '2025-01-31T09:00:00Z'],
  ])
})

test('clocks that go forward move a time they skip, and keep the others', () => {
  closes(timed(1, 'days', { atTime: '02:30' }), [
    ['2024-03-30T12:00:00Z', '2024-03-31T01:30:00Z', 'Europe/Berlin'],
    ['2024-03-31T01:29:00Z', '2024-03-31T01:30:00Z', 'Europe/Berlin'],
    ['2024-03-31T01:30:00Z', '2024-04-01T00:30:00Z', 'Europe/Berlin'],
  ])
  closes(timed(1, 'days', { atTime: '09:00' }), [
    ['2024-03-30T08:00:00Z', '2024-03-31T07:00:00Z', 'Europe/Berlin'],
    ['2024-03-09T14:00:00Z', '2024-03-10T13:00:00Z', 'America/New_York'],
  ])
})

test('clocks that go back show a time twice, and it counts once', () => {
  closes(timed(1, 'days', { atTime: '02:30' }), [
    ['2024-10-26T12:00:00Z', '2024-10-27T00:30:00Z', 'Europe/Berlin'],
    // Between the two, and at the second.
    ['2024-10-27T00:30:00Z', '2024-10-28T01:30:00Z', 'Europe/Berlin'],
    ['2024-10-27T01:30:00Z', '2024-10-28T01:30:00Z', 'Europe/Berlin'],
  ])
  closes(timed(1, 'days', { atTime: '09:00' }), [['2024-10-26T07:00:00Z', '2024-10-27T08:00:00Z', 'Europe/Berlin']])
})

test('a day that a zone skips is made up for on the next', () => {
  // Samoa had no Friday the 30th.
  const friday = timed(1, 'weeks', { atTime: '09:00', weekDays: ['friday'] })
  closes(friday, [
    ['2011-12-29T00:00:00Z', '2011-12-30T19:00:00Z', 'Pacific/Apia'],
    ['2011-12-30T18:00:00Z', '2011-12-30T19:00:00Z', 'Pacific/Apia'],
    ['2011-12-30T19:00:00Z', '2012-01-05T19:00:00Z', 'Pacific/Apia'],
  ])
})

test('a zone that no one knows is UTC', () => {
  closes(timed(1, 'days', { atTime: '09:00' }), [['2024-01-15T07:00:00Z', '2024-01-15T09:00:00Z', 'Mars/Olympus']])
})

test('settings that name no time give none', () => {
  const now = '2024-02-10T00:00:00Z'
  assert.equal(due({ type: 'regular', unit: 'days' }, now), undefined)
  assert.equal(due({ type: 'regular', amount: 1 }, now), undefined)
  for (const unit of ['days', 'weeks', 'months'] as const)
    for (const amount of [0, -1, Number.NaN])
      assert.equal(due(timed(amount, unit, { atTime: '09:00' }), now), undefined)
  assert.equal(due({ type: 'timed', amount: 1, unit: 'days' }, now), undefined)
  assert.equal(due(timed(1, 'days', { atTime: 'at nine' }), now), undefined)
  assert.equal(due(timed(1, 'weeks', { atTime: '09:00' }), now), undefined)
  assert.equal(due(timed(1, 'months', { atTime: '09:00' }), now), undefined)
  assert.equal(due(timed(1, 'months', { atTime: '09:00', monthlyType: 'on', ordinal: '1' }), now), undefined)
  // The same month for ever, and it has no such day.
  assert.equal(due(timed(12, 'months', { atTime: '09:00', monthDays: ['30'] }), now), undefined)
  assert.equal(due(timed(7, 'days', { atTime: '09:00', weekDays: ['monday'] }), now), undefined)
})

test('a time of day has 24 hours and two digits each, or 12 hours and a half of the day', () => {
  assert.deepEqual(timeOf('23:59:58'), { hour: 23, minute: 59, second: 58 })
  assert.deepEqual(timeOf('00:00'), { hour: 0, minute: 0, second: 0 })
  assert.deepEqual(timeOf('9am'), { hour: 9, minute: 0, second: 0 })
  assert.deepEqual(timeOf('09:30 PM'), { hour: 21, minute: 30, second: 0 })
  for (const text of ['24:00', '9:00', '09:60', '09:00:60', '13 PM', '', '09', undefined])
    assert.equal(timeOf(text), undefined, text)
})

test('a rule that cron can say is said in cron', () => {
  assert.equal(cronExpressionOf(timed(1, 'days', { atTime: '09:05' })), '5 9 * * *')
  assert.equal(cronExpressionOf(timed(1, 'days', { atTime: '09:00', weekDays: ['monday'] })), '0 9 * * 1')
  assert.equal(
    cronExpressionOf(timed(1, 'weeks', { atTime: '17:30:00', weekDays: ['friday', 'sunday', 'monday', 'friday'] })),
    '30 17 * * 0,1,5',
  )
  assert.equal(cronExpressionOf(timed(1, 'months', { atTime: '00:00', monthDays: ['15', '1'] })), '0 0 1,15 * *')
  assert.equal(
    cronExpressionOf(timed(1, 'months', { atTime: '00:00', monthlyType: 'on', ordinal: '2', ordinalValue: 'day' })),
    '0 0 2 * *',
  )
})

test('a rule that cron cannot say has no cron', () => {
  const on = (ordinal: NonNullable<TimedConfig['ordinal']>, ordinalValue: NonNullable<TimedConfig['ordinalValue']>) =>
    timed(1, 'months', { atTime: '09:00', monthlyType: 'on', ordinal, ordinalValue })
  const none: readonly DigestMetadata[] = [
    { type: 'regular', amount: 1, unit: 'days' },
    timed(2, 'days', { atTime: '09:00' }),
    timed(1, 'days', { atTime: '09:00:30' }),
    timed(1, 'days'),
    timed(1, 'hours', { atTime: '09:00' }),
    timed(1, 'weeks', { atTime: '09:00' }),
    timed(1, 'months', { atTime: '09:00' }),
    on('last', 'day'),
    on('1', 'weekday'),
    on('1', 'monday'),
  ]
  for (const metadata of none) assert.equal(cronExpressionOf(metadata), undefined, JSON.stringify(metadata))
})
