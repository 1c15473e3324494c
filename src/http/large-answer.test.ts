// Large answers: what they take of the budget is given back when the caller is gone, and a change is never answered with "try again".
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { FastifyReply } from 'fastify'
import type { ByteBudget } from '../run/send/byte-budget.ts'
import { largeAnswer } from './large-answer.ts'

function replyOf(destroyed = false): FastifyReply {
  const raw = Object.assign(new EventEmitter(), { destroyed, setTimeout: () => raw, destroy: () => raw })
  return { raw } as unknown as FastifyReply
}

const body = { data: [{ a: 1 }, { a: 'ü' }] }
const full = { take: async () => undefined } as unknown as ByteBudget

test('while too many are under way, a page is refused with a time to try again', async () => {
  await assert.rejects(largeAnswer(replyOf(), full, 'one', body, undefined), { status: 503 })
})

test('the answer to a change is written all the same', async () => {
  const bytes = await largeAnswer(replyOf(), full, undefined, body, undefined)
  assert.deepEqual(JSON.parse(bytes.toString()), body)
})

for (const isGone of [false, true]) {
  test(`what was taken is given back ${isGone ? 'at once if the caller was gone before' : 'when the answer is out'}`, async () => {
    let held = 0
    const budget = {
      take: async () => {
        held += 1
        return () => {
          held -= 1
        }
      },
    } as unknown as ByteBudget
    const reply = replyOf(isGone)
    await largeAnswer(reply, budget, 'one', body, undefined)
    assert.equal(held, isGone ? 0 : 1)
    if (!isGone) reply.raw.emit('close')
    assert.equal(held, 0)
  })
}

const write = (body: Record<string, unknown>): string => JSON.stringify(body)
const free = { take: async () => () => {} } as unknown as ByteBudget

for (const [name, page] of Object.entries({
  'a list of another name': { workflows: [{ a: 1 }, { a: '"workflows":[' }], totalCount: 2 },
  'a list that a member has as well': { first: { data: [1] }, data: [{ a: 1 }, { a: 2 }] },
  'two lists': { added: [1, 2], removed: [3] },
  'two long lists': { added: ['x'.repeat(20_000)], removed: ['y'.repeat(20_000)] },
  'no list': { a: { b: 'c' } },
  'an empty list': { data: [], hasMore: false },
})) {
  test(`${name}: written by its schema, to what it is at once`, async () => {
    assert.equal((await largeAnswer(replyOf(), free, 'one', page, write)).toString(), write(page))
  })
}

test('a body that is no object has no list to be written item by item', async () => {
  for (const one of ['x'.repeat(1024), 1, null]) {
    const bytes = await largeAnswer(replyOf(), free, 'one', one, () => assert.fail('written as an object'))
    assert.equal(bytes.toString(), JSON.stringify(one))
  }
})
