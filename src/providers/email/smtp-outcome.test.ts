// What failures of a mail server mean, where no server has to be asked to find out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import { noConnectionCode, outcomeOfSmtpFailure } from './smtp-outcome.ts'

const failure = (facts: object): Error => Object.assign(new Error('said\nso'), facts)
const kindOf = (error: unknown, mayBeTaken = false): string =>
  outcomeOfSmtpFailure(error, { mayBeTaken, isOwnSender: true }).kind

test('a refused login is the account’s fault, one that fails for now is not', () => {
  assert.equal(kindOf(failure({ code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' })), 'misconfigured')
  assert.equal(kindOf(failure({ code: 'EAUTH', command: 'API' })), 'misconfigured')
  assert.equal(kindOf(failure({ code: 'EAUTH', responseCode: 454, command: 'AUTH PLAIN' })), 'busy')
})

test('a server that turns us away at its door would do so with every message', () => {
  assert.equal(kindOf(failure({ code: 'EPROTOCOL', responseCode: 554, command: 'CONN' })), 'misconfigured')
  assert.equal(kindOf(failure({ code: 'EPROTOCOL', responseCode: 421, command: 'CONN' })), 'busy')
})

test('a reply counts however far the content had come, silence does not', () => {
  assert.equal(kindOf(failure({ code: 'EMESSAGE', responseCode: 451, command: 'DATA' }), true), 'busy')
  assert.equal(kindOf(failure({ code: 'EMESSAGE', responseCode: 554, command: 'DATA' }), true), 'refused')
  for (const code of ['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EPROTOCOL']) {
    assert.equal(kindOf(failure({ code }), true), 'unsure', code)
    assert.equal(kindOf(failure({ code }), false), 'busy', code)
  }
})

test('not now: said of a recipient it is about that one; a server that hangs up, or says nothing, is down', () => {
  const outcomeOf = (facts: object, mayBeTaken = false) =>
    outcomeOfSmtpFailure(failure(facts), { mayBeTaken, isOwnSender: true })
  for (const responseCode of [450, 451, 452]) {
    const greylisted = outcomeOf({ code: 'EENVELOPE', responseCode, command: 'RCPT TO' })
    assert.deepEqual(greylisted, { kind: 'busy', detail: 'said so', ofRecipient: true })
    for (const command of ['MAIL FROM', 'DATA', 'EHLO', 'AUTH PLAIN']) {
      assert.deepEqual(outcomeOf({ responseCode, command }), { kind: 'busy', detail: 'said so' }, command)
    }
  }
  for (const command of ['CONN', 'MAIL FROM', 'RCPT TO', 'DATA']) {
    assert.deepEqual(outcomeOf({ responseCode: 421, command }), { kind: 'busy', detail: 'said so', down: true })
  }
  for (const code of ['ECONNECTION', 'EDNS', 'ETLS', 'ESOCKET', 'ETIMEDOUT', undefined]) {
    assert.deepEqual(outcomeOf({ code }), { kind: 'busy', detail: 'said so', down: true }, code)
    assert.deepEqual(outcomeOf({ code }, true), { kind: 'unsure', detail: 'said so', down: true }, code)
  }
  assert.deepEqual(outcomeOf({ code: noConnectionCode }), { kind: 'busy', detail: 'said so' })
})

test('a host we do not call is a mistake of the account, one that is unknown may be there later', () => {
  assert.equal(kindOf(new OutboundError('refused-address', 'no')), 'misconfigured')
  assert.equal(kindOf(new OutboundError('not-sent', 'no')), 'busy')
})

test('only a mailbox that is not there makes the recipient bad', () => {
  const reasonOf = (responseCode: number): unknown => {
    const error = failure({ code: 'EENVELOPE', responseCode, command: 'RCPT TO' })
    const outcome = outcomeOfSmtpFailure(error, { mayBeTaken: false, isOwnSender: true })
    return outcome.kind === 'refused' && outcome.reason
  }
  assert.deepEqual([550, 551, 553, 552, 554].map(reasonOf), [
    'bad-recipient',
    'bad-recipient',
    'bad-recipient',
    'other',
    'other',
  ])
})

test('the words are one line', () => {
  const outcome = outcomeOfSmtpFailure(failure({ code: 'ECONNECTION' }), { mayBeTaken: false, isOwnSender: true })
  assert.deepEqual(outcome, { kind: 'busy', detail: 'said so', down: true })
})

test('a mailbox of Exchange Online that may not send is the account’s fault, whenever it is reported', () => {
  const kindOf = (response: string, isOwnSender = true): string =>
    outcomeOfSmtpFailure(
      failure({ code: 'EMESSAGE', responseCode: Number(response.slice(0, 3)), command: 'DATA', response }),
      { mayBeTaken: true, isOwnSender },
    ).kind
  assert.equal(kindOf('550 5.7.60 SMTP; Client does not have permissions to send as this sender'), 'misconfigured')
  assert.equal(kindOf('554 5.2.252 SendAsDenied; hello@example.com not allowed to send as …'), 'misconfigured')
  assert.equal(kindOf('550 5.7.30 Basic authentication is not supported'), 'misconfigured')
  assert.equal(kindOf('550 5.7.60 SMTP; Client does not have permissions to send as this sender', false), 'refused')
  assert.equal(kindOf('550 5.7.1 Message rejected as spam'), 'refused')
})
