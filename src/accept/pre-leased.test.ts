// What jobs carry with them: those that wait little, those that are decided at once more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Environment } from '../domain/environment.ts'
import type { ForeseenFacts, Surroundings } from '../record/notify.ts'
import type { NewEvent } from '../store/events/events.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { jobsWithAll, largeEventLetters, preLeasedJobs, sizedEvents } from './pre-leased.ts'

const environment = { id: 'environment' } as unknown as Environment
const surroundings = { tenants: [], overrides: [], contexts: [] } satisfies Surroundings
const facts = new Map([
  ['person', { recipient: { id: 'person' } } as unknown as ForeseenFacts],
  ['actor', { recipient: { id: 'actor' } } as unknown as ForeseenFacts],
])

const eventOf = (id: string, letters: number, more: Partial<NewEvent> = {}): NewEvent =>
  ({ id, payload: { text: 'x'.repeat(letters) }, overrides: {}, actorId: null, ...more }) as unknown as NewEvent
const jobOf = (eventId: string): NewJob => ({ id: `job of ${eventId}`, eventId, subscriberId: 'person' }) as NewJob

const rows = [
  eventOf('small', 7_000),
  eventOf('by someone', 10, { actorId: 'actor' }),
  eventOf('large', 9_000),
  eventOf('large by itself', 64_000),
  eventOf('too large', 66_000),
  eventOf('known to be large', 10, { bytes: 70_000 }),
]
const jobs = rows.map(({ id }) => jobOf(id))
const events = sizedEvents(rows, largeEventLetters)

test('jobs that wait have small events only, and nothing of what those name', () => {
  const waiting = preLeasedJobs(environment, jobs, 'lease', events, facts)
  assert.deepEqual(
    waiting.map(({ event, foreseen }) => [event?.id, foreseen?.surroundings, foreseen?.isLarge]),
    [
      ['small', undefined, undefined],
      ['by someone', undefined, undefined],
      ...Array.from({ length: 4 }, () => [undefined, undefined, undefined]),
    ],
  )
  assert.deepEqual(
    waiting.map(({ foreseen }) => foreseen?.actor?.id),
    [undefined, 'actor', undefined, undefined, undefined, undefined],
  )
})

test('jobs that are decided at once have larger events, and what those name', () => {
  const whole = jobsWithAll(environment, jobs, 'lease', events, { facts, surroundings })
  assert.deepEqual(
    whole.map(({ event, foreseen }) => [event?.id, foreseen?.isLarge]),
    [
      ['small', false],
      ['by someone', false],
      ['large', true],
      ['large by itself', true],
      [undefined, false],
      [undefined, false],
    ],
  )
  for (const { foreseen } of whole) assert.equal(foreseen?.surroundings, surroundings)
  assert.equal(whole[1]?.foreseen?.actor?.id, 'actor')
})

test('where nothing is named, a small event adds nothing to what was read of its people', () => {
  const [job] = jobsWithAll(environment, jobs, 'lease', events, { facts, surroundings: undefined })
  assert.equal(job?.foreseen, facts.get('person'))
})
