// Suppressions: which addresses are the same, which can be none, and for whom a reason holds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressMistake, comparedAddress, suppressionHolds, suppressionReasons } from './suppression.ts'

test('e-mail addresses differ in more than capitals and blanks around them', () => {
  assert.equal(comparedAddress('email', ' Ann.Smith+News@Example.COM '), 'ann.smith+news@example.com')
  assert.notEqual(comparedAddress('email', 'annsmith@example.com'), comparedAddress('email', 'ann.smith@example.com'))
})

test('numbers differ in more than what stands between their digits', () => {
  for (const written of [
    '+49 30 1234567',
    '+49 (30) 123-45-67',
    '+49.30.1234567',
    '+49 30/1234567',
    '+49 30 123–4567',
  ]) {
    assert.equal(comparedAddress('sms', written), '+49301234567', written)
  }
  assert.notEqual(comparedAddress('sms', '+49301234567'), comparedAddress('sms', '49301234567'))
})

test('what can be no address is distinguished', () => {
  const isGood = (channel: 'email' | 'sms', text: string): boolean =>
    addressMistake(channel, comparedAddress(channel, text)) === undefined
  assert.ok(isGood('email', 'ann@example.com') && isGood('sms', '+49 30 123') && isGood('sms', '12345'))
  for (const text of ['ann', 'ann@', 'Ann <ann@example.com>', '']) assert.ok(!isGood('email', text), text)
  for (const text of ['ann@example.com', '12', '+', '++4930123', '49+30123', '1'.repeat(21)]) {
    assert.ok(!isGood('sms', text), text)
  }
})

test('who opted out still gets what is critical; for every other reason no one gets anything', () => {
  for (const reason of suppressionReasons) {
    assert.equal(suppressionHolds(reason, false), true, reason)
    assert.equal(suppressionHolds(reason, true), reason !== 'opted_out', reason)
  }
})
