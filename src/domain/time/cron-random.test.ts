// Cron lines against a walk: every minute is looked at, and whatever clocks show for the first time, or jump past, counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../../test/support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../../../test/support/random.ts'
import { cronOf, nextCron } from './cron.ts'

const minuteMs = 60_000
const dayMs = 1440 * minuteMs

/** Zones, and a day on which their clocks change, or a month or a leap day ends. */
const scenes: readonly (readonly [zone: string, around: string])[] = [
  ['UTC', '2024-02-29'],
  ['UTC', '2023-12-31'],
  ['Europe/Berlin', '2024-03-31'],
  ['Europe/Berlin', '2024-10-27'],
  ['America/New_York', '2024-03-10'],
  ['America/New_York', '2024-11-03'],
  ['Australia/Lord_Howe', '2024-04-07'],
  ['Australia/Lord_Howe', '2024-10-06'],
  ['America/Santiago', '2024-04-07'],
  ['America/Santiago', '2024-09-08'],
  ['America/Havana', '2024-11-03'],
  ['Africa/Cairo', '2024-04-26'],
  ['Pacific/Apia', '2011-12-30'],
  ['Asia/Kathmandu', '2024-02-29'],
]
const daysBefore = 3
const daysAfter = 4

interface Walk {
  readonly zone: string
  readonly startMs: number
  /** For each minute from the start on: what clocks show, in minutes as if it were UTC. */
  readonly shown: readonly number[]
}

const walks: readonly Walk[] = scenes.map(([zone, around]) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const startMs = Date.parse(`${around}T00:00:00Z`) - daysBefore * dayMs
  const shown = Array.from({ length: (daysBefore + daysAfter) * 1440 }, (_, minute) => {
    const text = format.format(startMs + minute * minuteMs)
    return Date.parse(`${text.replace(' ', 'T')}:00Z`) / minuteMs
  })
  return { zone, startMs, shown }
})

/** Each field by itself, as text: no field is read by the code that is tested. */
interface Line {
  readonly text: string
  matches(shownMinute: number): boolean
}

function randomLine(random: Random): Line {
  const field = (min: number, max: number, starChance: number): { text: string; allows(value: number): boolean } => {
    if (random.chance(starChance)) return { text: '*', allows: () => true }
    const one = min + random.integer(max - min + 1)
    const other = min + random.integer(max - min + 1)
    const [low, high] = [Math.min(one, other), Math.max(one, other)]
    const step = 1 + random.integer(Math.min(max - min, 9))
    return random.oneOf([
      { text: `${one}`, allows: (value) => value === one },
      { text: `${one},${other}`, allows: (value) => value === one || value === other },
      { text: `${low}-${high}`, allows: (value) => value >= low && value <= high },
      { text: `${low}-${high}/${step}`, allows: (v) => v >= low && v <= high && (v - low) % step === 0 },
      { text: `*/${step}`, allows: (value) => (value - min) % step === 0 },
    ])
  }
  const minute = field(0, 59, 0.2)
  const hour = field(0, 23, 0.4)
  const monthDay = field(1, 31, 0.6)
  const month = field(1, 12, 0.8)
  const weekDay = field(0, 6, 0.6)
  const allows = (wanted: { allows(value: number): boolean }, values: readonly number[]): boolean =>
    values.every((value) => wanted.allows(value))
  const anyMonthDay = allows(
    monthDay,
    Array.from({ length: 31 }, (_, index) => index + 1),
  )
  const anyWeekDay = allows(weekDay, [0, 1, 2, 3, 4, 5, 6])
  return {
    text: [minute, hour, monthDay, month, weekDay].map(({ text }) => text).join(' '),
    matches: (shownMinute) => {
      const at = new Date(shownMinute * minuteMs)
      const byMonth = monthDay.allows(at.getUTCDate())
      const byWeek = weekDay.allows(at.getUTCDay())
      const onDay = anyMonthDay || anyWeekDay ? (anyMonthDay || byMonth) && (anyWeekDay || byWeek) : byMonth || byWeek
      return (
        onDay &&
        minute.allows(at.getUTCMinutes()) &&
        hour.allows(at.getUTCHours()) &&
        month.allows(at.getUTCMonth() + 1)
      )
    },
  }
}

/** Undefined when it does not come within the walk. */
function walked({ startMs, shown }: Walk, line: Line, afterMs: number): number | undefined {
  let highest = (shown[0] ?? 0) - 1
  for (const [minute, now] of shown.entries()) {
    let comes = false
    for (; highest < now; highest += 1) comes ||= line.matches(highest + 1)
    if (comes && startMs + minute * minuteMs > afterMs) return startMs + minute * minuteMs
  }
  return undefined
}

test('the next time is the one that a walk over every minute finds', () => {
  const seed = fuzzSeed()
  const random = createRandom(seed)
  const rounds = fuzzRounds(500)
  let found = 0
  for (let round = 0; round < rounds; round += 1) {
    const walk = random.oneOf(walks)
    const line = randomLine(random)
    const afterMs = walk.startMs + dayMs + random.integer(4 * 1440 * 60) * 1_000
    const read = cronOf(line.text)
    assert.ok('cron' in read, line.text)
    const next = nextCron(read.cron, new Date(afterMs), walk.zone)?.getTime()
    const expected = walked(walk, line, afterMs)
    const label = `${line.text} after ${new Date(afterMs).toISOString()} in ${walk.zone}, seed ${seed}`
    if (expected === undefined) {
      const endMs = walk.startMs + walk.shown.length * minuteMs
      assert.ok(next === undefined || next >= endMs, label)
    } else {
      found += 1
      assert.equal(next, expected, label)
    }
  }
  assert.ok(found > rounds / 5, `only ${found} of them came within the walk`)
})
