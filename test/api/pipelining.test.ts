// Requests that are sent without waiting for answers: all are answered, in their order, and no one waits for them.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen, openRaw, readAnswer } from '../support/raw-socket.ts'
import { watchWork } from '../support/turn-cpu.ts'

let app: TestApp
let port: number

before(async () => {
  app = await createTestApp()
  port = await listen(app)
})
after(() => app.close())

const request = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\nhost: a\r\nauthorization: ApiKey ${app.developmentKey}\r\n${headers}\r\n${body}`

const get = (identifier: string, headers = ''): string => request(`GET /v1/tenants/${identifier}`, headers)

function post(identifier: string): string {
  const body = JSON.stringify({ identifier })
  return request('POST /v1/tenants', `content-type: application/json\r\ncontent-length: ${body.length}\r\n`, body)
}

const answersOf = (text: string) => text.split(/(?=HTTP\/1\.1 )/).map(readAnswer)

test('two thousand at once are answered in their order, and no turn is long', async () => {
  const count = 2_000
  const all = Array.from({ length: count }, (_, at) =>
    get(`none-${at}`, at === count - 1 ? 'connection: close\r\n' : ''),
  )
  const { result, share } = await watchWork(() => {
    const connection = openRaw(port)
    connection.write(all.join(''))
    return connection.closed
  })
  const answers = answersOf(result)
  assert.equal(answers.length, count)
  for (const [at, { status, body }] of answers.entries()) {
    assert.equal(status, 404)
    assert.equal(body.path, `/v1/tenants/none-${at}`)
  }
  assert.ok(share < 1, `the longest turn took ${share} of what it may`)
})

test('bodies between them are read, also where the connection waits for answers in the meantime', async () => {
  const count = 300
  const names = Array.from({ length: count }, (_, at) => `piped-${at}`)
  const connection = openRaw(port)
  for (const [at, name] of names.entries()) {
    connection.write(post(name))
    // In parts, so that some of it comes after the connection has begun to wait.
    if (at % 40 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  connection.write(get('piped-0', 'connection: close\r\n'))
  const answers = answersOf(await connection.closed)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...names.map(() => 201), 200],
  )
  assert.deepEqual(
    answers.slice(0, count).map(({ body }) => body.identifier),
    names,
  )
})

test('whoever goes while requests wait leaves nothing behind, and others are served meanwhile', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(Array.from({ length: 500 }, (_, at) => post(`gone-${at}`)).join(''))
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  socket.destroy()
  const other = openRaw(port)
  other.write(get('piped-1', 'connection: close\r\n'))
  assert.equal(readAnswer(await other.closed).status, 200)
  // What was begun ends, what waited was never begun.
  const { body } = await app.call('GET', '/v1/tenants?limit=1')
  assert.equal(typeof body, 'object')
  const last = await app.call('GET', '/v1/tenants/gone-499')
  assert.equal(last.status, 404)
})
