// What a caller gets for a request that is no good: always a 4xx with the error body, never a 5xx, never half a write.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sql } from '../../src/db/sql.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const json = { 'content-type': 'application/json' }

/** A body as bytes, just as written. */
function send(method: string, path: string, body: string | Buffer, headers: Record<string, string> = json) {
  return app.call(method, path, { body, headers })
}

function assertError(reply: TestReply, status: number, path: string, what = ''): void {
  assert.equal(reply.status, status, `${what} ${reply.text.slice(0, 300)}`)
  assert.equal(reply.body.statusCode, status)
  assert.equal(reply.body.path, path)
  assert.equal(reply.body.timestamp, app.world.now().toISOString())
  assert.equal(typeof reply.body.message, 'string')
  assert.notEqual(reply.body.message, '')
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  if (status === 422) assert.equal(typeof reply.body.errors, 'object')
}

async function tenantCount(): Promise<number> {
  return (await app.database.db.row<{ count: number }>(sql`select count(*) from tenants`))?.count ?? 0
}

const tenants = '/v1/tenants'

test('a body that is not JSON is 400', async () => {
  const before = await tenantCount()
  const bodies = [
    '{',
    '{"identifier": "a",}',
    "{'identifier': 'a'}",
    'identifier=a',
    '{"identifier": "a"} {}',
    'undefined',
  ]
  for (const body of [...bodies, '{"identifier": NaN}', '{"identifier": "a\u0000"}', '\u0000', ' ', '[', '"'])
    assertError(await send('POST', tenants, body), 400, tenants, body)
  assert.equal(await tenantCount(), before)
})

test('a body of the wrong type is 422, and so is none at all', async () => {
  for (const body of ['null', '[]', '5', '"text"', 'true', '[{"identifier": "a"}]'])
    assertError(await send('POST', tenants, body), 422, tenants, body)
  assertError(await app.call('POST', tenants), 422, tenants, 'no body')
  assertError(await send('POST', tenants, ''), 422, tenants, 'an empty body')
})

test('every member of the wrong type is named at once, with its value', async () => {
  const path = '/v2/subscribers'
  const body = { subscriberId: 5, firstName: {}, email: 'none', timezone: 'Mars/Phobos', locale: '!', data: 'x' }
  const reply = await app.call('POST', path, { body })
  assertError(reply, 422, path)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), [
    'data',
    'email',
    'firstName',
    'locale',
    'subscriberId',
    'timezone',
  ])
  assert.equal(reply.body.errors.email.value, 'none')
  assert.equal(reply.body.errors.subscriberId.value, 5)
})

test('what is wrong with the path, the body and the query is named in one answer', async () => {
  const path = '/v2/subscribers?failIfExists=maybe'
  const both = await app.call('POST', path, { body: { subscriberId: 5 } })
  assertError(both, 422, path)
  assert.deepEqual(both.body.errors, {
    subscriberId: { messages: ['subscriberId must be string'], value: 5 },
    failIfExists: { messages: ['failIfExists must be boolean'], value: 'maybe' },
  })
  const named = await app.call('PUT', '/v1/integrations/none', { body: { name: 5, active: 'yes' } })
  assert.deepEqual(Object.keys(named.body.errors), ['integrationId', 'name', 'active'])
  const feed = await app.call('GET', `/v1/subscribers/${'x'.repeat(256)}/notifications/feed?limit=0`)
  assert.deepEqual(Object.keys(feed.body.errors), ['subscriberId', 'limit'])
  const onlyQuery = await app.call('POST', path, { body: { subscriberId: 'ada' } })
  assert.deepEqual(Object.keys(onlyQuery.body.errors), ['failIfExists'])
})

test('anything but JSON is 415', async () => {
  const body = '{"identifier": "typed"}'
  const types = ['text/plain', 'application/xml', 'multipart/form-data', 'application/x-www-form-urlencoded']
  for (const type of [
    ...types,
    'application/jsonp',
    'json',
    'application/json-seq',
    '',
    ';',
    'application/octet-stream',
  ])
    assertError(await send('POST', tenants, body, { 'content-type': type }), 415, tenants, type)
  assert.equal((await app.call('GET', `${tenants}/typed`)).status, 404)
})

test('a form without content is no body, as some clients send it', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }
  assert.equal((await send('DELETE', `${tenants}/none`, '', headers)).status, 404)
  assert.equal((await send('POST', tenants, '', headers)).status, 422)
})

test('JSON under its other names and with parameters is taken', async () => {
  const types = [
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/vnd.api+json',
  ]
  for (const [index, type] of types.entries()) {
    const reply = await send('POST', tenants, JSON.stringify({ identifier: `named-${index}` }), {
      'content-type': type,
    })
    assert.equal(reply.status, 201, type)
  }
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"identifier": "marked"}')])
  assert.equal((await send('POST', tenants, marked)).status, 201)
})

test('a compressed body is 415, whatever it is compressed with; identity is none', async () => {
  const body = gzipSync('{"identifier": "packed"}')
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'x-unknown', 'gzip, identity'])
    assertError(await send('POST', tenants, body, { ...json, 'content-encoding': encoding }), 415, tenants, encoding)
  assertError(await send('POST', tenants, body), 400, tenants, 'gzip that is not said')
  const plain = await send('POST', tenants, '{"identifier": "plain"}', { ...json, 'content-encoding': 'identity' })
  assert.equal(plain.status, 201)
})

test('a body of more than 1 MB is 413, one of just 1 MB is read', async () => {
  const limit = 1024 * 1024
  const frame = '{"identifier":"large","data":{"x":""}}'
  const bodyOf = (bytes: number) => `${frame.slice(0, -3)}${'x'.repeat(bytes - frame.length)}${frame.slice(-3)}`
  assertError(await send('POST', tenants, bodyOf(limit + 1)), 413, tenants)
  assert.equal((await app.call('GET', `${tenants}/large`)).status, 404)
  assert.equal((await send('POST', tenants, bodyOf(limit))).status, 201)
})

test('a body nested 5,000 levels deep is 400; 100 levels are stored and read back', async () => {
  const nested = (levels: number) =>
    `{"identifier":"deep-${levels}","data":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`
  assertError(await send('POST', tenants, nested(5000)), 400, tenants)
  assertError(await send('POST', tenants, `${'['.repeat(5000)}${']'.repeat(5000)}`), 400, tenants)
  assertError(await send('POST', tenants, '['.repeat(500_000)), 400, tenants)
  const done = await send('POST', tenants, nested(99))
  assert.equal(done.status, 201)
  assert.deepEqual((await app.call('GET', `${tenants}/deep-99`)).body, done.body)
  const brackets = { identifier: 'brackets', data: { text: `${'['.repeat(200)}\\"${'{'.repeat(200)}` } }
  assert.equal((await app.call('POST', tenants, { body: brackets })).status, 201, 'brackets in text do not count')
})

test('members that would poison a prototype are 400, wherever they stand', async () => {
  const bodies = [
    '{"identifier":"p","__proto__":{"polluted":1}}',
    '{"identifier":"p","data":{"__proto__":{"polluted":1}}}',
    '{"identifier":"p","data":{"\\u005f_proto__":{"polluted":1}}}',
    '{"identifier":"p","data":{"constructor":{"prototype":{"polluted":1}}}}',
    '{"identifier":"p","data":{"deep":[{"constructor":{"prototype":{}}}]}}',
  ]
  for (const body of bodies) assertError(await send('POST', tenants, body), 400, tenants, body)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal((await app.call('GET', `${tenants}/p`)).status, 404)
})

test('names that every object has are plain members of data', async () => {
  const data = { constructor: 'x', toString: 1, hasOwnProperty: null, valueOf: [] }
  const reply = await app.call('POST', tenants, { body: { identifier: 'plain-names', data } })
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body.data, data)
})

test('NUL and half a surrogate pair are 422, in values, names, queries and paths', async () => {
  const bodies = [
    '{"identifier":"n\\u0000"}',
    '{"identifier":"n","name":"\\ud800"}',
    '{"identifier":"n","data":{"a":["x","\\u0000"]}}',
    '{"identifier":"n","data":{"\\u0000":1}}',
    '{"identifier":"n","data":{"\\udc00":1}}',
    '{"identifier":"n","data":{"\\udc00\\ud800":1}}',
    '{"identifier":"n","unknown":"\\u0000"}',
  ]
  for (const body of bodies) {
    const reply = await send('POST', tenants, body)
    assertError(reply, 422, tenants, body)
    assert.equal(reply.text.includes('\u0000'), false)
    assert.ok(reply.text.isWellFormed())
  }
  for (const path of ['/v2/subscribers?email=a%00b', '/v2/subscribers/a%00b', `${tenants}/%00`])
    assertError(await app.call('GET', path), 422, path)
  assert.equal((await app.call('GET', `${tenants}/n`)).status, 404)
  const whole = await send('POST', tenants, '{"identifier":"pair","name":"\\ud83d\\ude00"}')
  assert.equal(whole.body.name, '😀')
})

test('a very long name of a member is not repeated to the caller in full', async () => {
  const reply = await send('POST', tenants, `{"identifier":"n","data":{"${'x'.repeat(100_000)}":"\\u0000"}}`)
  assertError(reply, 422, tenants)
  assert.ok(reply.text.length < 2000)
})

test('a body that is not UTF-8 is 400', async () => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
    const body = Buffer.concat([Buffer.from('{"identifier":"utf'), Buffer.from(bytes), Buffer.from('"}')])
    assertError(await send('POST', tenants, body), 400, tenants, bytes.join())
  }
  assertError(await send('POST', tenants, Buffer.from('{"identifier":"wide"}', 'utf16le')), 400, tenants)
})

test('a path that cannot be decoded is 400 with the error body and all its headers', async () => {
  for (const path of [`${tenants}/%FF`, `${tenants}/%`, `${tenants}/%zz`, '/%FF', `${tenants}/%ED%A0%80`]) {
    const reply = await app.call('GET', path)
    assertError(reply, 400, path)
    assert.match(String(reply.headers['x-request-id']), /^[\w-]+$/)
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
  }
})

test('a query that cannot be decoded is 400, an odd one is read as far as it goes', async () => {
  for (const query of ['email=%FF', 'email=%', 'email=%zz', '%FF=1', 'other=%C3%28']) {
    const reply = await app.call('GET', `/v2/subscribers?${query}`)
    assert.equal(reply.status, 400, query)
    assert.equal(reply.body.message, 'The query string is not valid percent-encoded UTF-8')
  }
  for (const query of ['&&==&', '?', '[]=1', '__proto__=1', '__proto__[]=1', 'email=%C3%BC+%2B']) {
    assert.equal((await app.call('GET', `/v2/subscribers?${query}`)).status, 200, query)
  }
})

test('ids that look like paths, patterns or SQL are ids, and are not found', async () => {
  const ids = ['../../etc/passwd', "'; drop table tenants; --", '%', '_', '*', '$1', '{{7*7}}', '\\', '"', '<x>']
  for (const id of [...ids, 'a/b', 'a?b', 'a#b', ' ', '__proto__', 'constructor', 'null', '0', '-1', '😀']) {
    const path = `${tenants}/${encodeURIComponent(id)}`
    const reply = await app.call('GET', path)
    assertError(reply, 404, path, id)
    assert.equal(reply.body.message, `Tenant with identifier ${id} not found`)
  }
  await app.call('POST', tenants, { body: { identifier: "'; drop table tenants; --" } })
  assert.equal((await app.call('GET', `${tenants}/${encodeURIComponent("'; drop table tenants; --")}`)).status, 200)
})

test('an id longer than any id can be is a 4xx', async () => {
  for (const length of [256, 4096, 4097, 12_000]) {
    const path = `${tenants}/${'x'.repeat(length)}`
    const reply = await app.call('GET', path)
    assertError(reply, reply.status, path)
    assert.ok(reply.status >= 400 && reply.status < 500)
  }
})

test('a scalar parameter given twice is 422; a limit that is none, too', async () => {
  const queries = [
    'limit=1&limit=2',
    'limit[]=1&limit[]=2',
    'limit=1&limit[]=2',
    'email=a&email=b',
    'orderBy=_id&orderBy=_id',
  ]
  const limits = [
    '',
    '0',
    '-1',
    '101',
    '1.5',
    'x',
    'NaN',
    'Infinity',
    '1e999',
    '99999999999999999999',
    'null',
    'true',
    '%20',
    '1;2',
  ]
  for (const query of [
    ...queries,
    ...limits.map((limit) => `limit=${limit}`),
    'includeCursor=yes',
    'orderDirection=up',
  ]) {
    const path = `/v2/subscribers?${query}`
    const reply = await app.call('GET', path)
    assertError(reply, 422, path)
  }
})

test('a single value may be written as a list of one', async () => {
  const reply = await app.call('GET', '/v2/subscribers?limit[]=1')
  assert.equal(reply.status, 200)
})

test('huge page numbers are refused or empty, and numbers in data come back as JSON can hold them', async () => {
  assertError(await app.call('GET', `${tenants}?page=1000001`), 422, `${tenants}?page=1000001`)
  assert.deepEqual((await app.call('GET', `${tenants}?page=1000000&limit=100`)).body.data, [])
  const body = '{"identifier":"numbers","data":{"a":1e308,"b":1e999,"c":-1e999,"d":1e-400,"e":9007199254740993}}'
  const reply = await send('POST', tenants, body)
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body.data, { a: 1e308, b: null, c: null, d: 0, e: 9007199254740992 })
})

test('unknown parameters and members are ignored', async () => {
  assert.equal((await app.call('GET', `${tenants}?unknown=1&unknown=2&x[y]=z`)).status, 200)
  const reply = await app.call('POST', tenants, { body: { identifier: 'extra', _id: 'mine', admin: true } })
  assert.equal(reply.status, 201)
  assert.notEqual(reply.body._id, 'mine')
  assert.equal('admin' in reply.body, false)
})

test('a slash at the end changes nothing, and HEAD answers as GET without a body', async () => {
  const list = await app.call('GET', `${tenants}/?limit=2`)
  assert.equal(list.status, 200)
  const head = await app.call('HEAD', `${tenants}?limit=2`)
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal(head.headers['content-length'], String(Buffer.byteLength(list.text)))
  assert.equal((await app.call('HEAD', `${tenants}?limit=0`)).status, 422)
})

test('an unknown path or method is 404 and says what cannot be done; it needs no key', async () => {
  for (const [method, path] of [
    ['GET', '/x'],
    ['POST', '/health'],
    ['PUT', tenants],
    ['GET', '/v1'],
    ['OPTIONS', tenants],
    ['GET', '//x'],
  ]) {
    const reply = await app.call(method ?? '', path ?? '', { key: null })
    assertError(reply, 404, path ?? '')
    assert.equal(reply.body.message, `Cannot ${method} ${path}`)
  }
  const withQuery = await app.call('GET', '/x?secret=1')
  assert.equal(withQuery.body.message, 'Cannot GET /x')
  assertError(await send('POST', '/x', '{', json), 404, '/x', 'the body of an unknown route is not judged')
})

test('a body on GET is ignored, also one that is no JSON', async () => {
  assert.equal((await send('GET', tenants, '{')).status, 200)
  assert.equal((await send('GET', tenants, 'x', { 'content-type': 'text/plain' })).status, 200)
})

test('a wrong key is rejected before its body is read', async () => {
  const reply = await app.call('POST', tenants, { key: 'unknown', body: '{', headers: json })
  assertError(reply, 401, tenants)
})

test('an unexpected fault is 500 with an errorId that leads to the logged stack, and reports nothing else', async () => {
  const { db } = app.database
  await db.run({ text: 'alter table tenants rename column name to hidden_column', values: [] })
  const reply = await app.call('GET', `${tenants}/any`)
  await db.run({ text: 'alter table tenants rename column hidden_column to name', values: [] })
  assertError(reply, 500, `${tenants}/any`)
  assert.equal(reply.body.message, 'Internal server error, contact support and provide them with the errorId')
  assert.match(reply.body.errorId, /^[0-9a-f-]{36}$/)
  for (const word of ['column', 'select', 'tenants where', 'node_modules', '.ts', 'at ']) {
    assert.equal(reply.text.includes(word), false, `the body says "${word}"`)
  }
  const line = app.world.logged.find(({ facts }) => (facts as { errorId?: string }).errorId === reply.body.errorId)
  assert.equal(line?.level, 'error')
  const { err, requestId } = (line?.facts ?? {}) as { err: Error; requestId: string }
  assert.match(err.stack ?? '', /column "name" does not exist[\s\S]*\n\s+at /)
  assert.equal(requestId, reply.headers['x-request-id'])
})

test('a database that cannot serve is 503, to be tried again, and nothing is kept', async () => {
  const { db } = app.database
  await db.run({
    text: `create function stopping() returns trigger language plpgsql as
           $$ begin raise exception 'the database system is shutting down' using errcode = '57P03'; end $$;
           create trigger stopping after insert on tenants for each row execute function stopping()`,
    values: [],
  })
  const reply = await app.call('POST', tenants, { body: { identifier: 'away' } })
  await db.run({ text: 'drop function stopping() cascade', values: [] })
  assertError(reply, 503, tenants)
  assert.equal(reply.headers['retry-after'], '1')
  assert.equal((await app.call('GET', `${tenants}/away`)).status, 404)
})
