// The built service as a process: what it prints, keeps, refuses and leaves behind. The tests run in order on one data directory.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import type { Ended, Service } from '../support/service.ts'
import { eventually, filesHolding, isAlive, postgresPid, ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
let directory: string
let service: Service
let firstKey = ''
before(async () => {
  directory = await scene.directory()
  service = await scene.start({ POSTHORN_DATA_DIR: directory, POSTHORN_APIKEY: 'a misspelt variable' })
})
after(() => scene.close())

const logLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string })

test('the first start prints the address, the reference and, once, a key that works', async () => {
  assert.match(service.stdout(), new RegExp(`API reference +${service.url}/docs\\n`))
  firstKey = /API key \(Development\) +(ph_[0-9A-Za-z]{43})\n/.exec(service.stdout())?.[1] ?? ''
  assert.notEqual(firstKey, '')
  assert.equal((await fetch(`${service.url}/docs`)).status, 200)
  const made = await service.call('POST', '/v1/tenants', firstKey, { identifier: 'kept' })
  assert.equal(made.status, 201)
  assert.equal((await service.call('GET', '/v1/tenants', 'not-the-right-key')).status, 401)
})

test('the log is JSON where there is no terminal, and names a variable that is no setting', () => {
  const lines = logLines(service.stdout())
  assert.ok(lines.some((line) => line.level === 40 && line.msg.startsWith('POSTHORN_APIKEY is not a setting')))
  assert.ok(lines.some((line) => line.msg === 'Migration applied'))
})

test('a second start on the data directory says who holds it and ends with 1, and the first works on', async () => {
  const second = await scene.run(['start'], { PORT: '0', POSTHORN_DATA_DIR: directory })
  assert.equal(second.code, 1)
  assert.match(second.stderr, new RegExp(`already running on .*: process ${service.pid} holds it`))
  assert.doesNotMatch(second.stderr, /\n +at /, 'no stack')
  assert.equal((await service.call('GET', '/v1/tenants/kept', firstKey)).status, 200)
})

test('a port in use is reported in a sentence, and the database of that start is stopped', async () => {
  const other = await scene.directory()
  const { port } = new URL(service.url)
  const ended = await scene.run(['start'], { PORT: port, POSTHORN_DATA_DIR: other })
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another program`, 'm'))
  assert.doesNotMatch(ended.stderr, /\n +at /)
  assert.ok(existsSync(join(other, 'postgres', 'PG_VERSION')))
  assert.equal(await postgresPid(other), undefined)
})

/** A request whose body is sent in two halves, so that it is under way for as long as a test wants. */
function slowRequest(url: string, key: string, body: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString('utf8')
  })
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(answer)))
  const half = Math.floor(body.length / 2)
  socket.write(
    `POST /v1/tenants HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey ${key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  return {
    closed,
    // The server asks for the body when it has read the headers: then the request is under way.
    underWay: () => eventually(async () => answer.includes('100 Continue')),
    sendHalf: () => socket.write(body.slice(0, half)),
    sendRest: () => socket.write(body.slice(half)),
  }
}

test('SIGTERM lets a request under way finish, takes no new one, and leaves no PostgreSQL behind', async () => {
  const postgres = await postgresPid(directory)
  assert.ok(postgres !== undefined && isAlive(postgres))
  const request = slowRequest(service.url, firstKey, JSON.stringify({ identifier: 'slow' }))
  await request.underWay()
  request.sendHalf()
  const idle = connect(Number(new URL(service.url).port), '127.0.0.1')
  idle.on('error', () => {})
  await new Promise((resolve) => idle.once('connect', resolve))
  service.signal('SIGTERM')
  // Twice, as npm does when it passes on what the terminal has said already.
  service.signal('SIGTERM')
  await eventually(() =>
    fetch(`${service.url}/health`).then(
      () => false,
      () => true,
    ),
  )
  assert.ok(isAlive(postgres), 'the database waits for the request')
  request.sendRest()
  assert.match(await request.closed, /HTTP\/1\.1 201 [\s\S]*"identifier":"slow"/)
  const ended = await service.ended
  assert.doesNotMatch(ended.stdout, /cut off/, 'a connection without a request is not waited for')
  assert.equal(ended.code, 0, ended.stderr)
  assert.equal(ended.stderr, '')
  assert.equal(isAlive(postgres), false)
  assert.equal(await postgresPid(directory), undefined)
})

test('nothing secret is on disk but the encryption key, which its owner alone can read', async () => {
  const { mode } = await stat(join(directory, 'encryption.key'))
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual(await filesHolding(directory, firstKey), [])
  const found = await filesHolding(directory, 'slow')
  assert.ok(found.length > 0, 'the search does find what is there')
})

test('no key and no authorization header was ever logged', async () => {
  const { stdout, stderr } = await service.ended
  const logged = JSON.stringify(logLines(stdout)) + stderr
  assert.ok(logged.includes('Stopping'))
  assert.ok(!logged.includes(firstKey))
  assert.doesNotMatch(logged, /authorization|ApiKey [^[]/)
})

const development = 'configured-key-of-development'
const production = 'configured-key-of-production'
const acknowledged: string[] = []

test('a later start shows no key; configured keys open their environments, and the data is kept', async () => {
  service = await scene.start({
    POSTHORN_DATA_DIR: directory,
    POSTHORN_API_KEY: development,
    POSTHORN_API_KEY_2: production,
  })
  assert.doesNotMatch(service.stdout(), /API key|ph_/)
  assert.equal((await service.call('GET', '/v1/tenants/kept', firstKey)).status, 200)
  assert.equal((await service.call('GET', '/v1/tenants/slow', development)).status, 200)
  assert.equal((await service.call('GET', '/v1/tenants/kept', production)).status, 404)
  const made = await service.call('POST', '/v1/tenants', production, { identifier: 'in-production' })
  assert.equal(made.status, 201)
})

test('kill -9 in the middle of writes loses nothing that was acknowledged', async () => {
  let killed = false
  const write = async (writer: number) => {
    for (let count = 0; !killed; count += 1) {
      const identifier = `w${writer}-${count}`
      const answer = await service.call('POST', '/v1/tenants', development, { identifier }).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push(identifier)
      if (acknowledged.length === 150 && !killed) {
        killed = true
        service.signal('SIGKILL')
      }
    }
  }
  await Promise.all([1, 2, 3, 4].map(write))
  await service.ended
  const survivor = await postgresPid(directory)
  assert.ok(survivor !== undefined && isAlive(survivor), 'PostgreSQL outlives the killed service')
  service = await scene.start({ POSTHORN_DATA_DIR: directory, POSTHORN_API_KEY: 'another-key-of-development' })
  const kept = new Set<string>()
  for (let page = 0, more = true; more; page += 1) {
    const { body } = await service.call('GET', `/v1/tenants?limit=100&page=${page}`, 'another-key-of-development')
    for (const tenant of body.data) kept.add(tenant.identifier)
    more = body.hasMore
  }
  assert.ok(acknowledged.length >= 150)
  assert.deepEqual(
    acknowledged.filter((identifier) => !kept.has(identifier)),
    [],
  )
})

test('a configured key that was changed is no key any more; the others stay', async () => {
  assert.equal((await service.call('GET', '/v1/tenants', development)).status, 401)
  assert.equal((await service.call('GET', '/v1/tenants', firstKey)).status, 200)
  assert.equal((await service.call('GET', '/v1/tenants', production)).status, 200)
  const ended = await service.stop()
  assert.equal(ended.code, 0)
  assert.deepEqual(await filesHolding(directory, development), [])
})

function assertRefused(ended: Ended, message: RegExp): void {
  assert.equal(ended.code, 1, ended.stdout)
  assert.match(ended.stderr, message)
  assert.doesNotMatch(ended.stderr, /\n +at /, 'no stack')
}

test('another encryption key is refused, and the database of that start is stopped', async () => {
  const key = Buffer.alloc(32, 5).toString('base64')
  const ended = await scene.run(['start'], { PORT: '0', POSTHORN_DATA_DIR: directory, POSTHORN_ENCRYPTION_KEY: key })
  assertRefused(ended, /^This database was encrypted with another key\. Set POSTHORN_ENCRYPTION_KEY/m)
  assert.ok(!(ended.stdout + ended.stderr).includes(key))
  assert.equal(await postgresPid(directory), undefined)
})

test('all mistakes of a configuration are reported at once, before anything is started', async () => {
  const other = await scene.directory()
  const ended = await scene.run(['start'], {
    PORT: 'eighty',
    POSTHORN_DATA_DIR: other,
    POSTHORN_API_KEY: 'short',
    POSTHORN_LOG_LEVEL: 'loud',
  })
  assertRefused(
    ended,
    /The configuration is invalid:\n {2}- PORT .*\n {2}- POSTHORN_API_KEY .*\n {2}- POSTHORN_LOG_LEVEL /,
  )
  assert.equal(existsSync(other), false)
})

test('a second node on one database without the first one’s encryption key is refused, and makes none', async (t) => {
  const database = await createTestDatabase({ empty: true })
  t.after(() => database.drop())
  const [one, two] = [await scene.directory(), await scene.directory()]
  const first = await scene.start({ DATABASE_URL: database.url, POSTHORN_DATA_DIR: one })
  const second = await scene.run(['start'], { PORT: '0', DATABASE_URL: database.url, POSTHORN_DATA_DIR: two })
  assertRefused(second, /encrypted with a key that is missing: .*encryption\.key does not exist/)
  assert.equal(existsSync(join(two, 'encryption.key')), false)
  assert.equal((await first.stop()).code, 0)
})
