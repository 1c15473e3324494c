// Lookups that are shared: which calls one answers, and what a failure of it comes to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gathering } from './gathering.ts'

test('calls of one turn are one lookup, those that come meanwhile the next, and each has its own answer', async () => {
  const lookups: (readonly string[])[] = []
  let release = (): void => {}
  const find = gathering<string>(async (keys) => {
    lookups.push(keys)
    if (lookups.length === 1) await new Promise<void>((resolve) => (release = resolve))
    return new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, `${key}!`]))
  }, 3)
  const first = [find('a'), find('b'), find('a')]
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  const second = ['c', 'unknown', 'd', 'e'].map(find)
  release()
  assert.deepEqual(await Promise.all(first), ['a!', 'b!', 'a!'])
  assert.deepEqual(await Promise.all(second), ['c!', undefined, 'd!', 'e!'])
  assert.deepEqual(lookups, [['a', 'b'], ['c', 'unknown', 'd'], ['e']])
  assert.equal(await find('f'), 'f!')
})

test('a lookup that fails fails for those it was made for, and the next one is made all the same', async () => {
  let tries = 0
  const find = gathering<string>(async (keys) => {
    tries += 1
    if (tries === 1) throw new Error('away')
    return new Map(keys.map((key) => [key, key]))
  }, 1)
  const [one, two] = await Promise.allSettled([find('a'), find('b')])
  assert.deepEqual([one?.status, two?.status], ['rejected', 'fulfilled'])
})
