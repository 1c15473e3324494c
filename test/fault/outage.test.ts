// The whole service through an outage of its database: quick refusals, and work again without a restart.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { UnusableDatabase } from '../../src/db/await-database.ts'
import type { EmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import type { Running } from '../../src/main.ts'
import { start } from '../../src/main.ts'
import { silentLog } from '../../src/world/log.ts'
import type { Json } from '../support/app.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { eventually } from '../support/service.ts'

const key = 'test-key-of-development'
let root: string
let postgres: EmbeddedPostgres
let service: Running

const startPostgres = () =>
  startEmbeddedPostgres({ dataDirectory: join(root, 'database'), log: silentLog, settings: { fsync: 'off' } })

function configOf(variables: Record<string, string> = {}) {
  const { host, port, user, database } = postgres.connection
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  return readConfig({
    PORT: '0',
    DATABASE_URL: url,
    POSTHORN_DATA_DIR: join(root, 'node'),
    POSTHORN_API_KEY: key,
    ...variables,
  }).config
}

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'posthorn-outage-'))
  // As root PostgreSQL runs as another user, who must be able to enter.
  await chmod(root, 0o711)
  postgres = await startPostgres()
  service = await start(configOf(), silentLog)
})
after(async () => {
  await service.stop()
  await postgres.stop()
  await rm(root, { recursive: true, force: true })
})

async function call(
  path: string,
  body?: object,
): Promise<{ status: number; body: Json; retryAfter: string | null; ms: number }> {
  const begun = performance.now()
  const answer = await fetch(`${service.url}${path}`, {
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const read = await answer.json()
  return {
    status: answer.status,
    body: read,
    retryAfter: answer.headers.get('retry-after'),
    ms: performance.now() - begun,
  }
}

test('while the database is away callers are notified 503 at once, and the process stays healthy but not ready', async () => {
  assert.equal((await call('/v1/tenants', { identifier: 'before' })).status, 201)
  assert.equal((await call('/ready')).status, 200)
  await postgres.stop()
  const refused = await Promise.all([
    ...Array.from({ length: 10 }, () => call('/v1/tenants')),
    ...Array.from({ length: 10 }, (_, index) => call('/v1/tenants', { identifier: `during-${index}` })),
  ])
  for (const { status, body, retryAfter, ms } of refused) {
    assert.equal(status, 503)
    assert.equal(body.statusCode, 503)
    assert.match(body.path, /^\/v1\/tenants/)
    assert.match(body.message, /database is temporarily unavailable/)
    assert.equal('stack' in body, false)
    assert.equal(retryAfter, '1')
    assert.ok(ms < 10_000, `${ms} ms`)
  }
  assert.deepEqual(pick(await call('/health')), { status: 200, body: { status: 'ok' } })
  assert.deepEqual(pick(await call('/ready')), { status: 503, body: { status: 'not ready', database: 'down' } })
})

const pick = ({ status, body }: { status: number; body: Json }) => ({ status, body })

test('a start without its database waits, says so at each try, and gives up with a sentence', async () => {
  const { log, logged } = createFakeWorld()
  await assert.rejects(start(configOf({ POSTHORN_DATABASE_WAIT_MS: '600' }), log), (error: Error) => {
    assert.ok(error instanceof UnusableDatabase)
    assert.match(error.message, /^The database posthorn at \S+ did not respond within 0\.6 s/)
    return true
  })
  assert.ok(logged.filter(({ message }) => message.includes('does not respond yet')).length >= 2)
})

test('a start that is asked to stop while it waits ends at once', async () => {
  const stopping = new AbortController()
  const begun = performance.now()
  const started = start(configOf({ POSTHORN_DATABASE_WAIT_MS: '60000' }), silentLog, stopping.signal)
  setImmediate(() => stopping.abort())
  await assert.rejects(started, /^UnusableDatabase: Stopped while waiting for the database/)
  assert.ok(performance.now() - begun < 30_000)
})

test('when the database is back the same process works again, and a start that waited for it succeeds', async () => {
  const waiting = createFakeWorld()
  const second = start(configOf({ POSTHORN_DATABASE_WAIT_MS: '60000' }), waiting.log)
  postgres = await startPostgres()
  const node = await second
  try {
    // Its worker looks for the database once a second.
    await eventually(async () => (await call('/ready')).status === 200)
    assert.equal((await call('/v1/tenants', { identifier: 'afterwards' })).status, 201)
    const { body } = await call('/v1/tenants')
    assert.deepEqual(
      body.data.map((tenant: { identifier: string }) => tenant.identifier),
      ['afterwards', 'before'],
    )
    assert.ok(waiting.logged.some(({ message }) => message.includes('does not respond yet')))
  } finally {
    await node.stop()
  }
})
