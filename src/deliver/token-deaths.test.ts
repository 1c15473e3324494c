// When a provider's word on dead devices is believed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenDeaths } from './token-deaths.ts'

function after(integrationId: string, ...calls: readonly (readonly [count: number, isDead: boolean])[]): boolean {
  const deaths = createTokenDeaths()
  for (const [count, isDead] of calls) for (let one = 0; one < count; one += 1) deaths.note('a', isDead)
  return deaths.mayPrune(integrationId)
}

test('a few dead devices say nothing of the account', () => {
  assert.equal(after('a', [19, true]), true)
  assert.equal(after('a'), true)
})

test('when most of twenty calls or more report of dead devices, none is believed', () => {
  assert.equal(after('a', [20, true]), false)
  assert.equal(after('a', [11, true], [9, false]), false)
  assert.equal(after('a', [10, true], [10, false]), true)
  assert.equal(after('b', [20, true]), true, 'another integration has its own calls')
})

test('only the latest calls count', () => {
  assert.equal(after('a', [200, false], [101, true]), false)
  assert.equal(after('a', [500, true], [100, false]), true)
})
