// Writes whose commit is unknown: jobs are read again, and marks of calls that were never made are known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql, Statement } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { createUnconfirmed } from './unconfirmed.ts'

const environment = { id: '01890000-0000-7000-8000-000000000001' } as unknown as Environment
const jobOf = (id: string, more: Partial<Job> = {}): Job =>
  ({ id, lease: 'lease', status: 'queued', ...more }) as unknown as Job

function dbWith(rows: readonly Job[]): { db: Sql; asked: Statement[] } {
  const asked: Statement[] = []
  const db = {
    rows: async (statement: Statement) => {
      asked.push(statement)
      return rows
    },
  } as unknown as Sql
  return { db, asked }
}

const noted = (jobs: readonly Job[], madeAfter: readonly [string, string][] = []) => {
  const unconfirmed = createUnconfirmed()
  unconfirmed.note({ jobs, madeAfter: new Map(madeAfter), marked: [] })
  return unconfirmed
}

test('jobs of which every write was answered are run as they are, without a question', async () => {
  const { db, asked } = dbWith([])
  const jobs = [jobOf('a'), jobOf('b')]
  const resolved = await noted([jobOf('c')]).resolve(db, environment, jobs)
  assert.deepEqual(
    resolved,
    jobs.map((job) => ({ given: job, now: job })),
  )
  assert.equal(asked.length, 0)
})

test('a job whose write was not answered is run as the database has it, or not at all', async () => {
  const [a, b, c] = [jobOf('a'), jobOf('b'), jobOf('c')]
  const running = jobOf('a', { status: 'running' })
  const { db, asked } = dbWith([running])
  const unconfirmed = noted([a, b])
  assert.deepEqual(await unconfirmed.resolve(db, environment, [a, b, c]), [
    { given: a, now: running },
    { given: b, now: undefined },
    { given: c, now: c },
  ])
  await unconfirmed.resolve(db, environment, [a, b])
  assert.equal(asked.length, 1, 'once it is known there is no doubt')
})

test('where the step that follows was made with it, that is run in its place', async () => {
  const a = jobOf('a')
  const follower = jobOf('after a')
  const { db } = dbWith([follower])
  const [resolved] = await noted([a], [['after a', 'a']]).resolve(db, environment, [a])
  assert.deepEqual(resolved, { given: a, now: follower })
})

test('where the write of that step gives no answer either, the row that was given leads to it again', async () => {
  const a = jobOf('a')
  const follower = jobOf('after a')
  const { db } = dbWith([follower])
  const unconfirmed = noted([a], [['after a', 'a']])
  await unconfirmed.resolve(db, environment, [a])
  unconfirmed.note({ jobs: [follower], madeAfter: new Map(), marked: [] })
  const [again] = await unconfirmed.resolve(db, environment, [a])
  assert.deepEqual(again, { given: a, now: follower })
})

test('while the database does not answer the doubt stays', async () => {
  const a = jobOf('a')
  const unconfirmed = noted([a])
  const away = { rows: () => Promise.reject(new Error('Connection terminated')) } as unknown as Sql
  await assert.rejects(unconfirmed.resolve(away, environment, [a]))
  const { db, asked } = dbWith([a])
  await unconfirmed.resolve(db, environment, [a])
  assert.equal(asked.length, 1)
})

test('a mark of a write that was not answered was never called, under its own lease and for its own message only', () => {
  const unconfirmed = createUnconfirmed()
  const job = jobOf('a')
  unconfirmed.note({ jobs: [job], madeAfter: new Map(), marked: [{ job, messageId: 'm' }] })
  assert.equal(unconfirmed.wasNeverCalled(job, 'm'), true)
  assert.equal(unconfirmed.wasNeverCalled(job, 'another'), false)
  assert.equal(unconfirmed.wasNeverCalled(jobOf('a', { lease: 'of another node' }), 'm'), false)
})

test('of more writes than are remembered the oldest are forgotten, and no others', async () => {
  const unconfirmed = noted([jobOf('oldest')])
  unconfirmed.note({
    jobs: Array.from({ length: 50_000 }, (_, n) => jobOf(`job ${n}`)),
    madeAfter: new Map(),
    marked: [{ job: jobOf('job 7'), messageId: 'a message' }],
  })
  unconfirmed.note({ jobs: [jobOf('newest')], madeAfter: new Map(), marked: [] })
  const { db, asked } = dbWith([])
  await unconfirmed.resolve(db, environment, [jobOf('oldest')])
  assert.equal(asked.length, 0)
  await unconfirmed.resolve(db, environment, [jobOf('job 49999')])
  assert.equal(asked.length, 1)
  assert.ok(unconfirmed.wasNeverCalled(jobOf('job 7'), 'a message'))
})
