// Calls of custom steps: their slots come back, and no fault of ours repeats them without an end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import type { Db, Sql } from '../../db/sql.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'
import { createLimits } from '../../deliver/limits.ts'
import { callsMax } from '../../domain/delivery/custom-call.ts'
import { until } from '../../domain/delivery/due.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { SigningKeys } from '../../domain/operate/signing-keys.ts'
import type { Queue } from '../../queue/queue.ts'
import type { JobFaults } from '../job-faults.ts'
import type { PendingCall } from './custom-calls.ts'
import { createCustomCalls, mayCall } from './custom-calls.ts'

const environment = { id: 'environment' } as unknown as Environment
const callOf = (state: JobState | null, status = 'running'): PendingCall =>
  ({
    environment,
    facts: { job: { id: '01890000-0000-7000-8000-000000000001', status, state, lane: 0 } },
    decision: { url: 'https://example.com', method: 'POST', headers: {}, body: '{}', timeoutMs: 1_000, details: [] },
  }) as unknown as PendingCall

function scene(secret: () => Promise<SigningKeys>) {
  const world = createFakeWorld()
  const limits = createLimits()
  const freed: string[] = []
  const kind = createCustomCalls({
    db: {} as Sql,
    world,
    queue: {} as Queue,
    signingSecrets: { of: secret, renewed: secret },
    outcomesDb: {} as Db,
    limits,
    faults: {} as JobFaults,
    onFree: (key) => void freed.push(key),
  })
  const take = kind.batchPlan(world.now())
  const call = async (pending: PendingCall) => {
    take(pending)
    const [outcome] = await Promise.all(kind.call(environment, [pending]))
    return outcome?.settlement
  }
  return { world, limits, kind, freed, take, call }
}

test('an environment has twenty calls under way at the most', () => {
  const { take, kind } = scene(async () => new SigningKeys([{ version: 1, secret: 'secret', createdAt: new Date(0) }]))
  const taken = Array.from({ length: 30 }, () => take(callOf(null))).filter((one) => one !== undefined)
  assert.equal(taken.length, 20)
  kind.leave(callOf(null))
  assert.notEqual(take(callOf(null)), undefined)
})

test('a call that our process did not survive is not counted again', () => {
  assert.equal(mayCall(callOf({ calls: callsMax, calling: true }).facts), true)
  assert.equal(mayCall(callOf({ calls: callsMax }).facts), false)
  assert.equal(mayCall(callOf({ calls: callsMax }, 'queued').facts), true, 'those were for its conditions')
})

test('where the database is away the call is not made, comes back soon, and nothing is counted', async () => {
  const { call, world, freed, limits } = scene(() => Promise.reject(new DatabaseUnavailable(new Error('away'))))
  const settlement = await call(callOf({ calls: 2, calling: true }))
  assert.deepEqual(settlement?.due, until(new Date(world.now().getTime() + 5_000)))
  assert.equal(settlement?.state, null, 'it stays as it is')
  assert.deepEqual(freed, ['environment'])
  for (let count = 0; count < 20; count += 1) assert.equal(limits.take('environment', 20, world.now()), true)
})

test('a call that breaks by a fault of ours is counted, so that it comes to an end', async () => {
  const { call, freed } = scene(() => Promise.reject(new TypeError('A bug')))
  let state: JobState | null = { variantId: 'v' }
  let made = 0
  for (; made < 100 && mayCall(callOf(state).facts); made += 1) {
    // As it is marked before it is made.
    const settlement = await call(callOf({ ...state, calls: made + 1, calling: true }))
    assert.equal(settlement?.status, 'running')
    state = settlement?.state ?? assert.fail('it is not counted')
    assert.deepEqual(state, { variantId: 'v', calls: made + 1 })
  }
  assert.equal(made, callsMax)
  assert.equal(freed.length, callsMax)
})
