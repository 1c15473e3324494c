// A custom step's call: when it is repeated, and what is kept of an answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callResultOf, callsMax, customMistakes, customTexts, nextCallAt, resultBytesMax } from './custom-call.ts'

const now = new Date('2024-05-10T10:00:00.000Z')
const waitMs = (calls: number, more: { random?: number; retryAfterMs?: number } = {}): number | undefined => {
  const at = nextCallAt(calls, { now, random: 1, ...more })
  return at && at.getTime() - now.getTime()
}

test('a busy service is called five times within ten minutes', () => {
  const waits = Array.from({ length: callsMax }, (_, index) => waitMs(index + 1))
  assert.deepEqual(waits, [5_000, 30_000, 120_000, 445_000, undefined])
  assert.equal(waitMs(2, { random: 0.5 }), 15_000)
  assert.equal(waitMs(2, { random: 0 }), 0)
})

test('a service that asks for a longer wait gets as much as is left', () => {
  assert.equal(waitMs(1, { random: 0, retryAfterMs: 60_000 }), 60_000)
  assert.equal(waitMs(1, { random: 0, retryAfterMs: 86_400_000 }), 600_000)
  assert.equal(waitMs(4, { random: 0, retryAfterMs: 86_400_000 }), 445_000)
  assert.equal(waitMs(5, { random: 0, retryAfterMs: 1_000 }), undefined)
})

test('an answer is kept if it is a JSON object', () => {
  assert.deepEqual(callResultOf('{"ok":true,"list":[1,{"a":null}]}'), { ok: true, list: [1, { a: null }] })
  assert.deepEqual(callResultOf('{}'), {})
  for (const text of ['', 'OK', '[1]', '"text"', 'null', '5', '{"a":'])
    assert.equal(callResultOf(text), undefined, text)
})

test('an answer that no database takes is cleaned, and one too large or too deep is not kept', () => {
  assert.deepEqual(callResultOf('{"a\\u0000":"x\\u0000y","b":["\\ud800"]}'), { a: 'xy', b: ['\ufffd'] })
  assert.deepEqual(Object.keys(callResultOf('{"__proto__":{"x":1}}') ?? {}), ['__proto__'])
  const ofLength = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`
  assert.deepEqual(Object.keys(callResultOf(ofLength(resultBytesMax)) ?? {}), ['a'])
  assert.equal(callResultOf(ofLength(resultBytesMax + 1)), undefined)
  assert.equal(callResultOf(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`), undefined)
  assert.notEqual(callResultOf(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`), undefined)
})

test('every text that is a template is found with its path', () => {
  assert.deepEqual(customTexts({ type: 'http', url: 'u', headers: { X: 'h' }, body: { a: ['t', 5], b: { c: 'd' } } }), [
    { path: 'metadata.url', text: 'u' },
    { path: 'metadata.headers.X', text: 'h' },
    { path: 'metadata.body.a.0', text: 't' },
    { path: 'metadata.body.b.c', text: 'd' },
  ])
})

test('a template may stand in the path and the query of an address, and never in its host', () => {
  const errorsFor = (url: string) =>
    customMistakes({ type: 'http', url }).map(({ path, message }) => `${path} ${message}`)
  for (const url of [
    'https://api.example.com/{{ payload.id }}',
    'HTTP://api.example.com:8080/a/{{ payload.id }}?b={{ payload.b }}',
    'https://api.example.com?id={{ payload.id }}',
    ' https://[::1]/{% if payload.id %}a{% endif %}',
    'https://api.example.com/{id}',
  ])
    assert.deepEqual(errorsFor(url), [], url)
  for (const url of [
    'https://{{ payload.host }}/hooks',
    'https://{{payload.host}}',
    '{{ payload.url }}',
    '{% if payload.a %}https://a.example{% endif %}/',
    'https://api.example.com{{ payload.path }}',
    'https://api.example.com:{{ payload.port }}/',
    'https://{{ payload.tenant }}.example.com/',
    'https:///{{ payload.host }}/',
    'https:{{ payload.host }}/',
    'https:/{{ payload.host }}/',
    'https://user@{{ payload.host }}/',
    'https:\\\\{{ payload.host }}/',
    '//{{ payload.host }}/',
  ])
    assert.match(errorsFor(url).join(), /^metadata\.url must have a host without a template/, url)
  assert.match(errorsFor('ftp://api.example.com/{{ payload.id }}').join(), /must be an http or https URL/)
  assert.match(errorsFor('https://user:pass@api.example.com/{{ payload.id }}').join(), /user name or a password/)
})
