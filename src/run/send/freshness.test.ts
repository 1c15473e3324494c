// Whether a mark is fresh enough to act on.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseClock } from '../../db/clock.ts'
import type { Db } from '../../db/sql.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { queueOf } from '../../queue/queue.ts'
import { createFreshness } from './freshness.ts'

const environment = { id: '01890000-0000-7000-8000-000000000001' } as unknown as Environment
const jobOf = (id: string): Job => ({ id, lease: `lease of ${id}` }) as unknown as Job

function scene(options: { nowMs: number; beatAgeMs?: number; ours?: readonly string[]; away?: boolean }) {
  let asked = 0
  const db = {
    rows: async () => {
      asked += 1
      if (options.away === true) throw new Error('Connection terminated')
      return (options.ours ?? []).map((id) => ({ id }))
    },
  } as unknown as Db
  const freshness = createFreshness({
    db,
    queue: queueOf(databaseClock),
    lastBeatAgeMs: () => options.beatAgeMs ?? 0,
    now: () => options.nowMs,
  })
  const mayLeave = (...ids: string[]) => freshness.mayLeave(environment, ids.map(jobOf), 0)
  return { mayLeave, asked: () => asked }
}

test('a fresh mark of a node that lives is enough, at once and without a question', () => {
  const { mayLeave, asked } = scene({ nowMs: 10_000, beatAgeMs: 10_000 })
  assert.equal(mayLeave('a'), true)
  assert.equal(asked(), 0)
})

test('after ten seconds since the mark the lease is looked at, and it decides', async () => {
  const ours = scene({ nowMs: 10_001, ours: ['a'] })
  const answer = ours.mayLeave('a')
  assert.ok(answer instanceof Promise)
  assert.equal(await answer, true)
  assert.equal(ours.asked(), 1)
  assert.equal(await scene({ nowMs: 10_001, ours: [] }).mayLeave('a'), false)
})

test('after ten seconds without a heartbeat it is looked at as well, however fresh the mark is', async () => {
  const lost = scene({ nowMs: 0, beatAgeMs: 10_001, ours: [] })
  assert.equal(await lost.mayLeave('a'), false)
  assert.equal(lost.asked(), 1)
})

test('messages that share a call leave only if all their jobs are ours', async () => {
  assert.equal(await scene({ nowMs: 20_000, ours: ['a', 'b'] }).mayLeave('a', 'b'), true)
  assert.equal(await scene({ nowMs: 20_000, ours: ['a'] }).mayLeave('a', 'b'), false)
})

test('where the database is away the question fails, which whoever asks takes for a no', async () => {
  await assert.rejects(async () => scene({ nowMs: 20_000, away: true }).mayLeave('a'))
})
