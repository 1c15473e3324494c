// What clocks show, and when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/support/random.ts'
import type { WallTime } from './zone.ts'
import { timestampOfWall, usableZone, wallTimeAt } from './zone.ts'

/** `2024-03-31 02:30:00` */
function wall(text: string): WallTime {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/\D/).map(Number)
  return { year, month, day, hour, minute, second }
}
const timestamp = (text: string, zone: string): string => timestampOfWall(wall(text), zone).toISOString()
const clocks = (text: string, zone: string): string => {
  const { year, month, day, hour, minute, second } = wallTimeAt(new Date(text), zone)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`
}

test('clocks show the zone’s own time, half hours and quarters included', () => {
  assert.equal(clocks('2024-01-15T12:00:00.999Z', 'UTC'), '2024-01-15 12:00:00')
  assert.equal(clocks('2024-01-15T12:00:00.999Z', 'Europe/Berlin'), '2024-01-15 13:00:00')
  assert.equal(clocks('2024-07-15T12:00:00Z', 'Europe/Berlin'), '2024-07-15 14:00:00')
  assert.equal(clocks('2024-01-15T12:00:00Z', 'Asia/Kolkata'), '2024-01-15 17:30:00')
  assert.equal(clocks('2024-01-15T12:00:00Z', 'Asia/Kathmandu'), '2024-01-15 17:45:00')
  assert.equal(clocks('2023-12-31T23:30:00Z', 'Pacific/Kiritimati'), '2024-01-01 13:30:00')
  assert.equal(clocks('2024-01-01T00:00:00Z', 'America/New_York'), '2023-12-31 19:00:00')
  assert.equal(clocks('2024-01-01T23:00:00Z', 'Europe/Berlin'), '2024-01-02 00:00:00')
})

test('a local time becomes its timestamp', () => {
  assert.equal(timestamp('2024-01-15 09:00:00', 'UTC'), '2024-01-15T09:00:00.000Z')
  assert.equal(timestamp('2024-01-15 09:00:00', 'Europe/Berlin'), '2024-01-15T08:00:00.000Z')
  assert.equal(timestamp('2024-07-15 09:00:00', 'Europe/Berlin'), '2024-07-15T07:00:00.000Z')
  assert.equal(timestamp('2024-02-29 09:00:00', 'Asia/Kolkata'), '2024-02-29T03:30:00.000Z')
  assert.equal(timestamp('2024-01-01 00:15:30', 'America/St_Johns'), '2024-01-01T03:45:30.000Z')
})

test('the hours around a change of clocks are right on both sides', () => {
  assert.equal(timestamp('2024-03-31 01:59:59', 'Europe/Berlin'), '2024-03-31T00:59:59.000Z')
  assert.equal(timestamp('2024-03-31 03:00:00', 'Europe/Berlin'), '2024-03-31T01:00:00.000Z')
  assert.equal(timestamp('2024-10-27 01:59:59', 'Europe/Berlin'), '2024-10-26T23:59:59.000Z')
  assert.equal(timestamp('2024-10-27 03:00:00', 'Europe/Berlin'), '2024-10-27T02:00:00.000Z')
})

test('a time that clocks skip moves forward by what they skip', () => {
  assert.equal(timestamp('2024-03-31 02:30:00', 'Europe/Berlin'), '2024-03-31T01:30:00.000Z')
  assert.equal(clocks(timestamp('2024-03-31 02:30:00', 'Europe/Berlin'), 'Europe/Berlin'), '2024-03-31 03:30:00')
  assert.equal(clocks(timestamp('2024-03-10 02:00:00', 'America/New_York'), 'America/New_York'), '2024-03-10 03:00:00')
  // Half an hour only.
  assert.equal(
    clocks(timestamp('2024-10-06 02:15:00', 'Australia/Lord_Howe'), 'Australia/Lord_Howe'),
    '2024-10-06 02:45:00',
  )
  // At midnight: the day begins at one.
  assert.equal(clocks(timestamp('2024-04-26 00:10:00', 'Africa/Cairo'), 'Africa/Cairo'), '2024-04-26 01:10:00')
  // A whole day: Samoa went over the date line.
  assert.equal(clocks(timestamp('2011-12-30 09:00:00', 'Pacific/Apia'), 'Pacific/Apia'), '2011-12-31 09:00:00')
})

test('a time that clocks show twice is the first of the two', () => {
  assert.equal(timestamp('2024-10-27 02:30:00', 'Europe/Berlin'), '2024-10-27T00:30:00.000Z')
  assert.equal(timestamp('2024-11-03 01:30:00', 'America/New_York'), '2024-11-03T05:30:00.000Z')
  assert.equal(timestamp('2024-04-07 01:45:00', 'Australia/Lord_Howe'), '2024-04-06T14:45:00.000Z')
})

test('there and back again is the same time, or the first that shows the same', () => {
  const random = createRandom(1)
  const zones = Intl.supportedValuesOf('timeZone')
  let twice = 0
  for (let round = 0; round < 5_000; round += 1) {
    const at = new Date(Date.UTC(2000, 0, 1) + random.integer(30 * 366 * 24 * 60) * 60_000)
    const zone = random.oneOf(zones)
    const back = timestampOfWall(wallTimeAt(at, zone), zone)
    assert.deepEqual(wallTimeAt(back, zone), wallTimeAt(at, zone), `${at.toISOString()} ${zone}`)
    assert.ok(back <= at, `${at.toISOString()} ${zone}`)
    if (back < at) twice += 1
  }
  // An hour a year, in some zones.
  assert.ok(twice < 20)
})

test('a zone that is missing or unknown is UTC, and any spelling of a known one will do', () => {
  assert.equal(usableZone(null), 'UTC')
  assert.equal(usableZone('Mars/Olympus'), 'UTC')
  assert.equal(usableZone(''), 'UTC')
  assert.equal(usableZone('europe/berlin'), 'europe/berlin')
  assert.equal(timestamp('2024-07-15 09:00:00', 'europe/berlin'), '2024-07-15T07:00:00.000Z')
  for (let number = 0; number < 3_000; number += 1) assert.equal(usableZone(`Mars/${number}`), 'UTC')
})
