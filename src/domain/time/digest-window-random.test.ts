// Timed windows against a plain search: every quarter of an hour is looked at until clocks show what was asked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../../test/support/random.ts'
import { createRandom } from '../../../test/support/random.ts'
import type { TimedConfig, TimedDigest } from '../workflows/workflow.ts'
import { ordinals, ordinalValues, weekDays } from '../workflows/workflow.ts'
import { digestDueAt } from './digest-window.ts'
import { digestMistakes } from './timing-mistakes.ts'

const quarterMs = 15 * 60 * 1000
const dayMs = 96 * quarterMs
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'America/Santiago',
]

const shown = new Map(
  zones.map((zone) => [
    zone,
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
)
/** What clocks show, as if it were UTC. */
const wallMs = (atMs: number, zone: string): number =>
  Date.parse(`${(shown.get(zone) as Intl.DateTimeFormat).format(atMs).replace(' ', 'T')}Z`)

const changes = new Map(zones.map((zone) => [zone, changesOf(zone)]))
/** When clocks changed, from 2019 to 2024. */
function changesOf(zone: string): number[] {
  const found: number[] = []
  for (let at = Date.UTC(2019, 0, 1); at < Date.UTC(2025, 0, 1); at += dayMs)
    if (wallMs(at + dayMs, zone) - wallMs(at, zone) !== dayMs) found.push(at)
  return found
}

function names(config: TimedConfig, unit: string, day: Date): boolean {
  const name = (at: Date): string => weekDays[(at.getUTCDay() + 6) % 7] ?? ''
  if (unit === 'days') return config.weekDays === undefined || config.weekDays.includes(name(day) as 'monday')
  if (unit === 'weeks') return config.weekDays?.includes(name(day) as 'monday') === true
  if (config.monthlyType !== 'on') return config.monthDays?.includes(String(day.getUTCDate())) === true
  const month: Date[] = []
  for (let number = 1; number <= 31; number += 1) {
    const at = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), number))
    if (at.getUTCMonth() === day.getUTCMonth()) month.push(at)
  }
  const weekend = ['saturday', 'sunday']
  const kind = config.ordinalValue ?? ''
  const fitting = month.filter((at) => {
    if (kind === 'weekday') return !weekend.includes(name(at))
    return kind === 'day' || (kind === 'weekend' ? weekend.includes(name(at)) : kind === name(at))
  })
  const wanted = config.ordinal === 'last' ? fitting[fitting.length - 1] : fitting[Number(config.ordinal) - 1]
  return wanted?.getUTCDate() === day.getUTCDate()
}

/** The first time after now of all that match; what clocks skip is shifted by as much. */
function searched(metadata: TimedDigest, nowMs: number, zone: string): number {
  const config = metadata.timed ?? {}
  const fits = (wall: number): boolean => {
    const day = new Date(wall)
    return day.toISOString().slice(11, 16) === config.atTime && names(config, metadata.unit ?? '', day)
  }
  const start = Math.floor(nowMs / quarterMs) * quarterMs - dayMs
  const seen = new Set<number>()
  let before = wallMs(start, zone)
  let shifted: number | undefined
  for (let at = start + quarterMs; at < start + 400 * dayMs; at += quarterMs) {
    const wall = wallMs(at, zone)
    for (let skipped = before + quarterMs; skipped < wall; skipped += quarterMs)
      if (fits(skipped)) shifted = at + skipped - before - quarterMs
    if (shifted !== undefined && shifted <= at && shifted > nowMs) return shifted
    if (at > nowMs && fits(wall) && !seen.has(wall)) return at
    seen.add(wall)
    before = wall
  }
  throw new Error('Nothing was found')
}

function randomConfig(random: Random, unit: string): TimedConfig {
  const two = (number: number): string => String(number).padStart(2, '0')
  const hour = random.chance(0.7) ? random.integer(5) : random.integer(24)
  const atTime = `${two(hour)}:${two(15 * random.integer(4))}`
  const some = <Item>(items: readonly Item[]): Item[] => {
    const chosen = items.filter(() => random.chance(0.3))
    return chosen.length > 0 ? chosen : [random.oneOf(items)]
  }
  if (unit === 'days') return random.chance(0.5) ? { atTime } : { atTime, weekDays: some(weekDays) }
  if (unit === 'weeks') return { atTime, weekDays: some(weekDays) }
  if (random.chance(0.5)) return { atTime, monthDays: some(Array.from({ length: 31 }, (_, day) => String(day + 1))) }
  return { atTime, monthlyType: 'on', ordinal: random.oneOf(ordinals), ordinalValue: random.oneOf(ordinalValues) }
}

function randomNow(random: Random, zone: string): number {
  const near = changes.get(zone) ?? []
  if (near.length > 0 && random.chance(0.7)) return random.oneOf(near) - dayMs + random.integer(4 * dayMs)
  return Date.UTC(2019, 0, 1) + random.integer(6 * 365) * dayMs + random.integer(dayMs)
}

const unitOf = (random: Random) => random.oneOf(['days', 'days', 'days', 'weeks', 'weeks', 'months'] as const)

test('a window closes at the first time after now that the rule names, and nothing opened meanwhile changes that', () => {
  const random = createRandom(20_240_331)
  for (let round = 0; round < 600; round += 1) {
    const [zone, unit] = [random.oneOf(zones), unitOf(random)]
    const metadata: TimedDigest = { type: 'timed', amount: 1, unit, timed: randomConfig(random, unit) }
    const nowMs = randomNow(random, zone)
    const what = `${JSON.stringify(metadata)} ${new Date(nowMs).toISOString()} ${zone}`
    assert.deepEqual(digestMistakes(metadata), [], what)
    const due = digestDueAt(metadata, new Date(nowMs), zone)
    assert.equal(due?.toISOString(), new Date(searched(metadata, nowMs, zone)).toISOString(), what)
    const later = new Date(nowMs + random.integer((due?.getTime() ?? nowMs) - nowMs))
    assert.deepEqual(digestDueAt(metadata, later, zone), due, `${what} seen from ${later.toISOString()}`)
  }
})

test('whatever has no mistakes comes: after now, on a whole number of intervals, at its time unless clocks skip that', () => {
  const random = createRandom(20_241_027)
  let skipped = 0
  for (let round = 0; round < 5_000; round += 1) {
    const [zone, unit] = [random.oneOf(zones), unitOf(random)]
    const amount = 1 + random.integer({ days: 366, weeks: 52, months: 12 }[unit])
    const metadata: TimedDigest = { type: 'timed', amount, unit, timed: randomConfig(random, unit) }
    if (digestMistakes(metadata).length > 0) continue
    const now = new Date(randomNow(random, zone))
    const what = `${JSON.stringify(metadata)} ${now.toISOString()} ${zone}`
    const due = digestDueAt(metadata, now, zone)
    assert.ok(due !== undefined && due > now, what)
    const [opened, closed] = [new Date(wallMs(now.getTime(), zone)), new Date(wallMs(due.getTime(), zone))]
    if (closed.toISOString().slice(11, 16) !== metadata.timed?.atTime) {
      const hours = [closed.getTime() - 3_600_000, closed.getTime() - 1_800_000]
      assert.ok(
        hours.some((at) => new Date(at).toISOString().slice(11, 16) === metadata.timed?.atTime),
        what,
      )
      skipped += 1
      continue
    }
    assert.ok(names(metadata.timed ?? {}, unit, closed), what)
    const days = Math.floor(closed.getTime() / dayMs) - Math.floor(opened.getTime() / dayMs)
    const weeks = Math.floor((closed.getTime() / dayMs + 3) / 7) - Math.floor((opened.getTime() / dayMs + 3) / 7)
    const months =
      12 * (closed.getUTCFullYear() - opened.getUTCFullYear()) + closed.getUTCMonth() - opened.getUTCMonth()
    assert.equal({ days, weeks, months }[unit] % amount, 0, what)
  }
  assert.ok(skipped < 100, `${skipped} of 5000`)
})
