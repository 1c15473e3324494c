// What a first start leaves in the database, and what later starts do not.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { hashOfApiKey } from '../../src/domain/operate/api-key.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { createApiKey, removeApiKey } from '../../src/manage/operate/api-keys.ts'
import { ensureFirstStart, ensureInstallation, StartError } from '../../src/manage/operate/first-start.ts'
import { insertIntegration, listIntegrations, updateIntegration } from '../../src/store/integrations/integrations.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld, testEncryptionKey } from '../support/fake-world.ts'
import { testAuthor } from '../support/test-author.ts'

const noKeys = { development: undefined, production: undefined }

async function freshDatabase(t: TestContext): Promise<TestDatabase> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  return database
}

const count = async ({ db }: TestDatabase, table: 'organizations' | 'environments' | 'integrations' | 'api_keys') =>
  (await db.row<{ count: number }>({ text: `select count(*) from ${table}`, values: [] }))?.count

test('a first start makes an organization, two environments and their built-in integrations', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureFirstStart(database.db, world, noKeys)
  assert.equal(await count(database, 'organizations'), 1)
  const environments = await database.db.rows<{ name: string; parent: string | null; secret: Buffer; id: string }>(sql`
    select e.name, p.name as parent, e.id, e.signing_secret as secret
    from environments e left join environments p on p.id = e.parent_id order by e.id`)
  assert.deepEqual(
    environments.map(({ name, parent }) => ({ name, parent })),
    [
      { name: 'Development', parent: null },
      { name: 'Production', parent: 'Development' },
    ],
  )
  const secrets = environments.map(({ id, secret }) => world.sealer.open(id, 'signing-secret', 'version 1', secret))
  assert.match(secrets[0] ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(secrets[0], secrets[1])
  const integrations = await database.db.rows(sql`
    select e.name as environment, i.provider_id as provider, i.channel, i.active, i.is_primary as primary
    from integrations i join environments e on e.id = i.environment_id order by e.id, i.id`)
  const builtIns = (environment: string, captures: boolean) => [
    { environment, provider: 'platform', channel: 'in_app', active: true, primary: false },
    { environment, provider: 'platform-email', channel: 'email', active: captures, primary: captures },
    { environment, provider: 'platform-sms', channel: 'sms', active: captures, primary: captures },
  ]
  assert.deepEqual(integrations, [...builtIns('Development', true), ...builtIns('Production', false)])
})

test('the key is generated and shown once, for Development, and only its hash is stored', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  const { newKey } = await ensureFirstStart(database.db, world, noKeys)
  assert.match(newKey ?? '', /^ph_[0-9A-Za-z]{43}$/)
  const keys = await database.db.rows(sql`
    select e.name as environment, k.hash, k.hint, k.scopes from api_keys k join environments e on e.id = k.environment_id`)
  assert.deepEqual(keys, [
    { environment: 'Development', hash: hashOfApiKey(newKey ?? ''), hint: newKey?.slice(-4), scopes: ['full'] },
  ])
  assert.deepEqual(await ensureFirstStart(database.db, world, noKeys), { newKey: undefined })
  assert.equal(await count(database, 'api_keys'), 1)
  assert.equal(await count(database, 'environments'), 2)
  assert.equal(await count(database, 'integrations'), 6)
})

test('with a configured key none is made, at the first start and when it is taken away', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  const configured = { development: 'a-configured-key', production: undefined }
  assert.equal((await ensureFirstStart(database.db, world, configured)).newKey, undefined)
  assert.equal((await ensureFirstStart(database.db, world, noKeys)).newKey, undefined)
  assert.equal(await count(database, 'api_keys'), 1)
})

test('a command before the first start makes the installation and no key, so that the start still shows one', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureInstallation(database.db, world)
  assert.equal(await count(database, 'api_keys'), 0)
  assert.equal(await count(database, 'environments'), 2)
  assert.notEqual((await ensureFirstStart(database.db, world, noKeys)).newKey, undefined)
})

test('a configured key that returns works again, one of the other environment is refused', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  const valid = async () =>
    (await database.db.rows<{ hash: Buffer }>(sql`select hash from api_keys where revoked_at is null`)).map(
      ({ hash }) => hash.toString('hex'),
    )
  const hexOf = (key: string) => hashOfApiKey(key).toString('hex')
  await ensureFirstStart(database.db, world, { development: 'the-first-key', production: undefined })
  await ensureFirstStart(database.db, world, { development: 'the-second-key', production: undefined })
  assert.deepEqual(await valid(), [hexOf('the-second-key')])
  await ensureFirstStart(database.db, world, { development: 'the-first-key', production: undefined })
  assert.deepEqual(await valid(), [hexOf('the-first-key')])
  await assert.rejects(
    ensureFirstStart(database.db, world, { development: undefined, production: 'the-first-key' }),
    (error: Error) =>
      error instanceof StartError &&
      /POSTHORN_API_KEY_2 is a key .* belongs to another environment/.test(error.message),
  )
  assert.deepEqual(await valid(), [hexOf('the-first-key')])
})

test('two configured keys are both valid while one replaces the other', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  const valid = async () =>
    (await database.db.rows<{ hash: Buffer }>(sql`select hash from api_keys where revoked_at is null`))
      .map(({ hash }) => hash.toString('hex'))
      .sort()
  const hexOf = (...keys: string[]) => keys.map((key) => hashOfApiKey(key).toString('hex')).sort()
  const start = (...development: string[]) =>
    ensureFirstStart(database.db, world, { development, production: undefined })
  await start('the-old-key-of-all')
  await start('the-new-key-of-all', 'the-old-key-of-all')
  assert.deepEqual(await valid(), hexOf('the-new-key-of-all', 'the-old-key-of-all'))
  await start('the-new-key-of-all')
  assert.deepEqual(await valid(), hexOf('the-new-key-of-all'))
  // An empty list is a variable that is not set.
  await start()
  assert.deepEqual(await valid(), hexOf('the-new-key-of-all'))
})

test('a configured key that was revoked manually does not come back', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  const keys = { development: 'the-leaked-key', production: undefined }
  await ensureFirstStart(database.db, world, keys)
  const [environment] = await listEnvironments(database.db)
  assert.ok(environment)
  await createApiKey(database.db, world, environment, { key: {}, author: testAuthor, idempotency: undefined })
  const [leaked] = await database.db.rows<{ id: string }>(
    sql`select id from api_keys where hash = ${hashOfApiKey('the-leaked-key')}`,
  )
  await removeApiKey(database.db, world, environment, {
    id: leaked?.id ?? '',
    author: testAuthor,
    idempotency: undefined,
  })
  await assert.rejects(
    ensureFirstStart(database.db, world, keys),
    (error: Error) => error instanceof StartError && /POSTHORN_API_KEY is a key that was revoked/.test(error.message),
  )
  await ensureFirstStart(database.db, world, { ...keys, development: 'another-key-instead' })
})

test('a node with another encryption key is refused; one that also holds the right key is not', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureFirstStart(database.db, world, noKeys)
  const other = Buffer.alloc(32, 9)
  const otherSubscriber = { ...world, sealer: createSealer([other]) }
  await assert.rejects(
    ensureFirstStart(database.db, otherSubscriber, { development: 'the-key-of-a-stranger', production: undefined }),
    (error: Error) => error instanceof StartError && /encrypted with another key/.test(error.message),
  )
  assert.equal(await count(database, 'api_keys'), 1, 'the refused node left no key')
  await assert.rejects(ensureInstallation(database.db, otherSubscriber), StartError)
  await ensureInstallation(database.db, { ...world, sealer: createSealer([other, testEncryptionKey]) })
})

test('two first starts at once make one installation and one key', async (t) => {
  const database = await freshDatabase(t)
  const nodes = [database.db, database.another(), database.another()]
  const world = createFakeWorld()
  const starts = await Promise.all(nodes.map((db) => ensureFirstStart(db, world, noKeys)))
  assert.equal(starts.filter(({ newKey }) => newKey !== undefined).length, 1)
  assert.equal(await count(database, 'organizations'), 1)
  assert.equal(await count(database, 'environments'), 2)
  assert.equal(await count(database, 'integrations'), 6)
  assert.equal(await count(database, 'api_keys'), 1)
})

const production = async ({ db }: TestDatabase) =>
  db.rows<{ provider: string; active: boolean; primary: boolean; id: string }>(sql`
    select i.id, i.provider_id as provider, i.active, i.is_primary as primary
    from integrations i join environments e on e.id = i.environment_id
    where e.name = 'Production' and i.channel = 'email' order by i.id`)

const builtInMail = async (database: TestDatabase) => {
  const found = (await production(database)).find(({ provider }) => provider === 'platform-email')
  return found && { active: found.active, primary: found.primary }
}

test('where a mail server makes it real, the built-in e-mail of Production is on, from the first start or a later one', async (t) => {
  const world = createFakeWorld()
  const atOnce = await freshDatabase(t)
  await ensureFirstStart(atOnce.db, world, noKeys, { mailIsReal: true })
  assert.deepEqual(await builtInMail(atOnce), { active: true, primary: true })
  const later = await freshDatabase(t)
  await ensureFirstStart(later.db, world, noKeys)
  assert.deepEqual(await builtInMail(later), { active: false, primary: false })
  world.advance(1000)
  await ensureFirstStart(later.db, world, noKeys, { mailIsReal: true })
  assert.deepEqual(await builtInMail(later), { active: true, primary: true })
})

async function changeMail(database: TestDatabase, world: FakeWorld, active: boolean): Promise<void> {
  const [, environment] = await listEnvironments(database.db)
  assert.ok(environment)
  const [mail] = (await listIntegrations(database.db, world.sealer, environment, { activeOnly: false })).filter(
    ({ providerId }) => providerId === 'platform-email',
  )
  assert.ok(mail)
  world.advance(1000)
  await database.db.transaction((tx) =>
    updateIntegration(tx, world.sealer, environment, { ...mail, active }, world.now()),
  )
}

test('one that someone switched off stays off', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureFirstStart(database.db, world, noKeys, { mailIsReal: true })
  await changeMail(database, world, false)
  await ensureFirstStart(database.db, world, noKeys, { mailIsReal: true })
  assert.equal((await builtInMail(database))?.active, false)
})

test('beside an account that is primary it is switched on and takes nothing away', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureFirstStart(database.db, world, noKeys)
  const [, environment] = await listEnvironments(database.db)
  assert.ok(environment)
  const own = {
    id: world.newId(world.now()),
    identifier: 'own',
    name: 'Own',
    providerId: 'sendgrid',
    channel: 'email',
  } as const
  const state = { active: true, primary: true, credentials: {}, conditions: [], now: world.now() }
  await database.db.transaction((tx) => insertIntegration(tx, world.sealer, environment, { ...own, ...state }))
  await ensureFirstStart(database.db, world, noKeys, { mailIsReal: true })
  assert.deepEqual(await builtInMail(database), { active: true, primary: false })
  assert.equal((await production(database)).find(({ provider }) => provider === 'sendgrid')?.primary, true)
})

test('a mail server that is taken away changes nothing, and is warned of', async (t) => {
  const database = await freshDatabase(t)
  const world = createFakeWorld()
  await ensureFirstStart(database.db, world, noKeys, { mailIsReal: true })
  assert.equal(world.logged.length, 0)
  await ensureFirstStart(database.db, world, noKeys)
  assert.deepEqual(await builtInMail(database), { active: true, primary: true })
  assert.match(world.logged[0]?.message ?? '', /captured, not sent: POSTHORN_SMTP_URL/)
  assert.equal(world.logged.length, 1)
})
