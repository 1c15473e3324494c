// Jobs that fail by a fault of ours: put off, buried in the end, and never blamed for the database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import type { Db, Statement } from '../db/sql.ts'
import { DatabaseUnavailable, sql } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { soloDeathsMax } from '../queue/suspicion.ts'
import { createJobFaults } from './job-faults.ts'

const environment = { id: 'e' } as unknown as Environment
const id = '01890000-0000-7000-8000-000000000001'
const world = createFakeWorld()
const hourMs = 3_600_000

const jobOf = (more: Partial<Job> = {}): Job =>
  ({
    id,
    eventId: id,
    notificationId: id,
    versionId: 'v',
    step: 0,
    lease: id,
    status: 'queued',
    lane: 0,
    state: null,
    digestId: null,
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    ...more,
  }) as unknown as Job

function scene(unsent: readonly object[] = []) {
  const statements: Statement[] = []
  const keep = <Result>(result: Result) => {
    return async (statement: Statement): Promise<Result> => {
      statements.push(statement)
      return result
    }
  }
  const place = { rows: keep(unsent), row: keep({ ids: id }), run: keep(1) }
  const db = { ...place, transaction: (work: (tx: unknown) => Promise<unknown>) => work(place) } as unknown as Db
  const queue = { clock: () => sql`now()`, leaseMs: 60_000, reserve: () => undefined, poke: () => {} }
  const step = { active: true, template: { type: 'in_app' } }
  const version = { id: 'v', definition: { steps: [step, step] } }
  const versions = { of: async () => new Map([['v', version]]) }
  const faults = createJobFaults({ db, world, queue, versions: versions as never })
  const written = () => statements.map(({ values }) => values.flat().join(' ')).join('\n')
  return { faults, statements, written }
}

test('a job that throws comes back later, under no lease, and the fault is counted', async () => {
  const { faults, statements } = scene()
  await faults.putAside(environment, jobOf(), new Error('A bug'))
  assert.equal(statements.length, 1)
  assert.match(statements[0]?.text ?? '', /update jobs set lease = null.*faults = faults \+ 1/s)
  assert.ok(statements[0]?.values.includes(10_000), 'after ten seconds for the first time')
})

test('one that threw for an hour is buried with what it said, and the steps after it', async () => {
  const { faults, written } = scene()
  const faultedSince = new Date(world.now().getTime() - hourMs)
  await faults.putAside(environment, jobOf({ faults: 4, faultedSince }), new Error('A bug of ours'))
  assert.match(written(), /"code":"buried".*A bug of ours/)
  assert.match(written(), /previousFailed/)
})

test('errors of the database speak against no job: they are thrown on, and nothing is written', async () => {
  const { faults, statements } = scene()
  const faultedSince = new Date(world.now().getTime() - hourMs)
  const away = new DatabaseUnavailable(new Error('Connection terminated'))
  await assert.rejects(faults.putAside(environment, jobOf({ faults: 9, faultedSince }), away), DatabaseUnavailable)
  assert.deepEqual(statements, [])
})

test('those that ended their process each time they ran alone are buried, and say so', async () => {
  const { faults, written } = scene()
  await faults.buryPoisonous(environment, [jobOf({ interruptions: 8 })])
  assert.ok(written().includes(`The process crashed ${soloDeathsMax} times while it ran only this step`), written())
})

test('a message of a buried job whose call was interrupted was perhaps sent; one that only waited was not', async () => {
  const sending = { attempts: 1, busyAnswers: 0, tried: [], unsureRepeats: 0, dueAt: world.now().toISOString() }
  const messageOf = (more: object) => ({
    id,
    jobId: id,
    channel: 'email',
    state: 'ready',
    providerId: 'sendgrid',
    sending: { ...sending, ...more },
  })
  const job = jobOf({ status: 'running', interruptions: 99 })
  const [perhaps, waiting] = [scene([messageOf({ interruptions: 1 })]), scene([messageOf({})])]
  for (const { faults } of [perhaps, waiting]) await faults.buryPoisonous(environment, [job])
  assert.match(perhaps.written(), /\bdone warning\b/)
  assert.match(waiting.written(), /\bdone error\b/)
  assert.doesNotMatch(waiting.written(), /dueAt/, 'what is over waits for nothing')
})
