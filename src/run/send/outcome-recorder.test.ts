// Outcomes are kept until they are written.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import { databaseClock } from '../../db/clock.ts'
import type { Db, Statement } from '../../db/sql.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import { queueOf } from '../../queue/queue.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { settles } from '../../record/settlement.ts'
import { createOutcomeRecorder } from './outcome-recorder.ts'

const id = (number: number): string => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`
const environment = { id: id(0) } as unknown as Environment
const now = new Date('2024-02-29T10:00:00.000Z')
const words = 'what the provider said'
const away = (): Error => new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
const refused = (): Error => Object.assign(new Error('invalid byte sequence'), { code: '22021' })
const closed = (): Error => new Error('Cannot use a pool after calling end on the pool')

function outcomeOf(number: number): JobOutcome {
  const job = { id: id(number), eventId: id(90), lease: id(91), lane: 0, state: null } as unknown as Job
  const details = [detail(now, 'perhapsSent', { raw: { message: words } })]
  return {
    settlement: settles(job, 'running', { due: until(now), details }),
    results: [
      {
        id: id(number + 50),
        state: 'ready',
        status: 'warning',
        error: { errorId: 'mail_unexpected_error', errorText: words },
        providerMessageId: `vendor-${number}\u0000`,
        sending: notYetSent,
        nextIntegrationId: null,
        isTest: false,
      },
    ],
  }
}

/** A database that fails as the test says; `tries` are the values of the statements it was given. */
function scene(failure: (tries: number, values: string) => Error | undefined) {
  const tries: string[] = []
  const sleeps: { readonly ms: number; wake(): void }[] = []
  let caughtUp = 0
  const db = {
    row: async ({ values }: Statement) => {
      const text = JSON.stringify(values)
      tries.push(text)
      const error = failure(tries.length, text)
      if (error !== undefined) throw error
      const ids = Array.from({ length: 10 }, (_, number) => id(number))
      return { ids: ids.join(',') }
    },
    run: async () => 0,
  } as unknown as Db
  const world = {
    ...createFakeWorld(),
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        sleeps.push({ ms, wake: resolve })
      }),
  }
  const recorder = createOutcomeRecorder({
    db,
    world,
    queue: queueOf(databaseClock),
    onCaughtUp: () => void caughtUp++,
  })
  const settle = async (): Promise<void> => {
    for (let count = 0; count < 5; count += 1) await turn()
  }
  /** Ends the waits that have begun; the next tries have failed or succeeded when it resolves. */
  const passTime = async (): Promise<void> => {
    for (const { wake } of sleeps.splice(0)) wake()
    await settle()
  }
  const record = (number: number) => {
    const state = { isOver: false }
    void recorder.record(environment, outcomeOf(number)).then(() => {
      state.isOver = true
    })
    return state
  }
  return {
    recorder,
    tries,
    sleeps,
    record,
    settle,
    passTime,
    caughtUp: () => caughtUp,
    world,
    advance: (ms: number) => world.advance(ms),
  }
}

test('outcomes that come together are written together', async () => {
  const { tries, record, settle, recorder } = scene(() => undefined)
  const all = [record(1), record(2), record(3)]
  await settle()
  assert.equal(tries.length, 1)
  assert.ok(all.every(({ isOver }) => isOver))
  assert.equal(recorder.isBehind(), false)
})

test('an outcome is kept until it is written, however often the database does not answer', async () => {
  let isAway = true
  const { record, settle, passTime, recorder, caughtUp, sleeps } = scene(() => (isAway ? away() : undefined))
  const [one, other] = [record(1), record(2)]
  await settle()
  for (let count = 0; count < 100; count += 1) {
    assert.equal(recorder.isBehind(), true)
    assert.ok(sleeps.length > 0 && sleeps.every(({ ms }) => ms <= 2_000))
    await passTime()
  }
  assert.deepEqual([one.isOver, other.isOver, caughtUp()], [false, false, 0])
  isAway = false
  await passTime()
  assert.deepEqual([one.isOver, other.isOver], [true, true])
  assert.equal(recorder.isBehind(), false)
  assert.equal(caughtUp(), 1, 'claims go on when all is written')
})

test('an outcome that is refused for its words is written without them, and holds up no claim', async () => {
  const { tries, record, settle, passTime, recorder } = scene((_, values) =>
    values.includes(words) ? refused() : undefined,
  )
  const one = record(1)
  await settle()
  for (let count = 0; count < 10 && !one.isOver; count += 1) {
    assert.equal(recorder.isBehind(), false)
    await passTime()
  }
  assert.equal(one.isOver, true)
  const last = tries.at(-1) ?? ''
  assert.match(last, /could not be stored/)
  assert.match(last, /vendor-1"/, 'the vendor’s id is kept, without what cannot be stored')
  assert.match(last, /"mail_unexpected_error"/)
})

test('one that is refused costs those that came with it nothing', async () => {
  const { record, settle } = scene((_, values) => (values.includes(id(51)) ? refused() : undefined))
  const [bad, good] = [record(1), record(2)]
  await settle()
  assert.deepEqual([bad.isOver, good.isOver], [false, true])
})

test('one that is refused with and without its words is given up in the end, and that is logged', async () => {
  const { tries, record, settle, passTime, world } = scene(() => refused())
  const one = record(1)
  await settle()
  for (let count = 0; count < 50; count += 1) await passTime()
  assert.equal(one.isOver, true)
  assert.equal(tries.length, 8)
  assert.equal(world.logged.filter(({ level }) => level === 'error').length, 1)
})

test('nothing is tried again once our own pool is closed', async () => {
  const { record, settle, passTime, sleeps, recorder } = scene(() => closed())
  const one = record(1)
  await settle()
  await passTime()
  assert.equal(one.isOver, true)
  assert.equal(sleeps.length, 0)
  assert.equal(recorder.isBehind(), false)
})

test('once the service stops, what the database does not take within some seconds is left to the next start', async () => {
  const { record, settle, passTime, sleeps, recorder } = scene(() => away())
  recorder.stop()
  const one = record(1)
  let waitedMs = 0
  await settle()
  for (let count = 0; count < 20 && !one.isOver; count += 1) {
    waitedMs += sleeps[0]?.ms ?? 0
    await passTime()
  }
  assert.equal(one.isOver, true)
  assert.ok(waitedMs > 2_000 && waitedMs < 10_000, `${waitedMs}`)
})

test('outcomes that follow another closely are written together, and the first at once', async () => {
  const { recorder, tries, sleeps, settle, passTime, advance } = scene(() => undefined)
  const written = [recorder.record(environment, outcomeOf(1))]
  await settle()
  assert.equal(tries.length, 1)
  advance(1)
  for (const number of [2, 3, 4]) {
    written.push(recorder.record(environment, outcomeOf(number)))
    await settle()
  }
  assert.equal(tries.length, 1)
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [19],
  )
  advance(19)
  await passTime()
  await Promise.all(written)
  assert.equal(tries.length, 2)
})
