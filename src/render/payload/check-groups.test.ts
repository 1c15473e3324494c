// Payloads that a thread checks in groups: each has its own reply, whatever the others of its group are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ThreadFailure } from '../../world/threads.ts'
import { createCheckGroups } from './check-groups.ts'
import { isTooBusy } from './payload-schema.ts'

/** A thread that replies when the test lets it. */
function thread(reply: (payloads: readonly string[]) => readonly string[]) {
  const groups: (readonly string[])[] = []
  const begun: (() => void)[] = []
  const ask = (payloads: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      groups.push(payloads)
      begun.push(() => {
        try {
          resolve(reply(payloads))
        } catch (error) {
          reject(error)
        }
      })
    })
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  /** Until nothing is asked any more. */
  const finish = async (): Promise<void> => {
    await turn()
    while (begun.length > 0) {
      begun.shift()?.()
      await turn()
    }
  }
  return { ask, groups, finish, turn }
}

const repeated = (payloads: readonly string[]): string[] => payloads.map((payload) => `${payload}!`)

test('what comes while a group is checked is the next group, and each has its own reply', async () => {
  const { ask, groups, finish, turn } = thread(repeated)
  const check = createCheckGroups(ask)
  const first = [check('a'), check('b')]
  await turn()
  const later = [check('c'), check('d'), check('e')]
  await finish()
  assert.deepEqual(groups, [
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
  assert.deepEqual(await Promise.all([...first, ...later]), ['a!', 'b!', 'c!', 'd!', 'e!'])
})

test('a group has at most a hundred payloads, and what can be copied in one turn; a large one goes alone', async () => {
  const { ask, groups, finish } = thread(repeated)
  const check = createCheckGroups(ask)
  const large = 'x'.repeat(600_000)
  const payloads = [...Array.from({ length: 130 }, (_, at) => String(at)), large, large, 'last']
  const replies = Promise.all(payloads.map(check))
  await finish()
  assert.deepEqual(
    groups.map(({ length }) => length),
    [100, 30, 1, 1, 1],
  )
  assert.deepEqual(await replies, repeated(payloads))
})

test('those that there was no time for are asked for again, before others', async () => {
  const { ask, groups, finish, turn } = thread((payloads) => repeated(payloads.slice(0, 1)))
  const check = createCheckGroups(ask)
  const first = ['a', 'b'].map(check)
  await turn()
  const later = check('c')
  await finish()
  assert.deepEqual(groups, [['a', 'b'], ['b', 'c'], ['c']])
  assert.deepEqual(await Promise.all([...first, later]), ['a!', 'b!', 'c!'])
})

test('a payload that ends its thread fails alone; a thread that is late, or says nothing, is late for all', async () => {
  const ending = thread((payloads) => {
    if (payloads.includes('bad')) throw new ThreadFailure('broken', 'out of memory')
    return repeated(payloads)
  })
  const check = createCheckGroups(ending.ask)
  const replies = Promise.allSettled(['a', 'bad', 'c'].map(check))
  await ending.finish()
  const statuses = (await replies).map(({ status }) => status)
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])

  const late = thread(() => {
    throw new ThreadFailure('late', 'too long')
  })
  const lateReplies = Promise.allSettled(['a', 'b'].map(createCheckGroups(late.ask)))
  await late.finish()
  assert.deepEqual(
    (await lateReplies).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(late.groups.length, 1)

  const silent = thread(() => [])
  const silentReply = assert.rejects(createCheckGroups(silent.ask)('a'), isTooBusy)
  await silent.finish()
  await silentReply
})

test('a payload that has waited too long is refused, and no other', async () => {
  let now = 0
  const { ask, groups, finish, turn } = thread(repeated)
  const check = createCheckGroups(ask, () => now)
  const first = check('a')
  await turn()
  const late = assert.rejects(check('b'), isTooBusy)
  now = 1_500
  const inTime = check('c')
  now = 2_001
  await finish()
  await late
  assert.deepEqual(await Promise.all([first, inTime]), ['a!', 'c!'])
  assert.deepEqual(groups, [['a'], ['c']])
})

test('payloads that are asked for alone wait no longer than others, and a full queue takes no more', async () => {
  let now = 0
  const ending = thread(() => {
    now += 1_500
    throw new ThreadFailure('broken', 'out of memory')
  })
  const check = createCheckGroups(ending.ask, () => now)
  const replies = Promise.allSettled(['a', 'b', 'c', 'd'].map(check))
  await ending.finish()
  const errors = (await replies).map((one) => (one.status === 'rejected' ? one.reason : undefined))
  assert.deepEqual(ending.groups, [['a', 'b', 'c', 'd'], ['a']])
  assert.deepEqual(
    errors.map((error) => isTooBusy(error)),
    [false, true, true, true],
  )
  const full = thread(repeated)
  const checkFull = createCheckGroups(full.ask)
  const all = Promise.allSettled(Array.from({ length: 5_001 }, (_, at) => checkFull(String(at))))
  await full.finish()
  const statuses = (await all).map(({ status }) => status)
  assert.deepEqual([statuses.indexOf('rejected'), statuses.filter((one) => one === 'rejected').length], [5_000, 1])
})
