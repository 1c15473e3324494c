// Every table can be divided by its environment: what is unique is unique within one, and no key leads with anything else.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Unique indexes that rightly begin with something else. docs/scaling.md refers to this list. */
const exceptions: Readonly<Record<string, string>> = {
  api_keys_hash_key: 'a request has only its key: this look-up is what tells the environment',
  environments_pkey: 'the id is the environment',
  environments_identifier_key: 'the public name of an environment, by which clients without a key find it',
  environments_organization_id_name_key: 'the names of the environments of one organization',
  organizations_name: 'organizations are above environments: their names differ',
  organizations_pkey: 'organizations are above environments',
  installation_pkey: 'one row for the whole installation',
  retention_progress_pkey: 'one row for the whole installation',
  schema_migrations_pkey: 'the book of migrations',
  nodes_pkey: 'nodes of the release before last, which work for all environments',
  nodes_lock_key_key: 'nodes of the release before last, which work for all environments',
  node_heartbeats_pkey: 'nodes work for all environments',
  node_heartbeats_lease_key_key: 'nodes work for all environments',
  inbox_processes_pkey: 'processes serve inboxes of all environments',
  users_pkey: 'users belong to an organization',
  users_link_hash_key: 'whoever sets a password has only the link',
  users_organization_id_email_key: 'users belong to an organization',
}

/** Of partitioned tables the parent alone: partitions have what it has. */
const uniqueIndexes = () =>
  database.db.rows<{ table: string; index: string; first: string | null }>(sql`
    select t.relname as table, i.relname as index, a.attname as first
    from pg_index x
    join pg_class i on i.oid = x.indexrelid
    join pg_class t on t.oid = x.indrelid
    left join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[0]
    where x.indisunique and t.relnamespace = 'public'::regnamespace and not t.relispartition
    order by 1, 2`)

test('every primary key and every unique index begins with the environment, but for the listed ones', async () => {
  const found = await uniqueIndexes()
  assert.ok(found.length > 50)
  const others = found.filter(({ first }) => first !== 'environment_id').map(({ index }) => index)
  assert.deepEqual(others.sort(), Object.keys(exceptions).sort())
})

test('every table has a primary key, and only those of the whole installation have no environment', async () => {
  const tables = await database.db.rows<{ name: string; keyed: boolean; divided: boolean }>(sql`
    select c.relname as name,
      exists (select from pg_index x where x.indrelid = c.oid and x.indisprimary) as keyed,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'environment_id') as divided
    from pg_class c
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
    order by 1`)
  assert.deepEqual(
    tables.filter(({ divided }) => !divided).map(({ name }) => name),
    [
      'environments',
      'inbox_processes',
      'installation',
      'node_heartbeats',
      'nodes',
      'organizations',
      'retention_progress',
      'schema_migrations',
      'users',
    ],
  )
  // Deltas of counts are written, added up and deleted, never looked up one by one.
  assert.deepEqual(
    tables.filter(({ keyed }) => !keyed).map(({ name }) => name),
    ['count_deltas'],
  )
})

test('every reference stays within its environment, or leads to the table of environments', async () => {
  const references = await database.db.rows<{ name: string; to: string; columns: string[] }>(sql`
    select r.conname as name, r.confrelid::regclass::text as to,
      (select array_agg(a.attname::text) from pg_attribute a where a.attrelid = r.conrelid and a.attnum = r.conkey[1]) as columns
    from pg_constraint r where r.contype = 'f' and r.conparentid = 0 order by 1`)
  assert.ok(references.length > 20)
  const leaving = references.filter(({ to, columns }) => columns[0] !== 'environment_id' && to !== 'environments')
  assert.deepEqual(
    leaving.map(({ name }) => name),
    ['environments_organization_id_fkey', 'user_sessions_user_id_fkey', 'users_organization_id_fkey'],
  )
})

test('a table whose key begins with its own id is found', async () => {
  await database.db.run(sql`create table strays (environment_id uuid not null, id uuid primary key)`)
  const found = await uniqueIndexes()
  assert.ok(found.some(({ index, first }) => index === 'strays_pkey' && first === 'id'))
})
