// Passthroughs: what is merged into a request, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passthrough } from '../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../world/world.ts'
import { withPassthrough } from './passthrough.ts'

const json: OutboundRequest = {
  url: 'https://vendor.example/send?a=%20b#part',
  method: 'POST',
  headers: { Authorization: 'Bearer secret', 'Content-Type': 'application/json; charset=utf-8', 'x-api-key': 'secret' },
  body: JSON.stringify({ text: 'hi', nested: { a: 1, b: { c: 2 } }, list: [1, 2] }),
}
const form: OutboundRequest = {
  ...json,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'To=%2B1&Body=hi',
}

const recipients = ['To', 'message.token']

function merged(request: OutboundRequest, passthrough: Passthrough): OutboundRequest {
  const result = withPassthrough(request, passthrough, recipients)
  assert.ok('url' in result, JSON.stringify(result))
  return result
}

function refusal(passthrough: unknown, request = json): string {
  const result = withPassthrough(request, passthrough as Passthrough, recipients)
  assert.ok('kind' in result && result.kind === 'refused' && result.reason === 'bad-content', JSON.stringify(result))
  return result.detail
}

test('without a passthrough the request is the same, and an empty one changes nothing that is sent', () => {
  assert.equal(withPassthrough(json, undefined, recipients), json)
  const { url, method, body } = merged(json, {})
  assert.deepEqual([url, method, body], [json.url, json.method, json.body])
})

test('objects of a JSON body merge, lists and everything else are replaced', () => {
  const { body } = merged(json, { body: { nested: { b: { d: 3 }, a: null }, list: [3], text: 'ho', more: { x: [] } } })
  assert.deepEqual(JSON.parse(String(body)), {
    text: 'ho',
    nested: { a: null, b: { c: 2, d: 3 } },
    list: [3],
    more: { x: [] },
  })
})

test('a member called __proto__ is a member like any other', () => {
  const given = JSON.parse('{"body":{"__proto__":{"polluted":true}}}')
  const { body } = merged(json, given)
  assert.match(String(body), /"__proto__":\{"polluted":true\}/)
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
})

test('members of a form are set, lists repeat, and an object has no place in it', () => {
  const { body } = merged(form, { body: { Body: 'ho', MediaUrl: ['a', 'b'], Flag: true } })
  assert.equal(body, 'To=%2B1&Body=ho&MediaUrl=a&MediaUrl=b&Flag=true')
  assert.match(refusal({ body: { Body: {} } }, form), /"Body" must be a string/)
  assert.match(refusal({ body: { Body: [null] } }, form), /"Body" must be a string/)
})

test('a body that is neither takes nothing', () => {
  const { body: _, ...bodiless } = json
  for (const request of [
    bodiless,
    { ...json, body: Buffer.from('{}') },
    { ...json, body: '[1]' },
    { ...json, headers: { 'content-type': 'text/plain' } },
  ]) {
    assert.match(refusal({ body: { a: 1 } }, request), /no body/)
  }
  assert.equal('body' in merged(bodiless, { headers: { a: 'b' } }), false)
})

test('query parameters are appended, and what stood there keeps its encoding', () => {
  assert.equal(merged(json, { query: { a: 'x y', n: '1' } }).url, 'https://vendor.example/send?a=%20b&a=x+y&n=1#part')
  assert.equal(merged({ ...json, url: 'https://v.example' }, { query: { a: '&' } }).url, 'https://v.example/?a=%26')
})

test('headers are added under small letters, and accept may be another', () => {
  const { headers } = merged(json, { headers: { 'X-Team': 'ops', Accept: 'text/plain' } })
  assert.deepEqual(headers, {
    authorization: 'Bearer secret',
    'content-type': 'application/json; charset=utf-8',
    'x-api-key': 'secret',
    'x-team': 'ops',
    accept: 'text/plain',
  })
})

test('the content type is not the caller’s: a text such as "&To=" would be a parameter in a form', () => {
  for (const name of ['content-type', 'Content-Type']) {
    assert.match(refusal({ headers: { [name]: 'application/x-www-form-urlencoded' } }), /Content-Type|content-type/)
  }
})

test('a member that says where the message goes is refused by name, however it is written', () => {
  for (const name of ['To', 'to', 'TO', ' to', 'To[]', 'to[0]']) {
    for (const value of ['+4930999', ['+4930999'], null]) {
      const words = refusal({ body: { [name]: value } }, form)
      assert.ok(words.includes(JSON.stringify(name)), words)
      assert.doesNotMatch(words, /4930999/)
    }
  }
  assert.match(refusal({ body: { to: 'x' } }), /"to" cannot be set: the message determines its recipient/)
})

test('a path below members is refused, and so is what takes the place of a member above it', () => {
  assert.match(refusal({ body: { message: { token: 'x' } } }), /"message\.token"/)
  assert.match(refusal({ body: { Message: { TOKEN: 'x' } } }), /"Message\.TOKEN"/)
  for (const message of [null, 'x', [{ token: 'x' }]]) assert.match(refusal({ body: { message } }), /"message"/)
})

test('members beside those that say where the message goes are merged', () => {
  const { body } = merged(json, { body: { Tone: 'a', token: 'b', message: { data: { token: 'c', To: 'd' } } } })
  const { Tone, token, message } = JSON.parse(String(body))
  assert.deepEqual([Tone, token, message], ['a', 'b', { data: { token: 'c', To: 'd' } }])
})

test('a query parameter of the same name is refused: some vendors read it wherever it stands', () => {
  assert.match(refusal({ query: { to: 'x' } }), /query parameter "to"/)
  assert.match(refusal({ query: { 'message.token': 'x' } }), /"message\.token"/)
  assert.match(merged(json, { query: { token: 'x' } }).url, /token=x/)
})

test('a passthrough with members called like those of an outcome is none', () => {
  const { headers } = merged(json, { headers: { kind: 'refused', detail: 'x', reason: 'other' } })
  assert.equal(headers['kind'], 'refused')
})

test('headers that the connection, the account or the signature decides are refused by name, not by value', () => {
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'AUTHORIZATION',
    'Proxy-Authorization',
    'Idempotency-Key',
    'X-Posthorn-Signature',
    'X-Api-Key',
  ]) {
    const words = refusal({ headers: { [name]: 'hunter2' } })
    assert.ok(words.includes(name), words)
    assert.doesNotMatch(words, /hunter2/)
  }
})

test('a header that could begin another line is refused', () => {
  for (const [name, value] of [
    ['X-A', 'a\r\nHost: b'],
    ['X-A', 'ü'],
    ['X A', 'a'],
    ['X-A\r\n', 'a'],
    ['', 'a'],
  ] as const) {
    refusal({ headers: { [name]: value } })
  }
})

test('what is of another shape is refused', () => {
  for (const wrong of [
    null,
    'x',
    [],
    { body: [] },
    { body: 'x' },
    { headers: [] },
    { query: 'a=b' },
    { query: null },
    { headers: { a: {} } },
    { query: { a: ['b'] } },
    { query: { a: null } },
  ]) {
    refusal(wrong)
  }
})

test('what is too large, too deep or too many is refused', () => {
  assert.match(refusal({ body: { a: 'x'.repeat(70_000) } }), /larger than 65536 bytes/)
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)
  assert.match(refusal({ body: deep }), /nested/)
  const many = Object.fromEntries(Array.from({ length: 51 }, (_item, index) => [`h${index}`, 'x']))
  assert.match(refusal({ headers: many }), /more than 50 headers/)
  assert.match(refusal({ query: many }), /more than 50 query parameters/)
  assert.match(refusal({ query: { a: 'x'.repeat(5_000) } }), /at most 4096/)
})
