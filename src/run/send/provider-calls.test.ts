// Calls to providers: their slots are released, waiting calls are woken, and the breaker counts calls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import type { Db } from '../../db/sql.ts'
import { createLimits } from '../../deliver/limits.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, ofDownProvider, sent, withheld } from '../../domain/delivery/outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import { provider } from '../../providers/provider.ts'
import { addProvider } from '../../providers/registry.ts'
import type { Queue } from '../../queue/queue.ts'
import type { JobFaults } from '../job-faults.ts'
import type { AskingParts } from './ask-providers.ts'
import type { BegunMessage, Outgoing } from './outgoing.ts'
import { createProviderCalls } from './provider-calls.ts'

let answer: Outcome = sent('id')
addProvider(
  provider({
    id: 'test-answers',
    channel: 'email',
    name: 'Answers',
    docsUrl: '/docs',
    evidence: { source: 'ours' },
    form: {},
    send: async () => answer,
    batching: { max: 100, key: () => '' },
    sendMany: async (_world, messages) => messages.map(() => answer),
  }),
)

const environment = { id: 'e' } as unknown as Environment

/** A message a letter, each by the integration of that name. */
function outgoingOf(letters: string, alone = false): Outgoing {
  const envelope = { to: ['ada@example.org'], subject: 'Hello', html: '<p>Hi</p>', text: 'Hi', headers: {} }
  const messages = [...letters].map((_id, index) => ({
    id: `${_id}${index}`,
    channel: 'email',
    envelope,
    sending: alone ? { ...notYetSent, alone: true } : notYetSent,
    integration: { _id, identifier: _id, providerId: 'test-answers', credentials: {} },
    other: () => undefined,
  }))
  const step = { template: { type: 'email' } }
  const version = { definition: { steps: [] } }
  const job = { id: `job of ${letters}`, state: null, status: 'running', step: 0 }
  const event = { payload: {}, attachments: 0 }
  const facts = { job, step, version, event, subscriber: { id: 's' }, integrations: [], channels: [] }
  return { environment, facts, messages, later: [] } as unknown as Outgoing
}

function scene() {
  const world = createFakeWorld()
  const limits = createLimits()
  const woken: string[] = []
  const kind = createProviderCalls({
    asking: { world, operatorMail: undefined } as unknown as AskingParts,
    world,
    queue: {} as Queue,
    limits,
    operatorMail: undefined,
    outcomesDb: {} as Db,
    rates: { mayTake: () => true, take: () => {}, callsMax: (_environment, _integration, max) => max },
    freshness: { now: () => 0, mayLeave: () => true },
    faults: {} as JobFaults,
    onFree: (id) => void woken.push(id),
  })
  const placed = (outgoing: Outgoing): Outgoing<BegunMessage> =>
    kind.batchPlan(world.now())(outgoing) ?? assert.fail('there is no slot')
  const call = async (outgoing: Outgoing) => (await Promise.all(kind.call(environment, [placed(outgoing)])))[0]
  /** Whether all slots are free. */
  const isIdle = (id: string): boolean => limits.underWay(id) === 0
  return { world, limits, woken, kind, placed, call, isIdle }
}

test('a job whose call is not made gives up its slots at every integration, and those that wait there are woken', () => {
  const { placed, kind, woken, isIdle } = scene()
  const begun = placed(outgoingOf('aab'))
  assert.deepEqual([isIdle('a'), isIdle('b')], [false, false])
  kind.leave(begun)
  assert.deepEqual([isIdle('a'), isIdle('b')], [true, true])
  assert.deepEqual(woken, ['a', 'b'])
})

test('a slot is free and others are woken when its call is over, whatever came of it', async () => {
  for (const outcome of [sent('id'), busy('Busy'), withheld('Not ours'), ofDownProvider(busy('Down'))]) {
    answer = outcome
    const { call, woken, isIdle } = scene()
    await call(outgoingOf('ab', true))
    assert.deepEqual([isIdle('a'), isIdle('b')], [true, true])
    assert.deepEqual(woken.sort(), ['a', 'b'])
  }
})

test('a call that fails is one failure, however many messages it carried; five of them open the breaker', async () => {
  answer = ofDownProvider(busy('Down'))
  const { call, limits, world } = scene()
  for (let count = 0; count < 4; count += 1) await call(outgoingOf('aaaaaaaaaa'))
  assert.equal(limits.rest('a', world.now()), undefined)
  await call(outgoingOf('aaaaaaaaaa'))
  assert.deepEqual(limits.rest('a', world.now())?.downSince, world.now())
})

test('what was withheld says nothing of the provider', async () => {
  const { call, limits, world } = scene()
  answer = ofDownProvider(busy('Down'))
  for (let count = 0; count < 4; count += 1) await call(outgoingOf('a'))
  answer = withheld('Not ours')
  await call(outgoingOf('a'))
  answer = ofDownProvider(busy('Down'))
  await call(outgoingOf('a'))
  assert.notEqual(limits.rest('a', world.now()), undefined, 'the fifth in a row')
})

test('the message that finds its provider down is held until that is asked again, and costs no attempt', async () => {
  const { call, world } = scene()
  answer = ofDownProvider(busy('Down'))
  for (let count = 0; count < 4; count += 1) await call(outgoingOf('a'))
  const outcome = await call(outgoingOf('a'))
  assert.equal(outcome?.results[0]?.sending.attempts, 0)
  assert.equal(outcome?.settlement.state?.heldSince, world.now().toISOString())
  assert.deepEqual(outcome?.settlement.due, until(new Date(world.now().getTime() + 2_500)))
})

test('Retry-After pauses the integration, unless it is of one recipient only', async () => {
  const { call, limits, world } = scene()
  answer = { kind: 'busy', detail: 'Their mailbox is full', retryAfterMs: 30_000, ofRecipient: true }
  await call(outgoingOf('a'))
  assert.equal(limits.rest('a', world.now()), undefined)
  answer = busy('Slow down', 30_000)
  await call(outgoingOf('a'))
  assert.deepEqual(limits.rest('a', world.now()), { until: new Date(world.now().getTime() + 30_000) })
})

test('what is not written yet is begun by one statement, and what is resumed by another', () => {
  const { kind, placed } = scene()
  const fresh = { ...placed(outgoingOf('a')), unwritten: { details: [] } } as unknown as Outgoing<BegunMessage>
  const resumed = placed(outgoingOf('b'))
  assert.deepEqual(kind.together([fresh, resumed]), [[fresh], [resumed]])
  assert.deepEqual(kind.together([resumed]), [[resumed]])
})

test('an answer that asks for less leaves half the slots; one of a recipient, or of a message, does not', async () => {
  const slots = async (outcome: Outcome): Promise<number> => {
    answer = outcome
    const { call, limits, world } = scene()
    await call(outgoingOf('a'))
    let count = 0
    while (limits.take('a', 500, world.now())) count += 1
    return count
  }
  assert.equal(await slots(busy('Too many requests')), 25)
  assert.equal(await slots(sent('id')), 50)
  assert.equal(await slots({ kind: 'busy', detail: 'Their mailbox is full', ofRecipient: true }), 50)
  assert.equal(await slots({ kind: 'busy', detail: 'Refused with others', alone: true }), 50)
  assert.equal(await slots(ofDownProvider(busy('Down'))), 50, 'one failure is no sign of too much')
})
