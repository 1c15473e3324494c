// The sentences of why: one for every code, with the values that decided.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import { stepTypes } from '../../domain/workflows/workflow.ts'
import type { SentenceFacts } from './why-sentences.ts'
import { quoted, sentenceOf } from './why-sentences.ts'

const codes = Object.keys(wordings) as DetailCode[]
const of = (code: DetailCode, data: object = {}, more: Partial<SentenceFacts> = {}): string =>
  sentenceOf(code, { type: 'email', data: { ...data }, ...more })

for (const code of codes) {
  test(`${code} is a whole sentence for every type of step`, () => {
    for (const type of stepTypes) {
      const sentence = sentenceOf(code, { type, data: {}, providerId: 'sendgrid' })
      assert.match(sentence, /^[\p{Lu}\p{Ll}].*\.$/u)
      assert.doesNotMatch(sentence, /\[object|NaN|\.\.$| {2}/)
    }
  })
}

test('every code has a sentence of its own', () => {
  const sentencesSeen = codes.map((code) => of(code, {}, { providerId: 'sendgrid' }))
  assert.equal(new Set(sentencesSeen).size, codes.length)
})

const compared = (filter: string, field: string, actual: string, expected: string, passed: boolean) => ({
  filter,
  field,
  operator: 'EQUAL',
  actual,
  expected,
  passed,
})

test('conditions are reported with what was found and what was asked for, and those that held are left out', () => {
  const conditions = [compared('Payload', 'a', '1', '1', true), compared('Tenant', 'plan', 'tin', 'gold', false)]
  assert.equal(
    of('conditionsFailed', { filter: { passed: false, conditions } }),
    'Skipped: its conditions were not met: Tenant plan was “tin”, expected EQUAL “gold”.',
  )
})

test('where all conditions held and the group was negated, they are notified all the same', () => {
  const conditions = [compared('Payload', 'a', '1', '1', true)]
  assert.match(of('conditionsFailed', { filter: { passed: false, conditions } }), /Payload a was “1”/)
})

test('a rule for skipping is reported by what held', () => {
  const conditions = [compared('Skip', 'payload.a', '1', '1', true), compared('Skip', 'payload.b', '1', '2', false)]
  const sentence = of('conditionsFailed', { skip: { passed: true, conditions } })
  assert.equal(sentence, 'Skipped: its skip condition was true: Skip payload.a was “1”, expected EQUAL “1”.')
})

test('of many conditions the first are reported, and how many more there are', () => {
  const conditions = Array.from({ length: 9 }, (_, n) => compared('Payload', `f${n}`, 'a', 'b', false))
  const sentence = of('conditionsFailed', { filter: { passed: false, conditions } })
  assert.match(sentence, /f2 was .*; and 6 more\.$/)
  assert.doesNotMatch(sentence, /f3/)
})

test('a preference reports what each source says', () => {
  const data = { channel: 'email', workflow: true, global: { channels: { email: false } } }
  assert.equal(
    of('globalPreference', data),
    'Skipped: the subscriber’s preferences for all workflows have switched e-mail off (workflow: on; subscriber, for all: {"channels":{"email":false}}).',
  )
})

test('hours report when they begin again and in which zone, or that they never do', () => {
  const opensAt = '2026-01-02T03:04:05.000Z'
  assert.match(
    of('outsideSchedule', { opensAt, timezone: 'Asia/Tokyo' }),
    /begin again at 2026-.* \(time zone Asia\/Tokyo\)/,
  )
  assert.match(of('outsideSchedule', { opensAt: null, timezone: null }), /never begin \(time zone UTC\)/)
})

test('a throttle reports its counter, its threshold and its end', () => {
  const data = { executionCount: 3, threshold: 3, throttledUntil: '2026-01-02T03:04:05.000Z' }
  assert.match(of('throttled', data), /allowed 3 of 3 runs, and allows no more until 2026-01-02T03:04:05.000Z\.$/)
  assert.match(of('throttlePassed', { ...data, executionCount: 2 }), /run 2 of 3/)
})

test('a provider’s answer is quoted, and cut where it is long', () => {
  const sentence = of('providerError', { reason: 'bad-recipient', message: 'x'.repeat(1_000) }, { providerId: 'ses' })
  assert.match(sentence, /^ses rejected the e-mail because the address is invalid: “x+…”\.$/)
  assert.ok(sentence.length < 400)
  assert.equal(quoted(`${'x'.repeat(299)}😀`).isWellFormed(), true)
})

test('suppressed addresses are reported with their reason, also where others were sent to', () => {
  const one = { address: 'a@example.org', reason: 'bounced', since: '2026-01-01T00:00:00.000Z' }
  assert.equal(
    of('suppressed', one),
    'Skipped: on the suppression list: a@example.org (bounced, since 2026-01-01T00:00:00.000Z).',
  )
  const addresses = [one, { ...one, address: 'b@example.org', reason: 'manual' }]
  assert.match(of('suppressed', { addresses }, { words: 'Some' }), /left out.*a@example.org.*; b@example.org \(manual/)
})

test('a merge names the notification that continues, and when', () => {
  const data = { mergedIntoNotificationId: 'n-1', mergedIntoTransactionId: 't-1', windowEndsAt: 'then' }
  assert.equal(
    of('digestMerged', data),
    'Merged into the digest of notification n-1 (transaction t-1), which continues at then.',
  )
  assert.match(of('digestMerged', { ...data, windowClosedAt: 'now' }), /which continued at now\.$/)
})
