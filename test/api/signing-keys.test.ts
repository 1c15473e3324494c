// Keys that may sign: a sealed copy of the key is kept beside its hash, and goes when the key goes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { ensureFirstStart } from '../../src/manage/operate/first-start.ts'
import { reseal } from '../../src/manage/operate/reseal.ts'
import { findSigningKeys } from '../../src/store/operate/api-keys.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createTestDatabase } from '../support/database.ts'
import { createFakeWorld } from '../support/fake-world.ts'

const keysPath = '/v1/environments/api-keys'

let app: TestApp
let development: Environment
let production: Environment
before(async () => {
  app = await createTestApp()
  const [first, second] = await listEnvironments(app.database.db)
  assert.ok(first !== undefined && second !== undefined)
  development = first
  production = second
})
after(() => app.close())

const signing = (environment: Environment): Promise<string[]> =>
  findSigningKeys(app.database.db, app.world.sealer, environment, app.world.now())

test('the keys of the settings may sign, each for its own environment', async () => {
  assert.deepEqual(await signing(development), [app.developmentKey])
  assert.deepEqual(await signing(production), [app.productionKey])
})

test('a key has a copy only if it is made to sign, and the copy is sealed', async () => {
  const plain = await app.call('POST', keysPath, { body: { name: 'Plain' } })
  const made = await app.call('POST', keysPath, { body: { name: 'Signing', signing: true } })
  assert.deepEqual([plain.body.signing, made.body.signing], [false, true])
  assert.deepEqual(await signing(development), [made.body.key, app.developmentKey])
  const rows = await app.database.db.rows<{ hash: Buffer; sealed_key: Buffer | null }>(
    sql`select hash, sealed_key from api_keys where environment_id = ${development.id} and id = ${made.body._id}`,
  )
  assert.equal(rows[0]?.sealed_key?.includes(made.body.key), false)
  const hash = rows[0]?.hash.toString('hex') ?? ''
  assert.throws(() => app.world.sealer.open(production.id, 'api-key', hash, rows[0]?.sealed_key ?? Buffer.alloc(0)))
  const list = await app.call('GET', keysPath)
  assert.deepEqual(
    list.body.data.slice(0, 2).map((key: { signing: boolean }) => key.signing),
    [true, false],
  )
  assert.equal(list.text.includes(made.body.key), false)
})

test('a key that is revoked or has expired does not sign, and a revoked one leaves no copy', async () => {
  const expiresAt = new Date(app.world.now().getTime() + 60_000).toISOString()
  const brief = (await app.call('POST', keysPath, { body: { signing: true, expiresAt } })).body
  const revoked = (await app.call('POST', keysPath, { body: { signing: true } })).body
  const known = await signing(development)
  assert.ok(known.includes(brief.key) && known.includes(revoked.key))
  assert.equal((await app.call('DELETE', `${keysPath}/${revoked._id}`)).status, 204)
  app.world.advance(60_001)
  const left = await signing(development)
  assert.ok(!left.includes(brief.key) && !left.includes(revoked.key))
  const rows = await app.database.db.rows(
    sql`select from api_keys where environment_id = ${development.id} and id = ${revoked._id} and sealed_key is not null`,
  )
  assert.equal(rows.length, 0)
})

test('a configured key from before gets its copy at the next start; other keys from before stay without', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { db } = database
  const world = createFakeWorld()
  const keys = { development: 'key-from-before', production: undefined }
  await ensureFirstStart(db, world, keys)
  const [environment] = await listEnvironments(db)
  assert.ok(environment !== undefined)
  await db.run(sql`update api_keys set sealed_key = null where environment_id = ${environment.id}`)
  assert.deepEqual(await findSigningKeys(db, world.sealer, environment, world.now()), [])
  await ensureFirstStart(db, world, { development: undefined, production: undefined })
  assert.deepEqual(await findSigningKeys(db, world.sealer, environment, world.now()), [])
  await ensureFirstStart(db, world, keys)
  assert.deepEqual(await findSigningKeys(db, world.sealer, environment, world.now()), ['key-from-before'])
})

test('the first key of an installation may sign; reseal moves the copies to the new encryption key', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { db } = database
  const base = createFakeWorld()
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const before = { ...base, sealer: createSealer([oldKey]) }
  const first = await ensureFirstStart(db, before, { development: undefined, production: undefined })
  const [environment] = await listEnvironments(db)
  assert.ok(environment !== undefined)
  await reseal(db, { ...base, sealer: createSealer([newKey, oldKey]) }, () => undefined)
  const keys = await findSigningKeys(db, createSealer([newKey]), environment, base.now())
  assert.deepEqual(keys, [first.newKey])
})
