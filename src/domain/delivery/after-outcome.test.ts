// How sending goes on after an outcome.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sending } from '../messages/message.ts'
import { notYetSent } from '../messages/message.ts'
import type { OutcomeSituation } from './after-outcome.ts'
import { afterOutcome, attemptsMax, beginAttempt } from './after-outcome.ts'
import type { Channel } from './integration.ts'
import type { Outcome } from './outcome.ts'
import { busy, interruptedCall, misconfigured, ofDownProvider, refused, sent, unsure, withheld } from './outcome.ts'

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

const all: Channel[] = ['email', 'push', 'sms', 'chat', 'in_app']

test('what was perhaps sent is repeated twice as e-mail or push, and never as sms or chat', () => {
  const kinds = (unsureRepeats: number) =>
    all.map((channel) => after(unsure('Cut'), { channel, sending: attempted({ unsureRepeats }) }).kind)
  assert.deepEqual(kinds(0), ['again', 'again', 'over', 'over', 'over'])
  assert.deepEqual(kinds(1), ['again', 'again', 'over', 'over', 'over'])
  assert.deepEqual(kinds(2), ['over', 'over', 'over', 'over', 'over'])
  assert.deepEqual(over(unsure('Cut'), { channel: 'sms' }), {
    kind: 'over',
    status: 'warning',
    error: { errorId: 'unexpected_sms_error', errorText: 'Cut' },
    leftUnsure: true,
  })
})

test('a repeat after an unsure outcome stays with its integration, is counted, and waits ten minutes', () => {
  const next = again(unsure('Cut'), { hasOther: true })
  assert.equal(next.failover, false)
  assert.equal(next.status, 'warning')
  assert.equal(next.waitMs, 600_000)
  assert.deepEqual(next.sending, attempted({ unsureRepeats: 1 }))
})

test('it never goes through an open breaker, and what is left unsure stays so', () => {
  const later = new Date(now.getTime() + 700_000)
  const sooner = new Date(now.getTime() + 2_000)
  assert.equal(again(ofDownProvider(unsure('Cut')), { downUntil: later }).waitMs, 700_000)
  assert.equal(again(ofDownProvider(unsure('Cut')), { downUntil: sooner }).waitMs, 600_000)
  assert.equal(again(unsure('Cut'), { idempotent: true, downUntil: sooner, random: 0 }).waitMs, 2_000)
  assert.equal(over(unsure('Cut'), { canRepeat: false }).leftUnsure, true)
})

test('what was perhaps sent by an earlier call is left unsure, and not failed, when its provider stays busy to the end', () => {
  for (const before of [{ unsureRepeats: 1 }, { interruptions: 1 }]) {
    const last = { sending: attempted({ attempts: attemptsMax, ...before }) }
    const late = { sending: attempted(before), now: new Date(now.getTime() + 1_800_000) }
    for (const more of [last, late]) {
      const { status, leftUnsure } = over(busy('Too many requests'), more)
      assert.deepEqual([status, leftUnsure], ['warning', true])
    }
    const { status, leftUnsure } = over(misconfigured('Wrong key'), last)
    assert.deepEqual([status, leftUnsure], ['warning', true])
  }
})

test('an integration says for itself what becomes of what was perhaps sent, by an answer or by an interruption', () => {
  for (const outcome of [unsure('Cut'), interruptedCall('Ended')]) {
    assert.equal(after(outcome, { channel: 'sms', whenUnsure: 'retry' }).kind, 'again')
    assert.equal(over(outcome, { channel: 'email', whenUnsure: 'skip' }).leftUnsure, true)
    assert.equal(after(outcome, { channel: 'sms', whenUnsure: 'skip', idempotent: true }).kind, 'again')
  }
})

test('a call that our process did not survive is repeated until an answer comes, and uses up nothing', () => {
  let sending = attempted({ attempts: 8, unsureRepeats: 2 })
  for (let count = 1; count <= 50; count += 1) {
    const next = again(interruptedCall('Ended'), { sending, random: 1 })
    assert.equal(next.failover, false)
    assert.equal(next.status, 'warning')
    assert.ok(next.waitMs <= 60_000, `${next.waitMs}`)
    assert.deepEqual(next.sending, { ...sending, attempts: 7, interruptions: count })
    sending = beginAttempt(next.sending, now)
    assert.equal(sending.attempts, 8)
  }
})

test('the first repeats after an interruption are soon, the later ones a minute apart', () => {
  const wait = (interruptions?: number) =>
    again(interruptedCall('Ended'), {
      sending: attempted(interruptions === undefined ? {} : { interruptions }),
      random: 1,
    }).waitMs
  assert.deepEqual([wait(), wait(1), wait(5), wait(6), wait(2_000)], [1_000, 2_000, 32_000, 60_000, 60_000])
})

test('an interrupted sms, chat or feed message is left unsure unless the provider knows repeats', () => {
  assert.deepEqual(
    all.map((channel) => after(interruptedCall('Ended'), { channel }).kind),
    ['again', 'again', 'over', 'over', 'over'],
  )
  assert.equal(over(interruptedCall('Ended'), { channel: 'sms' }).leftUnsure, true)
  assert.equal(over(interruptedCall('Ended'), { canRepeat: false }).leftUnsure, true)
  assert.equal(after(interruptedCall('Ended'), { channel: 'sms', idempotent: true }).kind, 'again')
})

test('a message that was withheld is as if it had not begun', () => {
  const next = again(withheld('Not ours'), { sending: attempted({ attempts: 3 }), hasOther: true })
  assert.deepEqual([next.waitMs, next.failover, next.status, next.error], [0, false, null, null])
  assert.deepEqual(next.sending, attempted({ attempts: 2 }))
})

const down = ofDownProvider(busy('Down'))

test('a message whose provider is down is held until that is asked again, and it costs no attempt', () => {
  const downUntil = new Date(now.getTime() + 32_000)
  const next = again(down, { downUntil, sending: attempted({ attempts: 8, busyAnswers: 5 }) })
  assert.deepEqual([next.waitMs, next.failover, next.held, next.status], [32_000, false, true, 'error'])
  assert.deepEqual(next.sending, attempted({ attempts: 7, busyAnswers: 5 }))
})

test('where there is another integration it takes over at once from one that is down', () => {
  const next = again(down, { downUntil: new Date(now.getTime() + 32_000), hasOther: true })
  assert.deepEqual([next.waitMs, next.failover, next.held], [0, true, undefined])
  assert.deepEqual(next.sending.tried, ['first'])
})

test('what is held is given up after three days, like any other message', () => {
  const held = (sinceMs: number) => {
    const firstAttemptAt = new Date(now.getTime() - sinceMs).toISOString()
    return after(down, { downUntil: new Date(now.getTime() + 1_000), sending: attempted({ firstAttemptAt }) })
  }
  assert.equal(held(3 * 86_400_000 - 1).kind, 'again')
  assert.equal(held(3 * 86_400_000).kind, 'over')
})

test('a provider that is busy but not taken to be down is asked as before', () => {
  const next = again(down, { random: 1 })
  assert.deepEqual([next.waitMs, next.held, next.sending.attempts], [2_000, undefined, 1])
  assert.equal(again(busy('Slow down', 5_000), { downUntil: new Date(now.getTime() + 32_000) }).held, undefined)
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

test('time that a message was held counts for nothing: neither in all nor of its turn', () => {
  const first = attempted({ attempts: 3 })
  const later = new Date(now.getTime() + 7_200_000)
  const shifted = new Date(now.getTime() + 7_000_000).toISOString()
  const begun = beginAttempt(first, later, 7_000_000)
  assert.deepEqual(
    begun,
    attempted({ attempts: 4, firstAttemptAt: shifted, turnStartedAt: shifted, heldMs: 7_000_000 }),
  )
  assert.equal(again(busy('Busy'), { sending: begun, now: later }).kind, 'again')
  const unshifted = beginAttempt(first, later)
  assert.equal(over(busy('Busy'), { sending: unshifted, now: later }).status, 'error', 'thirty minutes are over')
})
