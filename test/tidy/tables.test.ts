// One writer a table, and no statement without its environment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, readSources, reported, sample } from './rules/sources.ts'
import { tablesOf } from './rules/statements.ts'
import type { Exemption } from './rules/tables.ts'
import { environmentBreaches, staleExemptions, writerBreaches } from './rules/tables.ts'

const sources = readSources(['src'], ['.ts'])
const tables = tablesOf(readSources(['src/db/migrations'], ['.sql']))
const roomsWithSql = only(sources, (path) => /^src\/(?:store|read)\//.test(path))

/** Statements that rightly speak of all environments. */
const exemptions: readonly Exemption[] = [
  { file: 'src/store/operate/api-keys.ts', within: 'findPrincipals', reason: 'the key is what names the environment' },
  {
    file: 'src/store/operate/api-keys.ts',
    within: 'touchApiKeys',
    reason: 'keys of all environments at once, by their hashes',
  },
  {
    file: 'src/store/operate/audit-streams.ts',
    within: 'leaseAuditStream',
    reason: 'the next stream of any environment, as the queue has jobs',
  },
  {
    file: 'src/store/messages/inbox-changes.ts',
    within: 'reopenInboxes',
    reason: 'once, for all that was moved to another server',
  },
  {
    file: 'src/store/operate/nodes.ts',
    within: 'beatAnswer',
    reason: 'a node works for all environments, and learns which are held',
  },
  {
    file: 'src/store/operate/sending-holds.ts',
    within: 'listHeldEnvironments',
    reason: 'the banner and the command name every environment that is held',
  },
  {
    file: 'src/store/operate/environment-deletions.ts',
    within: 'leaseDeletion',
    reason: 'the next environment that is to be erased',
  },
  {
    file: 'src/store/operate/idempotency.ts',
    within: 'sweepStoredAnswers',
    reason: 'sweeps expired answers of all environments',
  },
  {
    file: 'src/store/integrations/inbound-tokens.ts',
    within: 'sweepSignedTexts',
    reason: 'sweeps old words of all environments',
  },
  {
    file: 'src/store/people/topic-subscriptions.ts',
    within: 'sweepDeletedTopics',
    reason: 'sweeps deleted topics of all environments',
  },
  {
    file: 'src/store/events/throttle-windows.ts',
    within: 'sweepThrottleWindows',
    reason: 'sweeps windows that are over of all environments',
  },
  {
    file: 'src/store/messages/outbox.ts',
    within: 'sweepOutbox',
    reason: 'sweeps the outboxes of all environments',
  },
  {
    file: 'src/store/events/attachments.ts',
    within: 'sweepAttachments',
    reason: 'sweeps the files of all environments',
  },
  {
    file: 'src/store/operate/dashboard-sessions.ts',
    within: 'sweepDashboard',
    reason: 'sweeps expired sessions and links of all environments',
  },
  {
    file: 'src/store/operate/user-sessions.ts',
    within: 'sweepUserSessions',
    reason: 'sweeps expired sessions of all environments',
  },
  {
    file: 'src/store/operate/user-sessions.ts',
    within: 'revokeSessionsOfUser',
    reason: 'a user has a session in each environment of the organization',
  },
  {
    file: 'src/store/people/presence.ts',
    within: 'findDeadPresence',
    reason: 'rows of lost processes of all environments',
  },
  {
    file: 'src/store/people/presence.ts',
    within: 'deleteDeadProcesses',
    reason: 'processes serve all environments',
  },
  {
    file: 'src/store/webhooks/webhook-deliveries.ts',
    within: 'sweepDeliveries',
    reason: 'sweeps old deliveries of all environments',
  },
  {
    file: 'src/store/webhooks/webhook-deliveries.ts',
    within: 'countWaitingDeliveries',
    reason: 'a metric of the whole service',
  },
  {
    file: 'src/store/webhooks/webhook-endpoints.ts',
    within: 'countEndpointStates',
    reason: 'a metric of the whole service',
  },
  {
    file: 'src/store/webhooks/webhook-endpoints.ts',
    within: 'sweepDeletedEndpoints',
    reason: 'sweeps deleted endpoints of all environments',
  },
  {
    file: 'src/store/operate/sending-holds.ts',
    within: 'isThere',
    reason: 'a restore and a move hold all environments that are not deleted',
  },
  {
    file: 'src/store/operate/sending-holds.ts',
    within: 'holdsOfRestores',
    reason: 'a move concerns all environments',
  },
  {
    file: 'src/store/operate/sending-holds.ts',
    within: 'hasMovedAway',
    reason: 'a move concerns all environments',
  },
  {
    file: 'src/store/operate/sending-holds.ts',
    within: 'undoMovedAway',
    reason: 'a move concerns all environments',
  },
  { file: 'src/store/operate/counts.ts', within: 'sweepCounts', reason: 'sweeps old counts of all environments' },
]

test('a table is written in src/store only, and in one file of it', () => {
  assert.ok(tables.has('subscribers') && tables.has('installation'))
  assert.deepEqual(reported(writerBreaches(sources, tables)), [])
})

test('every statement on a table of an environment says which environment', () => {
  assert.equal(tables.get('subscribers')?.hasEnvironment, true)
  assert.equal(tables.get('organizations')?.hasEnvironment, false)
  assert.deepEqual(reported(environmentBreaches(roomsWithSql, tables, exemptions)), [])
})

test('every exemption is still needed', () => {
  assert.deepEqual(staleExemptions(roomsWithSql, tables, exemptions), [])
})

const known = tablesOf(
  sample({
    'a.sql':
      'create table things (environment_id uuid not null, id uuid); -- create table no_table (\ncreate table orders (id uuid);',
    'b.sql':
      'alter table orders add column note text; create table if not exists parts (\n  environment_id uuid not null\n);',
  }),
)

test('the tables and whether they have an environment are read from the migrations', () => {
  assert.deepEqual(
    [...known.values()].map(({ name, hasEnvironment }) => [name, hasEnvironment]),
    [
      ['things', true],
      ['orders', false],
      ['parts', true],
    ],
  )
})

const writing = [
  'insert into things (environment_id) values (1)',
  'INSERT INTO things as t (environment_id) values (1)',
  'update things set a = 1',
  'update things t set a = 1',
  'update only things as t set a = 1',
  'with x as (delete from things where true returning id) select 1',
  'truncate things',
  'merge into things using parts on true when matched then delete',
]
for (const statement of writing) {
  test(`the rule sees a writer in: ${statement}`, () => {
    const text = `tx.run(sql\`${statement}\`)`
    assert.equal(writerBreaches(sample({ 'src/manage/a.ts': text }), known).length, 1)
    assert.equal(writerBreaches(sample({ 'src/store/a.ts': text }), known).length, 0)
    assert.equal(writerBreaches(sample({ 'src/store/a.ts': text, 'src/store/b.ts': text }), known).length, 1)
  })
}

test('the files of the folder named after a table may share it, those of any other folder may not', () => {
  const text = 'tx.run(sql`update things set a = 1`)'
  const one = { 'src/store/things/a.ts': text, 'src/store/things/b.ts': text }
  assert.equal(writerBreaches(sample(one), known).length, 0)
  assert.equal(writerBreaches(sample({ ...one, 'src/store/parts/c.ts': text }), known).length, 1)
  assert.equal(writerBreaches(sample({ 'src/store/people/a.ts': text }), known).length, 0)
  const two = { 'src/store/people/a.ts': text, 'src/store/people/b.ts': text }
  assert.equal(writerBreaches(sample(two), known).length, 1)
})

test('locks, conflicts, comments, reads and tables of no one are no writes', () => {
  const text = [
    'sql`select id from things for update skip locked`',
    'sql`on conflict (id) do update set a = 1`',
    '// update things set a = 1',
    'sql`delete from pg_temp_something`',
    "const message = 'Could not update things'",
  ].join('\n')
  assert.deepEqual(writerBreaches(sample({ 'src/read/a.ts': text }), known), [])
})

test('the book of migrations is kept by migrate.ts, and by no one else', () => {
  const book = tablesOf(sample({ 'a.sql': 'create table schema_migrations (number integer);' }))
  const text = 'sql`insert into schema_migrations (number) values (1)`'
  assert.equal(writerBreaches(sample({ 'src/db/migrate.ts': text }), book).length, 0)
  assert.equal(writerBreaches(sample({ 'src/db/other.ts': text }), book).length, 1)
})

/** In the samples « and » stand for a template's hole, which in a plain string would look like a mistake. */
const inFunction = (statement: string): string =>
  `export function find(db) {\n  return db.rows(${statement.replaceAll('«', '${').replaceAll('»', '}')})\n}\n`
const without: Readonly<Record<string, string>> = {
  'a select': 'sql`select id from things where id = «id»`',
  'an update': 'sql`update things set a = 1 where id = «id»`',
  'a delete': 'sql`delete from things where id = «id»`',
  'a join': 'sql`select o.id from orders o join things t on t.id = o.id`',
  'a second table after a comma': 'sql`select 1 from orders, things`',
  'an environment that is only selected': 'sql`select environment_id from things where id = «id»`',
  'environments that are only joined':
    'sql`select 1 from things t join parts p on p.environment_id = t.environment_id`',
  'a nested statement': 'sql`select 1 where exists («sql`select 1 from things`»)`',
  'an insert that leaves it out': 'sql`insert into things (id) values («id»)`',
  'a piece that is never completed': 'count(sql`from things`)',
}
for (const [name, statement] of Object.entries(without)) {
  test(`the rule refuses ${name} without its environment`, () => {
    const breaches = environmentBreaches(sample({ 'src/store/a.ts': inFunction(statement) }), known, [])
    assert.deepEqual(reported(breaches), ['src/store/a.ts:2 find touches things without its environment'])
  })
}

const within: Readonly<Record<string, string>> = {
  'a select with it': 'sql`select id from things where environment_id = «environment.id»`',
  'an insert of rows that bring their own':
    'sql`insert into things (environment_id, id) select e, i from unnest(«all»)`',
  'a nested statement with it':
    'sql`select 1 where exists («sql`select 1 from things where environment_id = «environment.id»`»)`',
  'a table of no environment': 'sql`select id from orders where id = «id»`',
  'a piece that is completed beside it':
    'page({ from: sql`from things`, where: [sql`environment_id = «environment.id»`] })',
  'conditions spliced in': 'sql`select 1 from things where «allOf([sql`environment_id = «environment.id»`])»`',
}
for (const [name, statement] of Object.entries(within)) {
  test(`the rule allows ${name}`, () => {
    assert.deepEqual(environmentBreaches(sample({ 'src/store/a.ts': inFunction(statement) }), known, []), [])
  })
}

test('an exemption holds for one function of one file, and is reported when it is not needed', () => {
  const text = inFunction('sql`select id from things`')
  const exemption = { file: 'src/store/a.ts', within: 'find', reason: 'a sample' }
  const files = sample({ 'src/store/a.ts': text, 'src/store/b.ts': text })
  assert.deepEqual(
    environmentBreaches(files, known, [exemption]).map(({ file }) => file),
    ['src/store/b.ts'],
  )
  assert.deepEqual(staleExemptions(files, known, [exemption]), [])
  assert.equal(staleExemptions(files, known, [{ ...exemption, within: 'gone' }]).length, 1)
})
