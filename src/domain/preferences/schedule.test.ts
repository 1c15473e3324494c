// Weekly hours: whether they are open, and when they next are, against a walk from minute to minute.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzRounds } from '../../../test/support/random.ts'
import { weekDays } from '../workflows/workflow.ts'
import type { DaySchedule, Schedule, TimeRange } from './schedule.ts'
import { minuteOfDay, nextOpening } from './schedule.ts'

const minuteMs = 60_000
const office: Schedule = {
  isEnabled: true,
  weeklySchedule: {
    monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] },
    friday: { isEnabled: true, hours: [{ start: '10:00 PM', end: '02:00 AM' }] },
  },
}
const at = (text: string): Date => new Date(text)

/** Open now: the next opening is not later. */
const isOpen = (schedule: Schedule, zone: string | null, now: Date): boolean =>
  nextOpening(schedule, zone, now)?.getTime() === now.getTime()

test('it is open from the start of its hours until just before their end, by the clocks of the zone', () => {
  // 2026-03-02 is a Monday; Berlin is an hour ahead of UTC.
  for (const [timestamp, open] of [
    ['2026-03-02T07:59:59.999Z', false],
    ['2026-03-02T08:00:00Z', true],
    ['2026-03-02T15:59:59.999Z', true],
    ['2026-03-02T16:00:00Z', false],
    ['2026-03-03T10:00:00Z', false],
  ] as const) {
    assert.equal(isOpen(office, 'Europe/Berlin', at(timestamp)), open, timestamp)
  }
  assert.equal(isOpen(office, null, at('2026-03-02T08:30:00Z')), false, 'UTC where no zone is known')
})

test('hours that end before they start continue after midnight, on a day that is closed by itself', () => {
  for (const [timestamp, open] of [
    ['2026-03-06T21:59:00Z', false],
    ['2026-03-06T22:00:00Z', true],
    ['2026-03-07T01:59:00Z', true],
    ['2026-03-07T02:00:00Z', false],
  ] as const) {
    assert.equal(isOpen(office, 'UTC', at(timestamp)), open, timestamp)
  }
})

test('a schedule that is switched off, or says no week, is always open; a week without days never is', () => {
  const timestamp = at('2026-03-03T03:00:00Z')
  for (const schedule of [{ ...office, isEnabled: false }, { isEnabled: true }]) {
    assert.equal(isOpen(schedule, 'UTC', timestamp), true)
    assert.deepEqual(nextOpening(schedule, 'UTC', timestamp), timestamp)
  }
  const never: Schedule = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }
  assert.equal(isOpen(never, 'UTC', timestamp), false)
  assert.equal(nextOpening(never, 'UTC', timestamp), undefined)
})

test('a day without hours is open as a whole, and one that ends at 11:59 PM ends with the day', () => {
  const schedule: Schedule = {
    isEnabled: true,
    weeklySchedule: {
      monday: { isEnabled: true },
      tuesday: { isEnabled: true, hours: [{ start: '08:00 AM', end: '11:59 PM' }] },
    },
  }
  assert.equal(isOpen(schedule, 'UTC', at('2026-03-02T00:00:00Z')), true)
  assert.equal(isOpen(schedule, 'UTC', at('2026-03-03T07:59:00Z')), false)
  assert.equal(isOpen(schedule, 'UTC', at('2026-03-03T23:59:59Z')), true)
  assert.equal(isOpen(schedule, 'UTC', at('2026-03-04T00:00:00Z')), false)
})

test('times are read with twelve and with twenty-four hours, and nothing else is', () => {
  assert.deepEqual(
    ['12:00 AM', '09:30 AM', '9:30 am', '12:00 PM', '05:15 PM', '00:00', '17:15', '23:59', '9am', '5 PM'].map(
      minuteOfDay,
    ),
    [0, 570, 570, 720, 1035, 0, 1035, 1439, 540, 1020],
  )
  for (const text of ['', '24:00', '13:00 PM', '00:30 AM', '9', '9:5 AM', '09:60', '9:30', 'noon']) {
    assert.equal(minuteOfDay(text), undefined, text)
  }
})

test('what clocks skip opens when they have skipped it, and what they show twice opens twice', () => {
  const sunday = (start: string, end: string): Schedule => ({
    isEnabled: true,
    weeklySchedule: { sunday: { isEnabled: true, hours: [{ start, end }] } },
  })
  // Berlin goes from 02:00 to 03:00 on 2026-03-29, and from 03:00 back to 02:00 on 2026-10-25.
  const spring = sunday('02:30 AM', '04:00 AM')
  assert.deepEqual(nextOpening(spring, 'Europe/Berlin', at('2026-03-29T00:00:00Z')), at('2026-03-29T01:00:00Z'))
  const skipped = sunday('02:15 AM', '02:45 AM')
  assert.deepEqual(nextOpening(skipped, 'Europe/Berlin', at('2026-03-28T00:00:00Z')), at('2026-04-05T00:15:00Z'))
  const autumn = sunday('02:15 AM', '02:45 AM')
  assert.deepEqual(nextOpening(autumn, 'Europe/Berlin', at('2026-10-25T00:50:00Z')), at('2026-10-25T01:15:00Z'))
})

/** An independent reading: the zone's own words for day and time, and minutes of the week. */
function openByWords(schedule: Schedule, formatter: Intl.DateTimeFormat, timestamp: number): boolean {
  const parts = Object.fromEntries(formatter.formatToParts(timestamp).map(({ type, value }) => [type, value]))
  const today = (weekDays as readonly string[]).indexOf(parts['weekday']?.toLowerCase() ?? '')
  const minute = Number(parts['hour']) * 60 + Number(parts['minute'])
  const says = (day: number, shifted: number): boolean => {
    const one = schedule.weeklySchedule?.[weekDays[(day + 7) % 7] ?? 'monday']
    if (one?.isEnabled !== true) return false
    return (one.hours ?? [{ start: '00:00', end: '00:00' }]).some(({ start, end }) => {
      const [from, to] = [minuteOfDay(start) ?? 0, minuteOfDay(end) ?? 0]
      return shifted >= from && shifted < (to <= from ? to + 1440 : to)
    })
  }
  return says(today, minute) || says(today - 1, minute + 1440)
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

test('over changes of clocks it agrees with a walk from minute to minute', () => {
  const random = createRandom(4)
  const below = random.integer
  const changes = [
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['America/New_York', '2026-11-01T06:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
    ['Africa/Cairo', '2026-04-23T22:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
  ] as const
  // Never 23:59, which means midnight.
  const range = (): TimeRange => ({ start: clock(below(96) * 15), end: clock(below(1439)) })
  const day = (): DaySchedule => ({
    isEnabled: below(4) > 0,
    ...(below(8) === 0 ? {} : { hours: Array.from({ length: 1 + below(2) }, range) }),
  })
  let [opened, never] = [0, 0]
  for (let round = 0; round < fuzzRounds(120); round += 1) {
    const [zone, change] = changes[below(changes.length)] ?? changes[0]
    const formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'long',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    const named = weekDays.filter(() => below(3) === 0)
    const schedule: Schedule = {
      isEnabled: true,
      weeklySchedule: Object.fromEntries(named.map((name) => [name, day()])),
    }
    const from = Date.parse(change) - (below(2880) - 360) * minuteMs
    assert.equal(isOpen(schedule, zone, new Date(from)), openByWords(schedule, formatter, from))
    const next = nextOpening(schedule, zone, new Date(from))
    // As far as two days: beyond lies nothing that the change could disturb.
    const last = Math.min(next?.getTime() ?? Number.POSITIVE_INFINITY, from + 2880 * minuteMs)
    for (let timestamp = from; timestamp < last; timestamp += minuteMs) {
      assert.equal(openByWords(schedule, formatter, timestamp), false, `${zone} ${new Date(timestamp).toISOString()}`)
    }
    if (next === undefined) never += 1
    else {
      opened += 1
      assert.equal(openByWords(schedule, formatter, next.getTime()), true, `${zone} ${next.toISOString()}`)
    }
  }
  assert.ok(opened > 60 && never > 1, `${opened} opened, ${never} never did`)
})
