// Asking a service: what goes out, what is made of each answer, and of none.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../config.ts'
import { ApiError, clientFor, createClient } from './api-client.ts'
import { UsageError } from './command.ts'

const key = 'a-key-of-sixteen-characters'
let answer: (request: IncomingMessage, response: ServerResponse) => void
const server = createServer((request, response) => answer(request, response))
let url: string
let folder: string
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  folder = await mkdtemp(join(tmpdir(), 'posthorn-client-'))
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const answers = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  answer = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

const refused = async (): Promise<ApiError> => {
  const error = await createClient(url, key)
    .call('GET', '/x')
    .then(
      () => assert.fail('it was answered'),
      (thrown: unknown) => thrown,
    )
  return error instanceof ApiError ? error : assert.fail(String(error))
}

test('the key goes out in its header, the query with what is given of it, the body as JSON', async () => {
  const seen: { url: string | undefined; key: string | undefined; body: string }[] = []
  answer = async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push({ url: request.url, key: request.headers.authorization, body })
    response.end('{"a": 1}')
  }
  const client = createClient(url, key)
  const query = { one: 'a b', none: undefined, many: ['x', 'y'], count: 3 }
  assert.deepEqual((await client.call('POST', '/v1/x', { query, body: { b: 2 } })).body, { a: 1 })
  assert.deepEqual(seen, [{ url: '/v1/x?one=a+b&many=x&many=y&count=3', key: `ApiKey ${key}`, body: '{"b":2}' }])
})

test('a refusal is reported in the service’s own words, field by field', async () => {
  const errors = {
    'filter.from': { messages: ['must be a timestamp', 'must be earlier'] },
    to: { messages: ['is unknown'] },
  }
  answers(422, { statusCode: 422, message: 'Validation Error', errors })
  const error = await refused()
  assert.equal(error.status, 422)
  assert.equal(
    error.message,
    'Validation Error\n  filter.from: must be a timestamp\n  filter.from: must be earlier\n  to: is unknown',
  )
  answers(400, { message: 'No', type: 'BAD_REQUEST', errors: [{ message: 'No' }] })
  assert.equal((await refused()).message, 'No')
})

test('a rejected key, an older service and a busy one are reported with what to do', async () => {
  answers(401, { message: 'API Key not found' })
  assert.match(
    (await refused()).message,
    /rejected the API key \(API Key not found\)\. POSTHORN_API_KEY, a file with the key or/,
  )
  answers(404, { message: 'Cannot GET /x' })
  assert.match((await refused()).message, /does not know this endpoint/)
  answers(404, { message: 'Notification not found' })
  assert.equal((await refused()).message, 'Notification not found')
  answers(503, { message: 'Please try again' }, { 'retry-after': '7' })
  assert.equal((await refused()).message, 'Please try again (in 7 s)')
})

test('what answers and is no Posthorn is reported, and the key is not carried elsewhere', async () => {
  answers(200, '<html>', { 'content-type': 'text/html' })
  assert.match((await refused()).message, /is not a Posthorn service: it responded 200 with text\/html/)
  let calls = 0
  answer = (_request, response) => {
    calls += 1
    response.writeHead(302, { location: `${url}/elsewhere` }).end()
  }
  assert.match((await refused()).message, /redirects to .*\/elsewhere: set POSTHORN_URL/)
  assert.equal(calls, 1)
})

test('where nothing answers, that is what is said', async () => {
  const unused = createServer()
  await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve))
  const { port } = unused.address() as AddressInfo
  await new Promise((resolve) => unused.close(resolve))
  const silent = createClient(`http://127.0.0.1:${port}`, key).call('GET', '/x')
  await assert.rejects(silent, (error: Error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status, undefined)
    assert.match(
      error.message,
      /^No response from http:\/\/127\.0\.0\.1:\d+\. Is the service running \(`posthorn start`\)\?/,
    )
    return true
  })
  answer = (request) => request.socket.destroy()
  const cut = await refused()
  assert.match(cut.message, /^The request to .* failed: /)
  assert.ok(!cut.message.includes(key))
})

const clientOf = (env: Record<string, string>, values: object = {}) =>
  clientFor({ ...readConfig(env), note: () => {} }, values)
const usage = (words: RegExp) => (error: unknown) => error instanceof UsageError && words.test(error.message)

test('address and key come from the variables, and options win over them', async () => {
  const file = join(folder, 'key')
  await writeFile(file, `  ${key}\n`)
  assert.equal((await clientOf({ POSTHORN_API_KEY: key })).url, 'http://localhost:3000')
  assert.equal((await clientOf({ POSTHORN_API_KEY: key, PORT: '4000' })).url, 'http://localhost:4000')
  const elsewhere = { POSTHORN_API_KEY: key, POSTHORN_URL: 'https://notify.example.com/' }
  assert.equal((await clientOf(elsewhere)).url, 'https://notify.example.com')
  assert.equal((await clientOf(elsewhere, { url: 'http://b:1/' })).url, 'http://b:1')
  answer = (request, response) => response.end(JSON.stringify(request.headers.authorization))
  const client = await clientOf({ POSTHORN_API_KEY: 'another-key-of-sixteen' }, { url, 'key-file': file })
  assert.equal((await client.call('GET', '/x')).body, `ApiKey ${key}`)
})

test('without a key, with a file that holds none, or an address that is none, nothing is asked', async () => {
  await assert.rejects(clientOf({}), usage(/^No API key.*POSTHORN_API_KEY.*--key-file.*posthorn keys create/))
  const asked = { environment: 'Production', keyOption: '--to-key-file' }
  await assert.rejects(clientOf({}, asked), usage(/^No API key of Production.* with --to-key-file\./))
  const file = join(folder, 'short')
  await writeFile(file, 'secret')
  const short = await clientOf({}, { 'key-file': file }).catch((error: Error) => error)
  assert.ok(short instanceof UsageError)
  assert.match(short.message, /must be 16 to 255 visible ASCII characters/)
  assert.ok(!short.message.includes('secret'))
  await assert.rejects(clientOf({}, { 'key-file': join(folder, 'none') }), usage(/cannot be read \(ENOENT\)/))
  await assert.rejects(clientOf({}, { 'key-file': folder }), usage(/cannot be read \(EISDIR\)/))
  await assert.rejects(clientOf({}, { url: 'ftp://x' }), usage(/--url must be an http\(s\) URL/))
  await assert.rejects(clientOf({}, { url: 'http://me:pass@x' }), usage(/must not contain a user name or a password/))
})
