// Calling providers: whatever fails on the way, every message has an outcome and every slot is released.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import { createBatchPlan } from '../../deliver/batch-slots.ts'
import { createLimits } from '../../deliver/limits.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { sent, withheld } from '../../domain/delivery/outcome.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import { SigningKeys } from '../../domain/operate/signing-keys.ts'
import { provider } from '../../providers/provider.ts'
import { addProvider } from '../../providers/registry.ts'
import type { AskingParts, Leaving } from './ask-providers.ts'
import { askProviders } from './ask-providers.ts'
import type { BegunMessage, Outgoing } from './outgoing.ts'
import type { RateShares } from './rate-shares.ts'
import { takeSlots } from './take-slots.ts'

const calls: string[][] = []
addProvider(
  provider({
    id: 'test-many',
    channel: 'email',
    name: 'Many',
    docsUrl: '/docs',
    evidence: { source: 'ours' },
    form: {},
    async send(_world, message) {
      calls.push([message.id])
      return sent(`single-${message.id}`)
    },
    batching: {
      max: 10,
      key({ subject }) {
        if (subject === 'broken') throw new Error('The key broke')
        return ''
      },
    },
    async sendMany(_world, messages) {
      calls.push(messages.map(({ id }) => id))
      return messages.map(({ id }) => sent(`shared-${id}`))
    },
  }),
)

for (const marksItself of [true, false]) {
  addProvider(
    provider({
      id: marksItself ? 'test-marks' : 'test-asks',
      channel: 'email',
      name: 'Asks',
      docsUrl: '/docs',
      evidence: { source: 'ours' },
      form: {},
      ...(marksItself ? { marksItself } : {}),
      send: async (world, { id }) => ((await world.mayLeave?.()) === true ? sent(id) : withheld('Not ours')),
    }),
  )
}

const someSecret = async (): Promise<SigningKeys> =>
  new SigningKeys([{ version: 1, secret: 'secret', createdAt: new Date(0) }])

function partsOf(secret: () => Promise<SigningKeys>): AskingParts {
  return { world: createFakeWorld(), signingSecrets: { of: secret } } as unknown as AskingParts
}

function outgoingOf(
  id: string,
  { subject = 'Hello', wantsReplies = false, capture = false, providerId = 'test-many' } = {},
): Outgoing {
  const envelope = { to: ['ada@example.org'], subject, html: '<p>Hi</p>', text: 'Hi', headers: {} }
  const integration = {
    _id: 'i',
    providerId,
    credentials: {},
    configurations: { inboundParseDomain: 'parse.example.com', capture },
  }
  const step = { template: { type: 'email' }, ...(wantsReplies ? { replyCallback: { active: true, url: 'x' } } : {}) }
  return {
    environment: { id: 'e' },
    facts: {
      job: { id: `job-${id}`, state: null },
      ...{ step, event: { payload: {}, attachments: 0 }, subscriber: { id: 's' }, version: { workflowId: 'w' } },
    },
    messages: [{ id, envelope, integration, sending: notYetSent }],
    later: [],
  } as unknown as Outgoing
}

const leavingAt: Leaving = { mayLeave: () => true, mark: async () => true }

function begunOf(outgoing: readonly Outgoing[]): readonly Outgoing<BegunMessage>[] {
  const now = new Date()
  const limits = createLimits()
  const rates: RateShares = { mayTake: () => true, take: () => {}, callsMax: (_environment, _integration, max) => max }
  const slots = { limits, rates, batchPlan: createBatchPlan(limits, now), operatorMail: undefined, now }
  return outgoing.map((one) => takeSlots(slots, one))
}

async function outcomesOf(
  parts: AskingParts,
  outgoing: readonly Outgoing[],
  leaving = leavingAt,
): Promise<[string, Outcome][]> {
  calls.length = 0
  const answers = askProviders(parts, begunOf(outgoing), leaving)
  return Promise.all([...answers].map(async ([{ id }, answer]): Promise<[string, Outcome]> => [id, await answer]))
}

const noSecret = async (): Promise<SigningKeys> => Promise.reject(new Error('The database is away'))

test('a message whose address for answers cannot be made is not sent, and can be repeated', async () => {
  const alone = await outcomesOf(partsOf(noSecret), [outgoingOf('a', { wantsReplies: true })])
  assert.deepEqual([alone.map(([, { kind }]) => kind), calls], [['busy'], []])
})

test('a message of a provider that only newer nodes know is not sent, and can be repeated', async () => {
  const [[, outcome] = []] = await outcomesOf(partsOf(someSecret), [outgoingOf('a', { providerId: 'of-later' })])
  assert.deepEqual(outcome, {
    kind: 'busy',
    detail: 'The provider of-later is unknown to the release of this node',
    uncalled: true,
  })
})

test('in a shared request it costs only those that want answers', async () => {
  const outgoing = [outgoingOf('a'), outgoingOf('b', { wantsReplies: true }), outgoingOf('c')]
  const outcomes = await outcomesOf(partsOf(noSecret), outgoing)
  assert.deepEqual(
    outcomes.map(([id, outcome]) => [id, outcome.kind === 'sent' ? outcome.providerMessageId : outcome.kind]),
    [
      ['a', 'shared-a'],
      ['b', 'busy'],
      ['c', 'shared-c'],
    ],
  )
  assert.deepEqual(calls, [['a', 'c']])
})

test('a provider that breaks over a message’s key sends it alone, and the others together', async () => {
  const outgoing = [outgoingOf('a'), outgoingOf('b', { subject: 'broken' }), outgoingOf('c')]
  const outcomes = await outcomesOf(partsOf(someSecret), outgoing)
  assert.deepEqual([...new Set(outcomes.map(([, { kind }]) => kind))], ['sent'])
  assert.deepEqual([...calls].sort(), [['a', 'c'], ['b']])
})

test('a fault of ours is an unsure outcome, never a rejection that would hold the slot', async () => {
  const outgoing = outgoingOf('a', { wantsReplies: true })
  const broken = { ...outgoing, facts: { ...outgoing.facts, event: undefined } } as unknown as Outgoing
  const [begun] = begunOf([outgoing]) as [Outgoing<BegunMessage>]
  const parts = partsOf(someSecret)
  const answers = askProviders(parts, [{ ...broken, messages: begun.messages } as Outgoing<BegunMessage>], leavingAt)
  const [message] = begun.messages
  assert.equal((await answers.get(message as BegunMessage))?.kind, 'unsure')
})

test('a message that was refused with others shares no request any more', async () => {
  const outgoing = [outgoingOf('a'), outgoingOf('b'), outgoingOf('c')]
  const [first] = outgoing as [Outgoing]
  const sending = { ...notYetSent, alone: true }
  const alone = { ...first, messages: first.messages.map((message) => ({ ...message, sending })) } as Outgoing
  await outcomesOf(partsOf(someSecret), [alone, ...outgoing.slice(1)])
  assert.deepEqual(calls, [['a'], ['b', 'c']])
})

test('in a shared request, those that came after the switch to capture are kept, and those before it are sent', async () => {
  for (const switched of [
    [false, true, true],
    [true, false, false],
    [false, true, false],
  ]) {
    const outgoing = switched.map((capture, index) => outgoingOf(`${index}`, { capture }))
    const outcomes = await outcomesOf(partsOf(someSecret), outgoing)
    const kept = new Map(outcomes.map(([id, outcome]) => [id, outcome.kind === 'sent' && outcome.captured === true]))
    assert.deepEqual(
      switched.map((_, index) => kept.get(`${index}`)),
      switched,
    )
    assert.deepEqual(
      calls.flat(),
      switched.flatMap((capture, index) => (capture ? [] : [`${index}`])),
    )
  }
})

test('a message that is about to leave asks for its job; one that is marked only then asks for its mark', async () => {
  const asked: string[] = []
  const leavingWhen = (isOurs: boolean): Leaving => ({
    mayLeave: (jobs) => {
      asked.push(`lease of ${jobs.map(({ id }) => id)}`)
      return isOurs
    },
    mark: async (job, { id }) => {
      asked.push(`mark of ${id} of ${job.id}`)
      return isOurs
    },
  })
  const outgoing = [outgoingOf('a', { providerId: 'test-asks' }), outgoingOf('b', { providerId: 'test-marks' })]
  const parts = partsOf(someSecret)
  for (const isOurs of [true, false]) {
    asked.length = 0
    const outcomes = await outcomesOf(parts, outgoing, leavingWhen(isOurs))
    assert.deepEqual([...new Set(outcomes.map(([, { kind }]) => kind))], [isOurs ? 'sent' : 'withheld'])
    assert.deepEqual(asked.sort(), ['lease of job-a', 'mark of b of job-b'])
  }
})
