// Workflow versions are kept up to a bound, and a batch has all it asked for whatever is evicted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql, Statement } from '../../db/sql.ts'
import { createVersions } from './versions.ts'

const environment = { id: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21', organizationId: '', name: 'Development' }

/** Answers every version it is asked for, and remembers which those were. */
function versionsDb(): Sql & { asked: string[][] } {
  const asked: string[][] = []
  const rows = async <Row extends object>(statement: Statement): Promise<Row[]> => {
    const ids = statement.values.find((value) => Array.isArray(value)) as string[]
    asked.push(ids)
    return ids.map((id) => ({ id, workflow_id: 'w', workflowId: 'w', identifier: 'i', definition: {} })) as never
  }
  return { asked, rows, row: async () => undefined, run: async () => 0 }
}

test('a version is read once', async () => {
  const db = versionsDb()
  const versions = createVersions()
  await versions.of(db, environment, ['a', 'b'])
  const found = await versions.of(db, environment, ['b', 'a'])
  assert.deepEqual([...found.keys()].sort(), ['a', 'b'])
  assert.deepEqual(db.asked, [['a', 'b']])
})

test('beyond the bound the oldest go, and a batch still has all it asked for', async () => {
  const db = versionsDb()
  const versions = createVersions(2)
  const found = await versions.of(db, environment, ['a', 'b', 'c'])
  assert.deepEqual([...found.keys()], ['a', 'b', 'c'])
  await versions.of(db, environment, ['b', 'c'])
  await versions.of(db, environment, ['a'])
  assert.deepEqual(db.asked, [['a', 'b', 'c'], ['a']])
})
