// Rates that all nodes share: drawn in slices, never more than the database gives.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Sql } from '../../db/sql.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { createRateShares } from './rate-shares.ts'

const environment = { id: '01890000-0000-7000-8000-000000000001' } as unknown as Environment
const integrationOf = (maxPerSecond?: number, _id = 'i'): Integration =>
  ({ _id, configurations: { maxPerSecond } }) as unknown as Integration

/** A bucket whose draws the test answers. */
function scene() {
  const draws: { give(taken: number): Promise<void>; fail(): Promise<void> }[] = []
  const more: string[] = []
  const slept: number[] = []
  let wake: () => void = () => {}
  const db = {
    row: () =>
      new Promise((resolve, reject) => {
        draws.push({
          give: async (taken) => {
            resolve({ taken, left: 0 })
            await turn()
          },
          fail: async () => {
            reject(new Error('Connection terminated'))
            await turn()
          },
        })
      }),
  } as unknown as Sql
  const rates = createRateShares({
    db,
    calls: { callsMax: () => 3, stop: async () => {} },
    onMore: (id) => void more.push(id),
    sleep: (ms) => {
      slept.push(ms)
      return new Promise((resolve) => {
        wake = resolve
      })
    },
  })
  const awake = async (): Promise<void> => {
    wake()
    await turn()
  }
  const mayTake = (integration: Integration): boolean => rates.mayTake(environment, integration)
  return { rates, draws, more, slept, awake, mayTake }
}

test('an integration without a rate may always send, and the database is not asked', () => {
  const { rates, draws, mayTake } = scene()
  for (let count = 0; count < 100; count += 1) {
    assert.equal(mayTake(integrationOf()), true)
    rates.take(integrationOf())
  }
  assert.equal(draws.length, 0)
})

test('with a rate none is sent before the database gave a share, and it is asked once at a time', async () => {
  const { draws, more, mayTake } = scene()
  const integration = integrationOf(40)
  for (let count = 0; count < 10; count += 1) assert.equal(mayTake(integration), false)
  assert.equal(draws.length, 1)
  await draws[0]?.give(10)
  assert.deepEqual(more, ['i'], 'those that wait go on')
  assert.equal(mayTake(integration), true)
})

test('no more is sent than was given; then the next share is asked for', async () => {
  const { rates, draws, mayTake } = scene()
  const integration = integrationOf(40)
  mayTake(integration)
  await draws[0]?.give(3)
  let sent = 0
  while (mayTake(integration)) {
    rates.take(integration)
    sent += 1
  }
  assert.equal(sent, 3)
  assert.equal(draws.length, 2)
})

test('an empty bucket is asked again after a while, and not by every message', async () => {
  const { draws, more, slept, awake, mayTake } = scene()
  const integration = integrationOf(2)
  mayTake(integration)
  await draws[0]?.give(0)
  assert.deepEqual(slept, [500], 'as long as a message takes at this rate')
  for (let count = 0; count < 10; count += 1) assert.equal(mayTake(integration), false)
  assert.equal(draws.length, 1)
  assert.deepEqual(more, [])
  await awake()
  assert.deepEqual(more, ['i'])
  mayTake(integration)
  assert.equal(draws.length, 2)
})

test('while the database is away none is sent, and it is asked again', async () => {
  const { draws, more, slept, awake, mayTake } = scene()
  const integration = integrationOf(100)
  mayTake(integration)
  await draws[0]?.fail()
  assert.equal(mayTake(integration), false)
  assert.deepEqual(slept, [200])
  await awake()
  assert.deepEqual(more, ['i'])
  mayTake(integration)
  assert.equal(draws.length, 2)
})

test('each integration has a share of its own', async () => {
  const { draws, mayTake } = scene()
  mayTake(integrationOf(40, 'one'))
  await draws[0]?.give(10)
  assert.equal(mayTake(integrationOf(40, 'other')), false)
  assert.equal(mayTake(integrationOf(40, 'one')), true)
})
