// Unsubscribe tokens: they say whom they are for, and nothing of them can be changed.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { linkBaseOf, readUnsubscribeToken, unsubscribeUrlOf, writeUnsubscribeToken } from './unsubscribe-token.ts'

const secret = Buffer.from('secret of one environment')
const other = Buffer.from('secret of another')
const unsubscription = {
  environmentId: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21',
  subscriberId: '019b7c7a-2d0e-7a3b-8f10-000000000000',
  workflowId: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
}
const token = writeUnsubscribeToken(unsubscription, secret)

test('a token says what it was written for, in characters that an address can hold', () => {
  const read = readUnsubscribeToken(token)
  assert.deepEqual(read?.claimed, unsubscription)
  assert.equal(read?.isSignedWith(secret), true)
  assert.match(token, /^[\w-]+$/)
  assert.equal(writeUnsubscribeToken(unsubscription, secret), token)
})

test('another secret does not fit', () => {
  assert.equal(readUnsubscribeToken(token)?.isSignedWith(other), false)
})

test('a token of which any one character was changed is none', () => {
  for (let place = 0; place < token.length; place += 1) {
    for (const character of ['A', 'b', '_', '9']) {
      if (token[place] === character) continue
      const altered = `${token.slice(0, place)}${character}${token.slice(place + 1)}`
      assert.notEqual(readUnsubscribeToken(altered)?.isSignedWith(secret), true, `${place} ${character}`)
    }
  }
})

test('what is too short, too long, or written otherwise is no token', () => {
  for (const text of ['', 'x', token.slice(1), `${token}A`, `${token}=`, `${token.slice(0, -1)}+`, `${token} `]) {
    assert.equal(readUnsubscribeToken(text), undefined, text)
  }
})

test('a token of another version is not read, though its signature were right', () => {
  const bytes = Buffer.from(token, 'base64url')
  bytes[0] = 2
  const content = bytes.subarray(0, 49)
  createHmac('sha256', secret).update('posthorn unsubscribe\n').update(content).digest().copy(bytes, 49, 0, 16)
  assert.equal(readUnsubscribeToken(bytes.toString('base64url')), undefined)
})

test('the signature is one for this purpose alone', () => {
  const bytes = Buffer.from(token, 'base64url')
  createHmac('sha256', secret).update(bytes.subarray(0, 49)).digest().copy(bytes, 49, 0, 16)
  assert.equal(readUnsubscribeToken(bytes.toString('base64url'))?.isSignedWith(secret), false)
})

test('links point to https, or to this machine; to nothing else', () => {
  assert.equal(linkBaseOf('https://posthorn.example.com'), 'https://posthorn.example.com')
  assert.equal(linkBaseOf('https://example.com/posthorn/'), 'https://example.com/posthorn')
  assert.equal(linkBaseOf('http://localhost:3000'), 'http://localhost:3000')
  assert.equal(linkBaseOf('http://127.0.0.1:3000'), 'http://127.0.0.1:3000')
  for (const base of [undefined, '', '/', 'http://example.com', 'http://10.0.0.1', 'http://localhost.example.com']) {
    assert.equal(linkBaseOf(base), undefined, base)
  }
  assert.equal(linkBaseOf('https://example.com/?a=b'), undefined)
  assert.equal(unsubscribeUrlOf('https://example.com', token), `https://example.com/v1/unsubscribe/${token}`)
})
