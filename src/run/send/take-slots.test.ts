// Slots for the messages of one job.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatchPlan } from '../../deliver/batch-slots.ts'
import type { Limits } from '../../deliver/limits.ts'
import { createLimits } from '../../deliver/limits.ts'
import type { Credentials, Integration } from '../../domain/delivery/integration.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import { provider } from '../../providers/provider.ts'
import { addProvider } from '../../providers/registry.ts'
import { http1CallsMax } from '../../world/outbound/outbound-http1-pools.ts'
import { http2CallsMax } from '../../world/outbound/outbound-http2-pool.ts'
import type { BegunMessage, Outgoing, OutgoingMessage } from './outgoing.ts'
import type { RateShares } from './rate-shares.ts'
import { callsMaxOf, queueKeyOf, restedFirst, takeSlots } from './take-slots.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)

const shared = {
  channel: 'email',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  form: {},
} as const
addProvider(provider({ ...shared, id: 'test-two', name: 'Two', concurrency: () => 2 }))
addProvider(provider({ ...shared, id: 'test-none', name: 'None', concurrency: () => 0 }))
addProvider(
  provider({
    ...shared,
    id: 'test-broken',
    name: 'Broken',
    concurrency: () => {
      throw new Error('The account is odd')
    },
  }),
)

const callsMax: RateShares['callsMax'] = (_environment, _integration, max) => max
const unlimited: RateShares = { mayTake: () => true, take: () => {}, callsMax }

/** A message a letter, each by the integration of that name. */
function outgoingOf(letters: string, state: JobState | null = null): Outgoing {
  const messages = [...letters].map(
    (_id, index) =>
      ({
        id: `${_id}${index}`,
        integration: { _id, providerId: 'test-two', credentials: {} },
        envelope: { content: 'Hi' },
        sending: notYetSent,
      }) as unknown as OutgoingMessage,
  )
  return {
    messages,
    later: [],
    facts: { job: { state }, event: { attachments: 0, payload: {} } },
  } as unknown as Outgoing
}

const names = (messages: readonly object[]): string[] => messages.map((one) => (one as OutgoingMessage).id)

const taken = (limits: Limits, outgoing: Outgoing, rates = unlimited): Outgoing<BegunMessage> =>
  takeSlots({ limits, rates, batchPlan: createBatchPlan(limits, now), operatorMail: undefined, now }, outgoing)

test('as many messages begin as there are slots, each integration for itself; the rest is left for later', () => {
  const limits = createLimits()
  const started = taken(limits, outgoingOf('aaabb'))
  assert.deepEqual(names(started.messages), ['a0', 'a1', 'b3', 'b4'])
  assert.deepEqual(names(started.later), ['a2'])
  assert.equal(limits.underWay('a'), 2)
  assert.equal(taken(limits, outgoingOf('ab')).messages.length, 0)
})

test('an attempt is counted for those that begin, and what was before is kept', () => {
  const [begun] = taken(createLimits(), outgoingOf('a')).messages
  assert.equal(begun?.sending.attempts, 1)
  assert.deepEqual(begun?.before, notYetSent)
})

test('the time that a job was held is not counted', () => {
  const outgoing = outgoingOf('a', { heldSince: inMs(-50_000).toISOString() })
  const [message] = outgoing.messages as [OutgoingMessage]
  const sending = { ...notYetSent, firstAttemptAt: inMs(-60_000).toISOString() }
  const [begun] = taken(createLimits(), { ...outgoing, messages: [{ ...message, sending }] }).messages
  assert.equal(begun?.sending.firstAttemptAt, inMs(-10_000).toISOString())
})

test('an integration that must rest is not asked, and the others do not wait for it', () => {
  const limits = createLimits()
  limits.pauseUntil('a', inMs(5_000))
  const outgoing = outgoingOf('ab')
  assert.deepEqual(names(taken(limits, outgoing).messages), ['b1'])
  assert.equal(queueKeyOf(restedFirst(limits, outgoing, now)), 'b')
  assert.equal(queueKeyOf(restedFirst(createLimits(), outgoing, now)), 'a')
})

test('one whose provider is down lets a single message find out whether it is back', () => {
  const limits = createLimits()
  for (let count = 0; count < 5; count += 1) limits.note('a', true, inMs(-2_000))
  const started = taken(limits, outgoingOf('aab'))
  assert.deepEqual(names(started.messages), ['a0', 'b2'])
  assert.deepEqual(names(started.later), ['a1'])
})

test('an integration that captures asks no provider, so it need not rest', () => {
  const limits = createLimits()
  limits.pauseUntil('a', inMs(5_000))
  const outgoing = outgoingOf('a')
  const [message] = outgoing.messages as [OutgoingMessage]
  const integration = { ...message.integration, configurations: { capture: true } }
  const capturing = { ...outgoing, messages: [{ ...message, integration }] }
  assert.deepEqual(names(taken(limits, outgoing).messages), [])
  assert.deepEqual(names(taken(limits, capturing).messages), ['a0'])
})

test('a message beyond the rate that all nodes share takes no slot, and one without a slot uses up none of the rate', () => {
  const limits = createLimits()
  let tokens = 3
  const rates: RateShares = { mayTake: () => tokens > 0, take: () => void tokens--, callsMax }
  assert.deepEqual(names(taken(limits, outgoingOf('aaa'), rates).messages), ['a0', 'a1'])
  assert.equal(tokens, 1)
  assert.deepEqual(names(taken(limits, outgoingOf('bb'), rates).messages), ['b0'])
  assert.deepEqual([limits.take('b', 2, now), limits.take('b', 2, now)], [true, false])
})

test('of an account that takes few calls, a node has its share; what is captured, and accounts that take many, it has alone', () => {
  const limits = createLimits()
  const asked: string[] = []
  const rates: RateShares = {
    ...unlimited,
    callsMax: (_environment, { _id }, max) => {
      asked.push(`${_id} of ${max}`)
      return 1
    },
  }
  const started = taken(limits, outgoingOf('aa'), rates)
  assert.deepEqual(names(started.messages), ['a0'])
  assert.deepEqual(names(started.later), ['a1'])
  const of = (integration: object): Outgoing => {
    const outgoing = outgoingOf('b')
    const [message] = outgoing.messages as [OutgoingMessage]
    return { ...outgoing, messages: [{ ...message, integration: { ...message.integration, ...integration } }] }
  }
  taken(limits, of({ _id: 'captures', configurations: { capture: true } }), rates)
  taken(limits, of({ _id: 'many', providerId: 'sendgrid' }), rates)
  assert.deepEqual(asked, ['a of 2', 'a of 2'])
})

test('how many calls an account takes at once comes from its provider, and 500 where that says nothing', () => {
  const max = (providerId: string, operatorMail?: Credentials): number =>
    callsMaxOf({ _id: 'i', providerId, credentials: {} } as unknown as Integration, operatorMail).calls
  assert.equal(max('test-two'), 2)
  assert.equal(max('sendgrid'), 500)
  assert.equal(max('one-signal'), 150, 'as many as it takes in a second')
  assert.equal(max('resend'), 50, 'never fewer than are usual')
  assert.equal(max('nodemailer'), 5)
  assert.equal(max('test-none'), 1, 'or its messages would wait for ever')
  assert.equal(max('test-broken'), 500, 'slots that others hold would be lost')
})

test('no account is given more calls than there can be connections, so that none is marked and waits for one', () => {
  const max = (providerId: string): number =>
    callsMaxOf({ _id: 'i', providerId, credentials: {} } as unknown as Integration, undefined).calls
  assert.ok(max('sendgrid') <= http1CallsMax)
  for (const id of ['apns', 'fcm']) assert.ok(max(id) <= http2CallsMax, id)
})

test('the built-in e-mail has as many as the operator’s mail server takes', () => {
  const builtIn = (): Integration => ({ _id: 'i', providerId: 'platform-email', credentials: {} }) as never
  assert.equal(callsMaxOf(builtIn(), { host: 'mail.example.com' }).calls, 5)
  assert.equal(callsMaxOf(builtIn(), undefined).calls, 500)
})
