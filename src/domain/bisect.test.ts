// Halving a group until the item that makes it fail is alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bisection } from './bisect.ts'
import { bisect } from './bisect.ts'

class Outage extends Error {}

function scene(fails: (items: readonly string[]) => Error | undefined) {
  const tried: string[] = []
  const culprits: string[] = []
  const bisection: Bisection<string, string> = {
    together: async (items) => {
      tried.push(items.join(''))
      const error = fails(items)
      if (error !== undefined) throw error
      return items.join('')
    },
    isOfAll: (error) => error instanceof Outage,
    culprit: async (item) => {
      culprits.push(item)
      return `!${item}`
    },
  }
  const run = (letters: string) => bisect([...letters], bisection)
  return { run, tried, culprits }
}

test('a group that goes through is run once, and no group is not run', async () => {
  const { run, tried } = scene(() => undefined)
  assert.deepEqual(await run('abcd'), ['abcd'])
  assert.deepEqual(await run(''), [])
  assert.deepEqual(tried, ['abcd'])
})

test('only the culprits are put aside, and all others go through once, in their order', async () => {
  const { run, culprits } = scene((items) => (items.some((one) => 'cg'.includes(one)) ? new Error('A bug') : undefined))
  assert.deepEqual(await run('abcdefgh'), ['ab', '!c', 'd', 'ef', '!g', 'h'])
  assert.deepEqual(culprits, ['c', 'g'])
})

test('one among a thousand is found in some twenty tries', async () => {
  const all = String.fromCodePoint(...Array.from({ length: 1_000 }, (_, index) => 0x4e00 + index))
  const culprit = all[777] as string
  const { run, tried, culprits } = scene((items) => (items.includes(culprit) ? new Error('A bug') : undefined))
  await run(all)
  assert.deepEqual(culprits, [culprit])
  assert.ok(tried.length <= 21, `${tried.length}`)
})

test('an error that speaks against no item is thrown on, and nothing is halved', async () => {
  const { run, tried, culprits } = scene(() => new Outage())
  await assert.rejects(run('abcd'), Outage)
  assert.deepEqual([tried, culprits], [['abcd'], []])
})

test('the same where it comes while a culprit is looked for: what went through before it is not run again', async () => {
  let tries = 0
  const { run, tried } = scene((items) => {
    tries += 1
    if (tries === 4) return new Outage()
    return items.includes('d') ? new Error('A bug') : undefined
  })
  await assert.rejects(run('abcd'), Outage)
  assert.deepEqual(tried, ['abcd', 'ab', 'cd', 'c'])
})
