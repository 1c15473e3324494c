// Sessions of the inbox: who needs a hash, and what it is made over.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { isSignedByOne, needsSubscriberHash, signedText } from './inbox.ts'

const named = (name: string) => ({ id: '1', organizationId: '2', name })
const saying = (...words: unknown[]) =>
  words.map((hmac) => ({ credentials: (hmac === undefined ? {} : { hmac }) as Record<string, boolean> }))

test('Production needs a hash unless every in-app integration says no; Development only where one says yes', () => {
  const production = named('Production')
  assert.equal(needsSubscriberHash(production, saying(undefined)), true)
  assert.equal(needsSubscriberHash(production, saying(true)), true)
  assert.equal(needsSubscriberHash(production, saying(false)), false)
  assert.equal(needsSubscriberHash(production, saying(false, undefined)), true)
  assert.equal(needsSubscriberHash(named('Staging'), saying(undefined)), true)
  const development = named('Development')
  assert.equal(needsSubscriberHash(development, saying(undefined)), false)
  assert.equal(needsSubscriberHash(development, saying(false)), false)
  assert.equal(needsSubscriberHash(development, saying(undefined, true)), true)
})

test('a hash counts in lower-case hex, under any of the keys', () => {
  const hash = createHmac('sha256', 'second').update('ada').digest('hex')
  assert.equal(isSignedByOne(['first', 'second'], 'ada', hash), true)
  assert.equal(isSignedByOne(['first'], 'ada', hash), false)
  assert.equal(isSignedByOne(['second'], 'bob', hash), false)
  assert.equal(isSignedByOne(['second'], 'ada', hash.toUpperCase()), false)
  assert.equal(isSignedByOne(['second'], 'ada', ''), false)
  assert.equal(isSignedByOne([], 'ada', hash), false)
})

test('a context is signed as canonical JSON: sorted, without spaces, little escaped', () => {
  const context = { tenant: 'acme', app: { id: 'ji"r\\a', data: { plan: 'pro', places: 3, on: true, none: null } } }
  assert.equal(
    signedText(context),
    '{"app":{"data":{"none":null,"on":true,"places":3,"plan":"pro"},"id":"ji\\"r\\\\a"},"tenant":"acme"}',
  )
  assert.equal(signedText({ b: ['ü\n', 1], a: {} }), '{"a":{},"b":["ü\n",1]}')
})

test('what has no canonical text has no hash', () => {
  assert.equal(signedText({ a: { price: 1.5 } }), undefined)
  assert.equal(signedText([() => 1]), undefined)
})
