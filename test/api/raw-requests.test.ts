// Requests over a real connection that no client library would send: each gets an answer with the error body.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen, openRaw, readAnswer, sendRaw } from '../support/raw-socket.ts'

let app: TestApp
let port: number
before(async () => {
  app = await createTestApp()
  port = await listen(app)
})
after(() => app.close())

function head(requestLine: string, headers: Record<string, string> = {}): string {
  const all = { host: 'localhost', authorization: `ApiKey ${app.developmentKey}`, connection: 'close', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${requestLine} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function assertError(reply: TestReply, status: number): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.body.statusCode, status)
  assert.equal(reply.body.timestamp, app.world.now().toISOString())
  assert.equal(typeof reply.body.path, 'string')
  assert.ok(reply.body.message.length > 0)
  assert.equal(reply.headers['x-content-type-options'], 'nosniff')
  assert.match(String(reply.headers['x-request-id']), /^[\w-]+$/)
}

const jsonHeaders = { 'content-type': 'application/json' }

test('headers that are too large are 431', async () => {
  assertError(await sendRaw(port, head('GET /v1/tenants', { 'x-large': 'x'.repeat(20_000) })), 431)
  assertError(await sendRaw(port, head(`GET /v1/tenants?email=${'x'.repeat(20_000)}`)), 431)
})

test('what is not HTTP is 400', async () => {
  for (const bytes of ['hello\r\n\r\n', 'GET\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00', 'GET / HTTP/9.9\r\n\r\n'])
    assertError(await sendRaw(port, bytes), 400)
  assertError(await sendRaw(port, 'GET /health HTTP/1.1\r\nhost: a\r\nbad header: x\r\n\r\n'), 400)
  const smuggling = { ...jsonHeaders, 'content-length': '5', 'transfer-encoding': 'chunked' }
  assertError(await sendRaw(port, `${head('POST /v1/tenants', smuggling)}0\r\n\r\n`), 400)
})

test('a chunked body that breaks off its rules is 400, and nothing is written', async () => {
  const start = head('POST /v1/tenants', { ...jsonHeaders, 'transfer-encoding': 'chunked' })
  assertError(await sendRaw(port, `${start}17\r\n{"identifier":"chunked"}`.concat('\r\nzz\r\n')), 400)
  assert.equal((await app.call('GET', '/v1/tenants/chunked')).status, 404)
  const whole = await sendRaw(port, `${start}18\r\n{"identifier":"chunked"}\r\n0\r\n\r\n`)
  assert.equal(whole.status, 201)
})

test('a body may come a byte at a time, but not without end', async () => {
  const start = head('POST /v1/tenants', { ...jsonHeaders, 'transfer-encoding': 'chunked' })
  const bytes = (text: string): string => [...text].map((byte) => `1\r\n${byte}\r\n`).join('')
  const end = '0\r\n\r\n'
  assert.equal((await sendRaw(port, `${start}${bytes('{"identifier":"byte-by-byte"}')}${end}`)).status, 201)
  const wordy = `{"identifier":"wordy"${' '.repeat(40_000)}}`
  assert.equal((await sendRaw(port, `${start}${bytes(wordy)}${end}`)).status, 201)
  const endless = await sendRaw(port, `${start}${bytes(`{"identifier":"endless"${' '.repeat(90_000)}}`)}${end}`)
  assertError(endless, 400)
  assert.match(endless.body.message, /too many small pieces/)
  assert.equal((await app.call('GET', '/v1/tenants/endless')).status, 404)
})

test('a body that is too large is 413, whether its length is announced or not', async () => {
  const reported = head('POST /v1/tenants', { ...jsonHeaders, 'content-length': String(5 * 1024 * 1024) })
  assertError(await sendRaw(port, reported), 413)
  const untold = head('POST /v1/tenants', { ...jsonHeaders, 'transfer-encoding': 'chunked' })
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  assertError(await sendRaw(port, untold + chunk.repeat(20)), 413)
})

test('a request without a Host is refused', async () => {
  const reply = await sendRaw(port, 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n')
  assertError(reply, 400)
})

test('an Expect we know is met, another is 417', async () => {
  const body = '{"identifier":"expected"}'
  const headers = { ...jsonHeaders, 'content-length': String(body.length) }
  const connection = openRaw(port)
  connection.write(head('POST /v1/tenants', { ...headers, expect: '100-continue' }))
  connection.write(body)
  const answer = await connection.closed
  assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
  assertError(await sendRaw(port, head('POST /v1/tenants', { ...headers, expect: 'miracles' }) + body), 417)
})

test('a body on GET is passed over, and the next request of the connection is understood', async () => {
  const connection = openRaw(port)
  connection.write(`${head('GET /health', { ...jsonHeaders, connection: 'keep-alive', 'content-length': '3' })}{{{`)
  connection.write(head('GET /v1/tenants/next'))
  const answers = (await connection.closed).split(/(?=HTTP\/1\.1 )/).map(readAnswer)
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 404],
  )
})

test('bytes that a path cannot have are 400, never a fault', async () => {
  const start = Buffer.from('GET /v1/tenants/')
  const end = Buffer.from(head('').replace(/^ /, ' '))
  for (const bytes of [[0xff], [0xc3, 0xa4], [0x01], [0x7f]]) {
    assertError(await sendRaw(port, Buffer.concat([start, Buffer.from(bytes), end])), 400)
  }
})

test('an idempotency key beyond ASCII is kept and echoed', async () => {
  const body = '{"identifier":"latin"}'
  const headers = { ...jsonHeaders, 'content-length': String(body.length) }
  const request = Buffer.from(
    `${head('POST /v1/tenants', { ...headers, 'idempotency-key': 'schl\u00fcssel' })}${body}`,
    'latin1',
  )
  const first = await sendRaw(port, request)
  assert.equal(first.status, 201)
  assert.equal((await sendRaw(port, request)).headers['idempotency-replay'], 'true')
})

test('garbage after a request is not taken for its answer', async () => {
  const held = app.database.another({ poolSize: 1 })
  await app.call('POST', '/v1/tenants', { body: { identifier: 'garbage' } })
  const body = '{"name":"x"}'
  const headers = { ...jsonHeaders, connection: 'keep-alive', 'content-length': String(body.length) }
  const answer = await held.transaction(async (tx) => {
    await tx.row(sql`select 1 as one from tenants where identifier = 'garbage' for update`)
    const connection = openRaw(port)
    connection.write(`${head('PATCH /v1/tenants/garbage', headers)}${body}`)
    connection.write('no such thing\r\n\r\n')
    return connection.closed
  })
  assert.equal(answer, '', 'the connection is closed without a word')
})

test('a request that comes in while the server stops is still carried out', async () => {
  const stopping = await createTestApp()
  const stoppingPort = await listen(stopping)
  await stopping.call('POST', '/v1/tenants', { body: { identifier: 'held' } })
  const body = '{"name":"x"}'
  const headers = { ...jsonHeaders, connection: 'keep-alive', 'content-length': String(body.length) }
  const holder = stopping.database.another({ poolSize: 1 })
  const connection = openRaw(stoppingPort)
  let closing: Promise<unknown> = Promise.resolve()
  await holder.transaction(async (tx) => {
    await tx.row(sql`select 1 as one from tenants where identifier = 'held' for update`)
    const arrived = once(stopping.app.server, 'request')
    connection.write(`${head('PATCH /v1/tenants/held', headers)}${body}`)
    await arrived
    closing = stopping.app.close()
    const second = once(stopping.app.server, 'request')
    connection.write(head('GET /health'))
    await second
  })
  const answers = (await connection.closed).split(/(?=HTTP\/1\.1 )/).map(readAnswer)
  await closing
  await stopping.close()
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200],
  )
})

test('after a body of unknown length that nothing reads the connection is closed, and little of it is read', async () => {
  const start = head('POST /v1/tenants', {
    ...jsonHeaders,
    authorization: 'ApiKey made-up',
    connection: 'keep-alive',
    'transfer-encoding': 'chunked',
  })
  const connection = openRaw(port)
  connection.write(start + '1\r\nx\r\n'.repeat(20_000))
  // The end never comes: whoever waited for it would not close.
  const reply = readAnswer(await connection.closed)
  assertError(reply, 401)
  assert.equal(reply.headers['connection'], 'close')
})

test('where no one pays, a body may not come in thousands of pieces', async () => {
  const start = head('POST /v1/inbox/session', { ...jsonHeaders, 'transfer-encoding': 'chunked' })
  const bytes = (text: string): string => [...text].map((byte) => `1\r\n${byte}\r\n`).join('')
  const reply = await sendRaw(port, `${start}${bytes(`{"a":1${' '.repeat(9_000)}}`)}0\r\n\r\n`)
  assertError(reply, 400)
  assert.match(reply.body.message, /too many small pieces/)
})
