// Who sends while an integration rests, and what is written for those that wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Limits } from '../../deliver/limits.ts'
import { createLimits } from '../../deliver/limits.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Job, JobState } from '../../domain/delivery/job.ts'
import { afterRest, held, released, rested } from './resting.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)
const integrationOf = (_id: string, capture = false): Integration =>
  ({ _id, identifier: `${_id}-1`, providerId: 'sendgrid', configurations: { capture } }) as unknown as Integration
const [first, second, third] = ['first', 'second', 'third'].map((id) => integrationOf(id)) as [
  Integration,
  Integration,
  Integration,
]
const choose = (tried: readonly string[]): Integration | undefined =>
  [first, second, third].find(({ _id }) => !tried.includes(_id))

function downAt(limits: Limits, id: string, ms: number): void {
  for (let count = 0; count < 5; count += 1) limits.note(id, true, inMs(ms))
}

test('another sends for one that must rest for long, and none for one that rests for a minute at the most', () => {
  const limits = createLimits()
  assert.equal(rested(limits, choose, first, [], now), first)
  limits.pauseUntil('first', inMs(60_000))
  assert.equal(rested(limits, choose, first, [], now), first)
  limits.pauseUntil('first', inMs(60_001))
  assert.equal(rested(limits, choose, first, [], now), second)
})

test('another takes over at once from one whose provider is down, however soon that is asked again', () => {
  const limits = createLimits()
  downAt(limits, 'first', 0)
  assert.equal(rested(limits, choose, first, [], now), second)
})

test('one that rests as well is passed over, and where all rest the first choice stays', () => {
  const limits = createLimits()
  downAt(limits, 'first', 0)
  limits.pauseUntil('second', inMs(1_000))
  assert.equal(rested(limits, choose, first, [], now), third)
  downAt(limits, 'third', 0)
  assert.equal(rested(limits, choose, first, [], now), first)
  assert.equal(
    rested(limits, () => second, first, [], now),
    first,
    'whoever is offered again ends the search',
  )
})

test('those that had their turn are not asked for it', () => {
  const limits = createLimits()
  downAt(limits, 'first', 0)
  assert.equal(rested(limits, choose, first, ['second'], now), third)
})

test('no other sends for one that captures: what it is to keep would go out', () => {
  const limits = createLimits()
  downAt(limits, 'first', 0)
  const capturing = integrationOf('first', true)
  assert.equal(rested(limits, choose, capturing, [], now), capturing)
})

const jobOf = (state: JobState | null, status = 'queued'): Job => ({ id: 'j', status, state }) as unknown as Job
const downSince = inMs(-5_000)
const rest = { until: inMs(30_000), downSince }
const facts = { integration: first, rest, now, random: 0.5 }

test('a job whose provider is down says so once, remembers since when it waits, and comes back after the rest', () => {
  const settlement = held(jobOf({ variantId: 'v' }), facts)
  assert.deepEqual(settlement.due, until(inMs(31_500)))
  assert.equal(settlement.status, 'queued')
  assert.deepEqual(settlement.state, {
    variantId: 'v',
    downSince: downSince.toISOString(),
    heldSince: now.toISOString(),
  })
  const [only] = settlement.details
  assert.equal(settlement.details.length, 1)
  assert.match(JSON.stringify(only), /held: SendGrid has been down since 2024-02-29T09:59:55.000Z/)
  const again = held(jobOf(settlement.state), { ...facts, now: inMs(31_500), rest: { ...rest, until: inMs(60_000) } })
  assert.deepEqual(again.details, [])
  assert.equal(again.state?.heldSince, now.toISOString(), 'since the first time')
  const other = held(jobOf(settlement.state), { ...facts, rest: { ...rest, downSince: now } })
  assert.equal(other.details.length, 1, 'another outage is said as well')
})

test('a job whose provider asked for a pause comes back after it, and nothing is counted', () => {
  const settlement = held(jobOf(null, 'running'), { ...facts, rest: { until: inMs(30_000) } })
  assert.deepEqual([settlement.status, settlement.due, settlement.state], ['running', until(inMs(31_500)), null])
  assert.deepEqual(settlement.details, [])
})

test('those that wait for the same end come back spread, and never before it', () => {
  const due = (untilMs: number, random: number): number =>
    afterRest({ until: inMs(untilMs) }, { now, random }).getTime() - now.getTime()
  assert.deepEqual([due(60_000, 0), due(60_000, 0.5), due(60_000, 1)], [60_000, 63_000, 66_000])
  assert.deepEqual([due(500, 0), due(500, 1)], [500, 1_500])
})

test('what says that a job is held goes when it begins', () => {
  assert.deepEqual(released({ variantId: 'v', heldSince: 'x', downSince: 'y' }), { variantId: 'v' })
  assert.deepEqual(released(null), {})
})
