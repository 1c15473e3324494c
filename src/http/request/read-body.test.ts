// What a body holds: until it is answered or cut, and as long as anything works on it.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { FastifyReply } from 'fastify'
import { Turn } from '../../domain/turn.ts'
import { createBodyBudget } from './body-budget.ts'
import { readLargeJsonBody } from './body-parser.ts'
import { BodyShare } from './read-body.ts'

const bytes = 300_000

function scene() {
  const budget = createBodyBudget({ sleep: async () => {} })
  const raw = new EventEmitter()
  const charged: [tokens: number, paid: number][] = []
  const charge = async (tokens: number, paid: number): Promise<void> => void charged.push([tokens, paid])
  const share = new BodyShare({ budget, owner: 'one', charge }, { raw } as unknown as FastifyReply)
  return { budget, raw, share, charged }
}

test('it is given back once it is answered, and when its sender goes', async () => {
  for (const event of ['finish', 'close']) {
    const { budget, raw, share } = scene()
    await share.takeBytes(bytes)
    assert.equal(budget.heldBytes(), bytes)
    raw.emit(event)
    assert.equal(budget.heldBytes(), 0)
    await share.takeBytes(bytes)
    assert.equal(budget.heldBytes(), 0, 'taken too late')
  }
})

test('its sender goes while it is worked on: it is held until that is over, and nothing more is begun', async () => {
  for (const fails of [false, true]) {
    const { budget, raw, share } = scene()
    await share.takeBytes(bytes)
    let end = (): void => {}
    const work = share.during(
      () =>
        new Promise<void>((resolve, reject) => {
          end = fails ? () => reject(new Error('failed')) : resolve
        }),
    )
    raw.emit('close')
    await share.takeBytes(bytes)
    assert.equal(budget.heldBytes(), 2 * bytes)
    end()
    await work.catch(() => {})
    assert.equal(budget.heldBytes(), 0)
    await assert.rejects(
      share.during(async () => {}),
      /connection was closed/,
    )
  }
})

test('a body is parsed no further once its sender is gone', async () => {
  const { raw, share } = scene()
  let nowMs = 0
  let turns = 0
  // Every look at the clock is a turn later.
  const turn = new Turn(
    () => {
      nowMs += 1_000
      return nowMs
    },
    () => {
      turns += 1
      if (turns === 3) raw.emit('close')
      share.throwIfOver()
    },
  )
  const body = Buffer.from(JSON.stringify({ events: Array.from({ length: 100 }, () => 'x'.repeat(10_000)) }))
  const rules = { parse: JSON.parse, judgesText: 'events', takeValues: async () => {}, turn } as const
  await assert.rejects(readLargeJsonBody(body, rules), /connection was closed/)
  assert.equal(turns, 3)
})

test('bytes are charged as they come, each once', async () => {
  const { share, charged } = scene()
  const kibibyte = 1024
  await share.chargeFor(64 * kibibyte)
  await share.chargeFor(128 * kibibyte)
  await share.chargeFor(128 * kibibyte)
  await share.chargeFor(192 * kibibyte)
  assert.deepEqual(charged, [
    [8, 0],
    [8, 8],
  ])
})
