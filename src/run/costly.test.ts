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
  assert.equal(await costly.timed(one, [], take(50)), 50)
  assert.equal(costly.has(one), false)
  await costly.timed(one, [], take(51))
  assert.equal(costly.has(one), true)
  assert.equal(costly.has(other), false)
  await costly.timed(other, [], take(10))
  await take(9_989)()
  assert.equal(costly.has(one), true)
  await take(1)()
  assert.equal(costly.has(one), false)
})

test('large events of a version that took too long have their own turn for ten seconds, those of others do not', async () => {
  const { costly, take } = scene()
  assert.equal(costly.hasLarge('rich'), false)
  costly.noteLarge('rich')
  assert.equal(costly.hasLarge('rich'), true)
  assert.equal(costly.hasLarge('plain'), false)
  await take(9_999)()
  assert.equal(costly.hasLarge('rich'), true)
  await take(1)()
  assert.equal(costly.hasLarge('rich'), false)
})

test('what takes its time because of large events is no reason to put off the others', async () => {
  const { costly, take } = scene()
  await costly.timed(one, ['rich', 'plain'], take(50))
  assert.equal(costly.hasLarge('rich'), false)
  await costly.timed(one, ['rich', 'plain'], take(51))
  assert.deepEqual([costly.has(one), costly.hasLarge('rich'), costly.hasLarge('plain')], [false, true, true])
})

test('what throws counts as well', async () => {
  const { costly, take } = scene()
  const fail = async (): Promise<never> => {
    await take(60)()
    throw new Error('too much')
  }
  await assert.rejects(costly.timed(one, [], fail), /too much/)
  assert.equal(costly.has(one), true)
})
