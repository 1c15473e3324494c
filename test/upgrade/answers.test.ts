// An upgrade loses nothing: every release's database is migrated, and answers what that release answered.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import type { Json } from '../support/app.ts'
import { createTestDatabase } from '../support/database.ts'
import type { Service } from '../support/service.ts'
import type { Dump } from './dumps.ts'
import { answersOf, insertsOf, listDumps, runText, statementsOf } from './dumps.ts'
import { assertContains, callOf, UpgradeScene } from './upgrade-scene.ts'

interface Upgraded {
  readonly dump: Dump
  readonly scene: UpgradeScene
  /** It accepts and runs nothing: what is read stays as it was. */
  readonly node: Service
  readonly rowsBefore: ReadonlyMap<string, number>
}

const dumps = listDumps()
const upgrades = new Map<Dump, Upgraded>()
const onClose: (() => Promise<void>)[] = []
before(async () => {
  for (const dump of dumps) {
    const scene = await UpgradeScene.create(dump)
    onClose.push(() => scene.close())
    const rowsBefore = await countRows(scene)
    upgrades.set(dump, { dump, scene, rowsBefore, node: await scene.start({ POSTHORN_ROLE: 'api' }) })
  }
})
after(async () => {
  for (const close of onClose) await close()
})

/** A test of each release's database. */
function each(name: string, body: (upgraded: Upgraded) => Promise<void>): void {
  for (const dump of dumps) {
    test(`the database of ${dump.version} ${name}`, () => body(upgrades.get(dump) ?? assert.fail('it did not start')))
  }
}

async function countRows(scene: UpgradeScene): Promise<Map<string, number>> {
  const tables = await scene.rows(`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition order by 1`)
  const counts = new Map<string, number>()
  for (const { name } of tables) counts.set(name, await scene.count(name))
  return counts
}

test('there is a dump of release 0.1.0', () => {
  assert.ok(dumps.some(({ version }) => version === '0.1.0'))
})

each('is migrated by a start', async ({ scene }) => {
  const applied = await scene.rows('select name from schema_migrations order by number')
  assert.deepEqual(
    applied.map(({ name }) => name),
    (await readMigrations()).map(({ name }) => name),
  )
})

each('keeps every row', async ({ scene, rowsBefore }) => {
  const after = await countRows(scene)
  // Migrations are added, and what changes by the minute: counts are folded, limits drawn from.
  const isChanging = new Set(['schema_migrations', 'count_deltas', 'counts', 'rate_limits'])
  assert.ok(rowsBefore.size > 30, `${rowsBefore.size} tables`)
  for (const [name, count] of rowsBefore) if (!isChanging.has(name)) assert.equal(after.get(name), count, name)
})

for (const environment of ['development', 'production'] as const) {
  each(`answers every read of ${environment} as before`, async ({ dump, node }) => {
    const call = callOf(node, dump.keys[environment])
    const paths = Object.entries(answersOf(dump)[environment])
    assert.ok(paths.length > 20, `${paths.length} paths`)
    // The log first: looks at the secrets of integrations are added to it.
    const isLog = ([path]: [string, unknown]): boolean => path.startsWith('/v1/audit')
    const inOrder = [...paths.filter(isLog), ...paths.filter((one) => !isLog(one))]
    for (const [path, before] of inOrder) assertContains(await call('GET', path), before, path)
  })
}

each('opens sealed credentials', async ({ dump, node }) => {
  const integrations = await callOf(node, dump.keys.development)('GET', '/v1/integrations')
  const sms = integrations.find((one: Json) => one.identifier === 'post-sms')
  assert.equal(sms.credentials.apiKey, 'key-of-the-sms-vendor')
  const ada = await callOf(node, dump.keys.development)('GET', '/v2/subscribers/ada')
  assert.deepEqual(
    ada.channels.map((one: Json) => one.credentials.deviceTokens ?? one.credentials.webhookUrl),
    [['token-1', 'token-2'], 'http://192.0.2.1/chat/ada'],
  )
})

each('keeps keys apart: one opens its own environment', async ({ dump, node }) => {
  for (const [environment, name] of [
    ['development', 'Ada'],
    ['production', 'Adele'],
  ] as const) {
    const ada = await callOf(node, dump.keys[environment])('GET', '/v2/subscribers/ada')
    assert.equal(ada.firstName, name)
  }
  assert.equal((await node.call('GET', '/v2/subscribers/ada', `${dump.keys.development}x`)).status, 401)
})

each('answers a repeated call by what it stored', async ({ dump, node }) => {
  const event = { name: 'hello', to: 'ben', transactionId: 'done-once', payload: { n: 7 } }
  const repeat = (body: object): Promise<Response> =>
    fetch(`${node.url}/v1/events/trigger`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${dump.keys.development}`,
        'content-type': 'application/json',
        'idempotency-key': dump.once,
      },
      body: JSON.stringify(body),
    })
  const reply = await repeat(event)
  assert.deepEqual([reply.status, reply.headers.get('idempotency-replay')], [201, 'true'])
  assert.equal(((await reply.json()) as Json).transactionId, 'done-once')
  assert.equal((await repeat({ ...event, payload: { n: 8 } })).status, 422)
})

each('does not run an event again whose transactionId it knows', async ({ dump, node, scene }) => {
  const call = callOf(node, dump.keys.development)
  const before = await scene.count('events')
  const again = await call('POST', '/v1/events/trigger', {
    name: 'hello',
    to: 'ada',
    transactionId: 'done-hello-ada',
  })
  assert.deepEqual([again.status, again.transactionId], ['processed', 'done-hello-ada'])
  assert.equal(await scene.count('events'), before)
})

each('takes rows as that release writes them: an old node may run beside a new one', async ({ dump, rowsBefore }) => {
  const database = await createTestDatabase({ empty: true })
  onClose.push(() => database.drop())
  await migrate(database.db, await readMigrations())
  const inserts = insertsOf(dump)
  assert.ok(new Set(inserts.map(({ table }) => table)).size > 30)
  // Without foreign keys: a dump's tables come in the order of their names.
  await runText(database, `set session_replication_role = replica; ${inserts.map(({ text }) => text).join('\n')}`)
  const [row] = await database.db.rows<{ count: number }>({
    text: 'select count(*)::int as count from jobs',
    values: [],
  })
  assert.equal(row?.count, rowsBefore.get('jobs'))
})

each(
  'plans every statement of that release: an old node that is running goes on beside a new one',
  async (upgraded) => {
    const { dump, scene } = upgraded
    const statements = statementsOf(dump)
    assert.ok(statements.length > 200, `${statements.length} statements`)
    const failed: string[] = []
    for (const text of statements) {
      const explained = `explain (generic_plan) ${text}`
      await scene.rows(explained).catch((error: Error) => failed.push(`${error.message}: ${text}`))
    }
    assert.deepEqual(failed, [])
  },
)
