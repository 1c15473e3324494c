// Migrations expand first and contract one release later: nodes of two releases run beside each other during an upgrade.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contraction } from './rules/migrations.ts'
import { contractionBreaches, staleContractions } from './rules/migrations.ts'
import { readSources, reported, sample } from './rules/sources.ts'

const migrations = readSources(['src/db/migrations'], ['.sql'])

/** What may go, since no release that may still be running uses it. */
const allowed: readonly Contraction[] = []

test('a migration takes nothing away that the release before still uses', () => {
  assert.deepEqual(reported(contractionBreaches(migrations, allowed)), [])
})

test('every exception is still needed', () => {
  assert.deepEqual(staleContractions(migrations, allowed), [])
})

const file = 'src/db/migrations/0011-example.sql'
const broken = (text: string, exceptions: readonly Contraction[] = [], path = file): number =>
  contractionBreaches(sample({ [path]: text }), exceptions).length

test('dropping, renaming, other types and required columns are refused', () => {
  for (const text of [
    'drop table nodes;',
    'DROP TABLE IF EXISTS nodes;',
    'truncate counts;',
    'alter table jobs drop column lease;',
    'alter table jobs\n  add column a text,\n  drop column b;',
    'alter table jobs rename column lease to held_by;',
    'alter table jobs rename to steps;',
    'alter table jobs alter column step type integer;',
    'alter table jobs alter column step set data type integer;',
    'alter table jobs alter column state set not null;',
    'alter table jobs add column a text not null;',
    'alter table jobs add column a text not null, add column b text default 1;',
    "do $$ begin execute 'alter table jobs drop column lease'; end $$;",
  ]) {
    assert.equal(broken(text), 1, text)
  }
})

test('what only adds is fine, and so is whatever concerns a table of the same file', () => {
  for (const text of [
    '-- drop table nodes\nselect 1;',
    "alter table jobs add column a text not null default '', add column b integer;",
    'create table beats (id uuid primary key); alter table beats alter column id set not null; drop table beats;',
    'create or replace function sweep() returns void language plpgsql as $$ begin drop table gone; end $$;',
    'create or replace function f() returns text language sql as $body$ select $$drop table x$$ $body$;',
    'create index concurrently renamed_jobs on jobs (id);',
    'drop index jobs_due;',
  ]) {
    assert.equal(broken(text), 0, text)
  }
})

test('migrations of the first release are left alone, and a listed exception counts for its own statement', () => {
  assert.equal(broken('drop table nodes;', [], 'src/db/migrations/0010-example.sql'), 0)
  const exception = { file, within: 'drop table nodes', reason: 'used until 0.2.0' }
  assert.equal(broken('drop table nodes;', [exception]), 0)
  assert.equal(broken('drop table nodes; drop table jobs;', [exception]), 1)
  assert.deepEqual(staleContractions(sample({ [file]: 'select 1;' }), [exception]), [`${file}: drop table nodes`])
  assert.deepEqual(staleContractions(sample({ [file]: 'drop table nodes;' }), [exception]), [])
})
