// Templates that take long are left to their own turn for a while, in their environment only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Environment } from '../domain/environment.ts'
import { createCostly } from './costly.ts'

const environmentOf = (id: string): Environment => ({ id }) as unknown as Environment
const [one, other] = [environmentOf('one'), environmentOf('other')]

function scene() {
  let nowMs = 1_000
  const costly = createCostly(() => nowMs)
  const take = (ms: number) => async () => {
    nowMs += ms
    return ms
  }
  return { costly, take }
}

test('what takes its time is costly for ten seconds, and what is quick is not', async () => {
  const { costly, take } = scene()
  assert.equal(await costly.timed(one, take(50)), 50)
  assert.equal(costly.has(one), false)
  await costly.timed(one, take(51))
  assert.equal(costly.has(one), true)
  assert.equal(costly.has(other), false)
  await costly.timed(other, take(10))
  await take(9_989)()
  assert.equal(costly.has(one), true)
  await take(1)()
  assert.equal(costly.has(one), false)
})

test('large events of a version that needed a thread need one for ten seconds, and those of others do not', async () => {
  const { costly, take } = scene()
  assert.equal(costly.needsThread('rich'), false)
  costly.noteThread('rich')
  assert.equal(costly.needsThread('rich'), true)
  assert.equal(costly.needsThread('plain'), false)
  await take(9_999)()
  assert.equal(costly.needsThread('rich'), true)
  await take(1)()
  assert.equal(costly.needsThread('rich'), false)
})

test('what throws counts as well', async () => {
  const { costly, take } = scene()
  const fail = async (): Promise<never> => {
    await take(60)()
    throw new Error('too much')
  }
  await assert.rejects(costly.timed(one, fail), /too much/)
  assert.equal(costly.has(one), true)
})
