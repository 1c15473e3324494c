// Addresses of environments: short where a name is alone, unique where it is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, sessionsAt } from '../../dashboard/src/addresses.ts'

const session = (_id: string, name: string) => ({ environment: { _id, name } })
const spaced = session('01942a63-0d2e-7abc-8def-0123456789ab', 'QA 1')
const dashed = session('01942a63-0d2e-7abc-8def-0123fedcba98', 'QA-1')
const production = session('01942a63-0d2e-7abc-8def-012300000000', 'Production')
const all = [spaced, dashed, production]

test('an environment has its name as its address, and a part of its id where another would have the same', () => {
  assert.equal(addressOf(production.environment, all), 'production')
  assert.equal(addressOf(spaced.environment, [spaced, production]), 'qa-1')
  assert.equal(addressOf(spaced.environment, all), 'qa-1-456789ab')
  assert.equal(addressOf(dashed.environment, all), 'qa-1-fedcba98')
  // It is not signed in to yet: its address is the one that it will have then.
  assert.equal(addressOf(dashed.environment, [spaced]), 'qa-1-fedcba98')
  assert.equal(addressOf({ _id: 'x', name: '生産' }, all), 'environment')
})

test('an address leads to one environment; a plain one that several share leads to none before one is chosen', () => {
  for (const one of all) assert.deepEqual(sessionsAt(addressOf(one.environment, all), all), [one])
  assert.deepEqual(sessionsAt('qa-1', all), [spaced, dashed])
  // Links with the part of the id go on working after the other environment is gone.
  assert.deepEqual(sessionsAt('qa-1-456789ab', [spaced]), [spaced])
  assert.deepEqual(sessionsAt('qa-1-00000000', all), [])
  assert.deepEqual(sessionsAt('staging', all), [])
})
