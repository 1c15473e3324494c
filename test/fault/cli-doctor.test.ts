// posthorn doctor against a running service, one that is not there, and settings that are wrong.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import { CliScene, runCommand, unusedUrl } from '../support/cli-scene.ts'

let folder: string
let scene: CliScene
let env: Record<string, string>
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-doctor-'))
  scene = await CliScene.start(join(folder, 'data'))
  env = { DATABASE_URL: scene.database.url, POSTHORN_DATA_DIR: join(folder, 'data') }
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

async function diagnosis(more: Record<string, string> = {}, args: string[] = []) {
  const { code, stdout, stderr } = await scene.run(['doctor', '--json', ...args], { env: { ...env, ...more } })
  const { status, checks } = JSON.parse(stdout) as { status: string; checks: Json[] }
  const byName = new Map(checks.map((check) => [check.name, check]))
  const of = (name: string): Json => byName.get(name) ?? assert.fail(`there is no check ${name} in ${stdout}`)
  return { code, status, stdout, stderr, checks, of }
}

test('a service that is well passes every check, in words and as data', async () => {
  const { code, stderr, checks, of } = await diagnosis()
  assert.deepEqual(
    checks.filter(({ status }) => status === 'failed' || status === 'skipped'),
    [],
  )
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  for (const name of [
    'node',
    'settings',
    'database',
    'schema',
    'service',
    'ready',
    'clock',
    'queue',
    'buried',
    'failures',
    'encryption key',
  ]) {
    assert.equal(of(name).status, 'ok', JSON.stringify(of(name)))
  }
  assert.deepEqual(of('API key').data, { environment: 'Development', scope: 'full' })
  assert.deepEqual(of('integrations').data.captured.length > 0, true)
  assert.match(of('retention').message, /^Data is kept for 90 days/)
  const words = await scene.run(['doctor'], { env })
  assert.equal(words.code, 0)
  assert.match(words.stdout, /^ok +node +Node\.js \S+ is recent enough\.$/m)
  assert.match(words.stdout, /^ok +API key +The key belongs to Development and has the scope full\.$/m)
})

test('no secret is reported, neither in words nor as data', async () => {
  const secrets = {
    POSTHORN_API_KEY: 'test-key-of-development',
    POSTHORN_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
    DATABASE_URL: 'postgres://me:hushhush@127.0.0.1:9/x',
    POSTHORN_SMTP_URL: 'smtp://me:alsohush@mail.example.com?from=a@example.com',
    HTTPS_PROXY: 'http://me:proxyhush@proxy.example.com',
  }
  const { signingSecret } = await scene.call('GET', '/v1/environments/me')
  const reported = [await diagnosis(secrets), await diagnosis({ ...secrets, DATABASE_URL: 'mysql://me:hushhush@x' })]
  const words = await scene.run(['doctor'], { env: { ...env, ...secrets } })
  const all = [...reported, words].map(({ stdout, stderr }) => stdout + stderr).join('\n')
  for (const secret of [...Object.values(secrets), 'hushhush', 'alsohush', 'proxyhush', signingSecret]) {
    assert.ok(!all.includes(secret), `${secret} is in ${all}`)
  }
})

test('where nothing answers that is the failure, and what depends on it is skipped with the reason', async () => {
  const { code, status, stderr, of } = await diagnosis({ POSTHORN_URL: await unusedUrl() })
  assert.deepEqual([code, status], [1, 'failed'])
  assert.match(stderr, /^1 of 17 checks failed\.$/m)
  assert.equal(of('service').status, 'failed')
  assert.match(of('service').message, /Is the service running/)
  for (const name of ['ready', 'API key', 'queue', 'buried', 'failures', 'integrations', 'retention']) {
    assert.deepEqual([of(name).status, of(name).message], ['skipped', 'The service does not respond.'], name)
  }
  assert.equal(of('database').status, 'ok', 'the others go on')
  assert.equal(of('clock').status, 'ok')
})

test('a database that is away, or whose schema is another, is reported', async () => {
  const away = await diagnosis({ DATABASE_URL: 'postgres://me@127.0.0.1:9/x' })
  assert.equal(away.code, 1)
  assert.match(away.of('database').message, /^The database x at 127\.0\.0\.1:9 did not respond within 3 s/)
  assert.equal(away.of('schema').status, 'skipped')
  assert.equal(away.of('ready').status, 'ok', 'the service has its own')
  const { db } = scene.database
  await db.run(sql`insert into schema_migrations (number, name, checksum) values (9999, '9999-later.sql', 'x')`)
  try {
    const newer = await diagnosis()
    assert.match(newer.of('schema').message, /9999-later\.sql is unknown to this one/)
  } finally {
    await db.run(sql`delete from schema_migrations where number = 9999`)
  }
})

test('a node whose clock is far from the database’s is reported', async () => {
  const { db } = scene.database
  await db.run(sql`
    insert into node_heartbeats (node_id, epoch, lease_key, beat, clock_ahead_ms, started_at, seen_at)
    values (gen_random_uuid(), nextval('node_epochs'), 1, 1, 30000, now(), now())`)
  try {
    const clock = (await diagnosis()).of('clock')
    assert.equal(clock.status, 'warning', JSON.stringify(clock))
    assert.match(clock.message, /the clock of the node is (29|30|31) s ahead/i)
  } finally {
    await db.run(sql`delete from node_heartbeats where lease_key = 1`)
  }
})

test('settings with mistakes are a failed check, not the end of the diagnosis', async () => {
  const { code, of } = await diagnosis({ POSTHORN_DATABASE_POOL_SIZE: 'many', POSTHORN_COLOUR: 'red' })
  assert.equal(code, 1)
  assert.match(of('settings').message, /^POSTHORN_DATABASE_POOL_SIZE must be a whole number/)
  assert.equal(of('service').status, 'ok')
  const { of: unknown, stderr } = await diagnosis({ POSTHORN_COLOUR: 'red' })
  assert.deepEqual([unknown('settings').status, stderr], ['warning', ''])
  assert.match(unknown('settings').message, /POSTHORN_COLOUR is not a setting/)
})

test('a key that is missing, rejected, or not allowed to read is reported once', async () => {
  const missing = await diagnosis({ POSTHORN_API_KEY: '' })
  assert.deepEqual([missing.code, missing.of('API key').status], [0, 'warning'])
  assert.equal(missing.of('queue').status, 'skipped')
  const refused = await diagnosis({ POSTHORN_API_KEY: 'another-key-of-sixteen' })
  assert.deepEqual([refused.code, refused.of('API key').status], [1, 'failed'])
  assert.match(refused.of('API key').message, /rejected the API key/)
  assert.deepEqual([refused.of('queue').status, refused.of('retention').status], ['skipped', 'skipped'])
  for (const [scope, status] of [
    ['trigger', 'warning'],
    ['read', 'ok'],
  ] as const) {
    const { key } = await scene.call('POST', '/v1/environments/api-keys', { scopes: [scope] })
    const found = await diagnosis({ POSTHORN_API_KEY: key })
    assert.deepEqual([found.of('API key').status, found.of('API key').data.scope], [status, scope])
    assert.equal(found.code, 0)
  }
})

test('the data directory and the key in it are looked at', async () => {
  const keyFile = join(folder, 'data', 'encryption.key')
  const { mode } = await stat(keyFile)
  await chmod(keyFile, 0o644)
  try {
    const open = await diagnosis()
    assert.equal(open.of('encryption key').status, 'warning')
    assert.match(open.of('encryption key').advice, /chmod 600/)
  } finally {
    await chmod(keyFile, mode)
  }
  const nowhere = await diagnosis({ POSTHORN_DATA_DIR: join(folder, 'nowhere') })
  assert.deepEqual([nowhere.of('data directory').status, nowhere.of('encryption key').status], ['warning', 'warning'])
  const file = await diagnosis({ POSTHORN_DATA_DIR: keyFile })
  assert.match(file.of('data directory').message, /is not a directory/)
})

test('without its own database and without a service the checks are skipped, and nothing is started', async () => {
  const place = join(folder, 'elsewhere')
  const variables = { POSTHORN_DATA_DIR: place, POSTHORN_URL: await unusedUrl() }
  const { code, stdout } = await runCommand(['doctor', '--json'], { env: variables })
  assert.equal(code, 1)
  const database = JSON.parse(stdout).checks.find((check: Json) => check.name === 'database')
  assert.equal(database.status, 'skipped')
  assert.match(database.message, /embedded database runs only while the service runs/)
  await assert.rejects(stat(place), 'nothing was made')
  assert.equal((await runCommand(['doctor', 'now'], { env: variables })).code, 2)
})

test('with a key of another environment than the one that is named, that is said, and nothing else is judged by it', async () => {
  const { code, of } = await diagnosis({ POSTHORN_API_KEY_2: '' }, ['--environment', 'Production'])
  assert.equal(code, 1)
  assert.deepEqual(
    [of('API key').status, of('API key').message],
    ['failed', 'The API key opens Development, not Production.'],
  )
  for (const name of ['queue', 'failures', 'integrations', 'workflows']) assert.equal(of(name).status, 'skipped', name)
  const right = await diagnosis({}, ['--environment', 'Production'])
  assert.equal(right.of('API key').data.environment, 'Production')
})
