// Recording a placed batch: what was lost meanwhile is not called, and gives its slots back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import type { Db } from '../db/sql.ts'
import { DatabaseUnavailable, sql } from '../db/sql.ts'
import { leased } from '../domain/delivery/due.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { settles } from '../record/settlement.ts'
import type { RecordParts } from './record-placed.ts'
import { recordPlaced } from './record-placed.ts'
import type { PlacedBatch } from './send/place-batch.ts'
import type { UnconfirmedWrite } from './unconfirmed.ts'

const environment = { id: 'e' } as unknown as Environment
const id = (number: number): string => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`
const jobOf = (number: number): Job =>
  ({ id: id(number), lease: id(99), status: 'queued', state: null }) as unknown as Job

/** The database keeps the jobs of these numbers, or fails. */
function scene(kept: readonly number[] | Error) {
  const left: string[] = []
  const noted: UnconfirmedWrite[] = []
  let woken = 0
  const row = async () => {
    if (kept instanceof Error) throw kept
    return { ids: kept.map(id).join(',') }
  }
  const queue = { clock: () => sql`now()`, leaseMs: 60_000, reserve: () => undefined, poke: () => {} }
  const parts = {
    db: { row } as unknown as Db,
    world: createFakeWorld(),
    queue,
    sends: { wake: () => (woken += 1) },
    unconfirmed: { note: (write: UnconfirmedWrite) => void noted.push(write) },
  } as unknown as RecordParts
  const begunOf = (job: Job, marksLater = false) => ({
    facts: { job },
    messages: [{ id: `message of ${job.id}`, marksLater, slot: { leave: () => void left.push(job.id) } }],
  })
  const record = (batch: object, jobs: readonly Job[]) => {
    const empty = { settlements: [], deferred: [], madeAfter: new Map(), begun: [], waiting: [], calls: [] }
    return recordPlaced(parts, environment, jobs, { ...empty, ...batch } as unknown as PlacedBatch)
  }
  return { left, noted, record, begunOf, woken: () => woken }
}

const keeps = (job: Job) => settles(job, 'running', { due: leased })
const numbersOf = (outgoing: readonly { facts: { job: Job } }[]): string[] => outgoing.map(({ facts }) => facts.job.id)

test('calls of jobs that were lost are not made: their slots are free, and others may begin', async () => {
  const { left, record, begunOf, woken } = scene([1])
  const jobs = [jobOf(1), jobOf(2)]
  const recorded = await record({ settlements: jobs.map(keeps), begun: jobs.map((job) => begunOf(job)) }, jobs)
  assert.deepEqual(numbersOf(recorded.begun), [id(1)])
  assert.deepEqual([left, woken()], [[id(2)], 1])
  assert.equal(recorded.jobs, jobs)
})

test('one that waits is kept where nothing of it was written; one that was written, only if it is still ours', async () => {
  const { record } = scene([2])
  const jobs = [jobOf(1), jobOf(2), jobOf(3)]
  const waiting = jobs.map((job) => ({ facts: { job }, messages: [] }))
  const recorded = await record({ settlements: jobs.slice(1).map(keeps), waiting }, jobs)
  assert.deepEqual(numbersOf(recorded.waiting), [id(1), id(2)])
})

test('a write without an answer is remembered with the marks that it may have made; its slots are free', async () => {
  const { left, noted, record, begunOf, woken } = scene(new DatabaseUnavailable(new Error('Connection terminated')))
  const jobs = [jobOf(1), jobOf(2)]
  const begun = [begunOf(jobs[0] as Job), begunOf(jobs[1] as Job, true)]
  await assert.rejects(record({ settlements: jobs.map(keeps), begun }, jobs), DatabaseUnavailable)
  assert.deepEqual([left, woken()], [[id(1), id(2)], 1])
  assert.equal(noted[0]?.jobs, jobs)
  assert.deepEqual(
    noted[0]?.marked.map(({ messageId }) => messageId),
    [`message of ${id(1)}`],
    'one that is marked when its content leaves was not marked',
  )
})

test('a write that the database refuses leaves no doubt, and no slot taken', async () => {
  const { left, noted, record, begunOf } = scene(new TypeError('A bug'))
  const job = jobOf(1)
  await assert.rejects(record({ settlements: [keeps(job)], begun: [begunOf(job)] }, [job]), TypeError)
  assert.deepEqual([left, noted], [[id(1)], []])
})
