// Signing keys: none for two purposes, old ones good for ever where links are, and an overlap where others verify.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReplyAddress, writeReplyAddress } from '../messages/reply-address.ts'
import { readUnsubscribeToken, writeUnsubscribeToken } from '../preferences/unsubscribe-token.ts'
import type { SigningVersion } from './signing-keys.ts'
import { SigningKeys } from './signing-keys.ts'

const first: SigningVersion = { version: 1, secret: 'ab'.repeat(32), createdAt: new Date('2026-01-01T00:00:00Z') }
const second: SigningVersion = { version: 2, secret: 'cd'.repeat(32), createdAt: new Date('2026-06-01T00:00:00Z') }
const third: SigningVersion = { version: 3, secret: 'ef'.repeat(32), createdAt: new Date('2026-06-03T00:00:00Z') }
const id = '0197f3a0-0000-7000-8000-000000000001'
const unsubscription = { environmentId: id, subscriberId: id, workflowId: id }

const verifies = (keys: SigningKeys, token: string): boolean =>
  keys.tokenKeys('unsubscribe').some((key) => readUnsubscribeToken(token)?.isSignedWith(key))

test('every purpose and version has a key of its own', () => {
  const keys = new SigningKeys([first, second])
  const all = [
    ...keys.tokenKeys('unsubscribe').slice(0, 2),
    ...keys.tokenKeys('reply').slice(0, 2),
    ...keys.callKeys(second.createdAt).map(({ text }) => Buffer.from(text)),
  ].map((key) => key.toString('hex'))
  assert.equal(new Set(all).size, 6)
})

test('a token of any version verifies forever, and so does one from before there were versions', () => {
  const rotated = new SigningKeys([first, second, third])
  for (const versions of [[first], [first, second], [first, second, third]]) {
    const token = writeUnsubscribeToken(unsubscription, new SigningKeys(versions).tokenKey('unsubscribe'))
    assert.equal(verifies(rotated, token), true)
    const reply = writeReplyAddress(id, 'example.com', new SigningKeys(versions).tokenKey('reply'))
    assert.equal(readReplyAddress([reply], rotated.tokenKeys('reply')), id)
  }
  const raw = Buffer.from(first.secret)
  assert.equal(verifies(rotated, writeUnsubscribeToken(unsubscription, raw)), true)
  assert.equal(readReplyAddress([writeReplyAddress(id, 'example.com', raw)], rotated.tokenKeys('reply')), id)
  // Not one that is signed with what signs calls, nor with the key of another purpose.
  assert.equal(verifies(rotated, writeUnsubscribeToken(unsubscription, rotated.tokenKey('reply'))), false)
  assert.equal(verifies(rotated, writeUnsubscribeToken(unsubscription, Buffer.from(second.secret))), false)
})

test('until the first rotation tokens are signed with what nodes of an older version verify', () => {
  const keys = new SigningKeys([first])
  for (const purpose of ['unsubscribe', 'reply'] as const) {
    assert.deepEqual(keys.tokenKey(purpose), Buffer.from(first.secret))
    assert.equal(keys.tokenKeys(purpose).length, 2, 'and the derived key is verified as well')
  }
  const rotated = new SigningKeys([first, second])
  assert.deepEqual(rotated.tokenKey('reply'), rotated.tokenKeys('reply')[0])
})

test('calls are signed with the shown secret until it is rotated, and for a while after', () => {
  const versionsAt = (versions: SigningVersion[], at: string) =>
    new SigningKeys(versions).callKeys(new Date(at)).map(({ version }) => version)
  assert.deepEqual(new SigningKeys([first]).callKeys(new Date()), [{ version: 1, text: first.secret }])
  assert.deepEqual(versionsAt([first, second], '2026-06-07T23:59:59Z'), [2, 1])
  assert.deepEqual(versionsAt([first, second], '2026-06-08T00:00:00Z'), [2])
  assert.deepEqual(versionsAt([first, second, third], '2026-06-05T00:00:00Z'), [3, 2, 1])
  assert.deepEqual(versionsAt([first, second, third], '2026-06-09T00:00:00Z'), [3, 2])
  assert.match(new SigningKeys([first, second]).callKeys(second.createdAt)[0]?.text ?? '', /^whsec_[\w+/]{43}=$/)
})
