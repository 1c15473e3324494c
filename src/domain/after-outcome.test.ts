// How sending goes on after an outcome.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutcomeSituation } from './after-outcome.ts'
import { afterOutcome, attemptsMax, beginAttempt } from './after-outcome.ts'
import type { Channel } from './integration.ts'
import type { Sending } from './message.ts'
import { notYetSent } from './message.ts'
import type { Outcome } from './outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from './outcome.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const attempted = (more: Partial<Sending> = {}): Sending => ({
  ...notYetSent,
  attempts: 1,
  firstAttemptAt: now.toISOString(),
  turnStartedAt: now.toISOString(),
  ...more,
})

function after(outcome: Outcome, more: Partial<OutcomeSituation> = {}) {
  return afterOutcome({
    outcome,
    sending: attempted(),
    channel: 'email',
    integrationId: 'first',
    idempotent: false,
    hasOther: false,
    canRepeat: true,
    now,
    random: 0.5,
    ...more,
  })
}

function again(outcome: Outcome, more: Partial<OutcomeSituation> = {}) {
  const next = after(outcome, more)
  assert.ok(next.kind === 'again', JSON.stringify(next))
  return { ...next, waitMs: next.at.getTime() - (more.now ?? now).getTime() }
}

function over(outcome: Outcome, more: Partial<OutcomeSituation> = {}) {
  const next = after(outcome, more)
  assert.ok(next.kind === 'over', JSON.stringify(next))
  return next
}

test('what was sent is over, and has no error', () => {
  assert.deepEqual(after(sent('id'), { hasOther: true }), { kind: 'over', status: 'sent', error: null })
})

test('what was refused is over: no retry and no other integration makes a bad address good', () => {
  assert.deepEqual(after(refused('bad-recipient', 'No such mailbox'), { hasOther: true }), {
    kind: 'over',
    status: 'error',
    error: { errorId: 'mail_unexpected_error', errorText: 'No such mailbox' },
  })
})

test('errors have the channel’s own id', () => {
  const errorId = (channel: Channel) => over(refused('other', 'No'), { channel }).error?.errorId
  assert.deepEqual((['in_app', 'email', 'sms', 'push', 'chat'] as const).map(errorId), [
    'unexpected_in_app_error',
    'mail_unexpected_error',
    'unexpected_sms_error',
    'unexpected_push_error',
    'unexpected_chat_error',
  ])
})

test('an account that is wrong makes way for the next integration at once', () => {
  const next = again(misconfigured('Bad key'), { hasOther: true, sending: attempted({ busyAnswers: 1 }) })
  assert.equal(next.waitMs, 0)
  assert.equal(next.failover, true)
  assert.deepEqual(next.sending, {
    attempts: 1,
    firstAttemptAt: now.toISOString(),
    busyAnswers: 0,
    tried: ['first'],
    unsureRepeats: 0,
  })
  assert.equal(over(misconfigured('Bad key')).status, 'error')
})

test('a busy provider is asked again, after waits that grow up to thirty minutes in all', () => {
  const waits = Array.from({ length: attemptsMax - 1 }, (_, index) =>
    again(busy('Busy'), { sending: attempted({ attempts: index + 1 }), random: 1 }),
  )
  assert.deepEqual(
    waits.map(({ waitMs }) => waitMs),
    [2_000, 8_000, 30_000, 120_000, 300_000, 600_000, 740_000],
  )
  assert.equal(
    waits.reduce((sum, { waitMs }) => sum + waitMs, 0),
    30 * 60_000,
  )
  for (const { failover, sending } of waits) {
    assert.equal(failover, false)
    assert.equal(sending.busyAnswers, 1)
    assert.deepEqual(sending.tried, [])
  }
})

test('the wait is anything up to its bound', () => {
  const wait = (random: number) => again(busy('Busy'), { sending: attempted({ attempts: 3 }), random }).waitMs
  assert.deepEqual([wait(0), wait(0.25), wait(1)], [0, 7_500, 30_000])
})

test('the eighth busy answer is the last', () => {
  assert.equal(attemptsMax, 8)
  assert.equal(again(busy('Busy'), { sending: attempted({ attempts: 7 }) }).kind, 'again')
  const last = { sending: attempted({ attempts: 8 }) }
  assert.deepEqual(after(busy('Busy'), last), {
    kind: 'over',
    status: 'error',
    error: { errorId: 'mail_unexpected_error', errorText: 'Busy' },
  })
  assert.equal(over(busy('Busy'), { ...last, hasOther: true }).status, 'error')
})

test('Retry-After is the least that is waited, and the own wait where that is longer', () => {
  assert.equal(again(busy('Busy', 45_000)).waitMs, 45_000)
  assert.equal(again(busy('Busy', 500), { random: 1 }).waitMs, 2_000)
})

test('the second busy answer hands over to the next integration, the first does not', () => {
  const first = again(busy('Busy'), { hasOther: true })
  assert.equal(first.failover, false)
  assert.equal(first.waitMs, 1_000)
  assert.equal(first.sending.busyAnswers, 1)
  const second = again(busy('Busy'), { hasOther: true, sending: attempted({ attempts: 2, busyAnswers: 1 }) })
  assert.equal(second.failover, true)
  assert.equal(second.waitMs, 0)
  assert.deepEqual(second.sending.tried, ['first'])
  assert.equal(second.sending.busyAnswers, 0)
  assert.equal(second.sending.turnStartedAt, undefined)
  assert.equal(second.sending.attempts, 2, 'the budget is shared')
})

test('without another integration a busy one is asked on', () => {
  const next = again(busy('Busy'), { sending: attempted({ attempts: 2, busyAnswers: 1 }) })
  assert.equal(next.failover, false)
  assert.deepEqual(next.sending.tried, [])
})

test('whoever would keep a message for more than a minute hands over', () => {
  assert.equal(again(busy('Busy', 60_000), { hasOther: true }).failover, false)
  assert.equal(again(busy('Busy', 60_001), { hasOther: true }).failover, true)
  const startedAt = new Date(now.getTime() - 59_500).toISOString()
  assert.equal(again(busy('Busy'), { hasOther: true, sending: attempted({ turnStartedAt: startedAt }) }).failover, true)
})

test('what was perhaps sent is repeated once as e-mail or push, and never as sms or chat', () => {
  const channels: Channel[] = ['email', 'push', 'sms', 'chat', 'in_app']
  assert.deepEqual(
    channels.map((channel) => after(unsure('Cut'), { channel }).kind),
    ['again', 'again', 'over', 'over', 'over'],
  )
  for (const channel of channels) {
    const repeated = attempted({ attempts: 2, unsureRepeats: 1 })
    assert.equal(over(unsure('Cut'), { channel, sending: repeated }).status, 'warning')
  }
})

test('a repeat after an unsure outcome stays with its integration and is counted', () => {
  const next = again(unsure('Cut'), { hasOther: true })
  assert.equal(next.failover, false)
  assert.equal(next.status, 'warning')
  assert.equal(next.waitMs, 1_000)
  assert.deepEqual(next.sending, attempted({ unsureRepeats: 1 }))
})

test('a provider that knows repeats by their key is always asked again, up to the last attempt', () => {
  const sms = { channel: 'sms', idempotent: true } as const
  assert.equal(again(unsure('Cut'), { ...sms, sending: attempted({ attempts: 7, unsureRepeats: 6 }) }).kind, 'again')
  assert.equal(over(unsure('Cut'), { ...sms, sending: attempted({ attempts: 8 }) }).status, 'warning')
})

test('an attempt is counted when it begins; the first of all and the first of a turn are remembered', () => {
  const first = beginAttempt(notYetSent, now)
  assert.deepEqual(first, attempted())
  const later = new Date(now.getTime() + 5_000)
  assert.deepEqual(beginAttempt(first, later), attempted({ attempts: 2 }))
  assert.deepEqual(beginAttempt({ ...first, dueAt: later.toISOString() }, later), attempted({ attempts: 2 }))
  const { turnStartedAt: _, ...handedOver } = first
  assert.deepEqual(beginAttempt(handedOver, later), attempted({ attempts: 2, turnStartedAt: later.toISOString() }))
})
