// Changing the encryption key: both keys open while it lasts, and afterwards the old one opens nothing.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { ensureFirstStart, StartError } from '../../src/manage/operate/first-start.ts'
import { reseal } from '../../src/manage/operate/reseal.ts'
import { findIntegration, insertIntegration } from '../../src/store/integrations/integrations.ts'
import { findSealForm, forgetKeysOfEnvironment, listEnvironments } from '../../src/store/operate/installation.ts'
import { findChannels, mergeChannels } from '../../src/store/people/subscriber-channels.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld } from '../support/fake-world.ts'

const [keyA, keyB, keyC] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
const noKeys = { development: undefined, production: undefined }
const base = createFakeWorld()
const holding = (...keys: [Buffer, ...Buffer[]]): FakeWorld => ({ ...base, sealer: createSealer(keys) })

interface Sealed {
  readonly database: TestDatabase
  readonly environment: Environment
  readonly integrationId: string
  readonly subscribers: readonly string[]
}

/** An installation sealed with key A, with more subscribers than one batch holds. */
async function sealedWithA(t: TestContext): Promise<Sealed> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { db } = database
  const world = holding(keyA)
  await ensureFirstStart(db, world, noKeys)
  const [environment] = await listEnvironments(db)
  assert.ok(environment !== undefined)
  const now = world.now()
  const integrationId = world.newId(now)
  const subscribers = Array.from({ length: 1_100 }, () => world.newId(now))
  await db.transaction(async (tx) => {
    await insertIntegration(tx, world.sealer, environment, {
      id: integrationId,
      identifier: 'sealed',
      name: 'Sealed',
      providerId: 'twilio',
      channel: 'sms',
      credentials: { token: 'hush' },
      configurations: { inboundWebhookSigningKey: 'hush too' },
      conditions: [],
      active: false,
      primary: false,
      now,
    })
    await tx.run(sql`insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
                     select ${environment.id}, id, id::text, ${now}, ${now} from unnest(${subscribers}::uuid[]) as id`)
    const changes = subscribers.map((subscriberId) => ({
      subscriberId,
      providerId: 'fcm',
      integrationId: null,
      credentials: { deviceTokens: [`token of ${subscriberId}`] },
    }))
    await mergeChannels(tx, world.sealer, environment, changes, { newId: world.newId, now })
  })
  return { database, environment, integrationId, subscribers }
}

/** Every value in the database that this key sealed, by table and column, whatever tables there are. */
async function sealedWith({ database: { db } }: Sealed, key: Buffer): Promise<Record<string, number>> {
  const columns = await db.rows<{ table: string; column: string }>(sql`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea'`)
  const found: Record<string, number> = {}
  for (const { table, column } of columns) {
    const { keyId } = createSealer([key])
    const [first, second] = [Buffer.concat([Buffer.of(1), keyId]), Buffer.concat([Buffer.of(2), keyId])]
    const text = `select count(*) from ${table} where substring(${column} from 1 for 5) = any(array[$1, $2]::bytea[])`
    const row = await db.row<{ count: number }>({ text, values: [first, second] })
    if (row !== undefined && row.count > 0) found[`${table}.${column}`] = row.count
  }
  return found
}

async function assertReadable(sealed: Sealed, world: FakeWorld): Promise<void> {
  const { database, environment, integrationId, subscribers } = sealed
  const integration = await findIntegration(database.db, world.sealer, environment, integrationId)
  assert.deepEqual(integration?.credentials, { token: 'hush' })
  assert.deepEqual(integration?.configurations, { inboundWebhookSigningKey: 'hush too' })
  const last = subscribers.at(-1) ?? ''
  const channels = await findChannels(database.db, world.sealer, environment, [last])
  assert.deepEqual(channels.get(last)?.[0]?.credentials, { deviceTokens: [`token of ${last}`] })
}

test('the audit key of an environment that was erased moves too', async (t) => {
  const sealed = await sealedWithA(t)
  const { db } = sealed.database
  const production = (await listEnvironments(db))[1]
  assert.ok(production !== undefined)
  await db.run(sql`update environments set deleted_at = now() where id = ${production.id}`)
  await db.transaction((tx) => forgetKeysOfEnvironment(tx, production))
  await reseal(db, holding(keyB, keyA), () => {})
  assert.deepEqual(await sealedWith(sealed, keyA), {})
  assert.equal((await sealedWith(sealed, keyB))['environments.audit_key'], 2)
})

test('everything moves to the new key, and then the new key alone starts and the old one is refused', async (t) => {
  const sealed = await sealedWithA(t)
  const { db } = sealed.database
  assert.deepEqual(await sealedWith(sealed, keyA), {
    'api_keys.sealed_key': 1,
    'environments.audit_key': 2,
    'environments.signing_secret': 2,
    'installation.encryption_check': 1,
    'integrations.configurations': 1,
    'integrations.credentials': 7,
    'subscriber_channels.credentials': 1_100,
  })
  await assert.rejects(ensureFirstStart(db, holding(keyB), noKeys), StartError)
  const both = holding(keyB, keyA)
  await ensureFirstStart(db, both, noKeys)
  await assertReadable(sealed, both)

  const reported: string[] = []
  const total = await reseal(db, both, (what, environment, count) =>
    reported.push(`${environment.name}: ${count} ${what}`),
  )
  assert.equal(total, 2 + 2 + 1 + 7 + 1_100)
  assert.deepEqual(reported, [
    'Development: 1 signing secrets',
    'Development: 1 audit keys',
    'Development: 1 API keys',
    'Development: 4 integrations',
    'Development: 500 subscriber channels',
    'Development: 1000 subscriber channels',
    'Development: 1100 subscriber channels',
    'Production: 1 signing secrets',
    'Production: 1 audit keys',
    'Production: 3 integrations',
  ])
  assert.deepEqual(await sealedWith(sealed, keyA), {})
  await ensureFirstStart(db, holding(keyB), noKeys)
  await assertReadable(sealed, holding(keyB))
  await assert.rejects(ensureFirstStart(db, holding(keyA), noKeys), StartError)
  assert.equal(await reseal(db, holding(keyB), () => assert.fail('there is nothing left to do')), 0)
})

test('with a key missing nothing is lost: what was sealed with it is named, and the check stays', async (t) => {
  const sealed = await sealedWithA(t)
  const { db } = sealed.database
  await assert.rejects(
    reseal(db, holding(keyB, keyC), () => {}),
    (error: Error) => error instanceof StartError && /POSTHORN_ENCRYPTION_KEY_PREVIOUS/.test(error.message),
  )
  await ensureFirstStart(db, holding(keyA), noKeys)
  await assertReadable(sealed, holding(keyA))
})

test('a reseal that was cut short continues where it was, and never lets the old key in last', async (t) => {
  const sealed = await sealedWithA(t)
  const { db } = sealed.database
  const both = holding(keyB, keyA)
  const cut = reseal(db, both, (what) => {
    if (what === 'subscriber channels') throw new Error('cut short')
  })
  await assert.rejects(cut, /cut short/)
  assert.equal((await sealedWith(sealed, keyA))['installation.encryption_check'], 1)
  await assertReadable(sealed, both)
  assert.equal(await reseal(db, both, () => {}), 600 + 5)
  await assertReadable(sealed, holding(keyB))
})

/** How many channel entries are in each form. */
const formsOf = ({ database: { db } }: Sealed) =>
  db.rows<{ form: number; count: number }>(sql`
    select get_byte(credentials, 0) as form, count(*) from subscriber_channels group by 1 order by 1`)

test('a new installation seals each value under its own key; an older one as ever, until it is resealed', async (t) => {
  const sealed = await sealedWithA(t)
  const { db } = sealed.database
  assert.deepEqual(await formsOf(sealed), [{ form: 2, count: 1_100 }])
  // As an earlier version left it.
  const older = createSealer([keyA])
  const { environment } = sealed
  await db.transaction(async (tx) => {
    for (const { id, credentials } of await tx.rows<{ id: string; credentials: Buffer }>(
      sql`select id, credentials from subscriber_channels limit 3`,
    )) {
      const plain = older.open(environment.id, 'channel-credentials', id, credentials)
      const first = older.seal(environment.id, 'channel-credentials', id, plain)
      await tx.run(sql`update subscriber_channels set credentials = ${first} where id = ${id}`)
    }
    const check = older.seal('installation', 'installation', 'check', 'posthorn')
    await tx.run(sql`update installation set encryption_check = ${check}`)
  })
  const node = holding(keyA)
  await ensureFirstStart(db, node, noKeys)
  assert.equal(node.sealer.form(), 1, 'nodes of an earlier version may run beside it')
  assert.equal(await findSealForm(db), 1)
  await assertReadable(sealed, node)
  // Cut short, an older version is refused already: it could not open what has moved.
  await assert.rejects(
    reseal(db, holding(keyA), () => {
      throw new Error('cut short')
    }),
    /cut short/,
  )
  assert.equal(await findSealForm(db), 2)
  await assertReadable(sealed, node)
  assert.equal(await reseal(db, holding(keyA), () => {}), 0, 'what had moved was committed')
  assert.deepEqual(await formsOf(sealed), [{ form: 2, count: 1_100 }])
  assert.equal(await findSealForm(db), 2)
  await ensureFirstStart(db, node, noKeys)
  assert.equal(node.sealer.form(), 2)
  await assertReadable(sealed, node)
})
