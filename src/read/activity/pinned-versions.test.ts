// Versions for pages are kept up to a bound; what may still change with its workflow is read every time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql, Statement } from '../../db/sql.ts'
import { createPinnedVersions } from './pinned-versions.ts'

const environment = { id: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21', organizationId: '', name: 'Development' }

/** Answers every version it is asked for, and remembers which those were. Ids that begin with `old` have no identifier. */
function versionsDb(): Sql & { asked: string[][] } {
  const asked: string[][] = []
  const rows = async <Row extends object>(statement: Statement): Promise<Row[]> => {
    const ids = statement.values.find((value) => Array.isArray(value)) as string[]
    asked.push(ids)
    return ids.map((id) => {
      const stored = id.startsWith('old') ? {} : { identifier: 'then' }
      const definition = { ...stored, name: 'Name', tags: [], critical: false, steps: [] }
      return { id, workflowId: 'w', identifier: 'now', definition }
    }) as never
  }
  return { asked, rows, row: async () => undefined, run: async () => 0 }
}

test('a version is read once, however often it is asked for', async () => {
  const db = versionsDb()
  const versions = createPinnedVersions()
  await versions.of(db, environment, ['a', 'b', 'a'])
  const found = await versions.of(db, environment, ['b', 'a', 'b'])
  assert.deepEqual([...found.keys()].sort(), ['a', 'b'])
  assert.deepEqual(db.asked, [['a', 'b']])
})

test('a version from before identifiers were stored with it is read every time: the workflow may be renamed', async () => {
  const db = versionsDb()
  const versions = createPinnedVersions()
  await versions.of(db, environment, ['old', 'new'])
  const found = await versions.of(db, environment, ['old', 'new'])
  assert.equal(found.get('old')?.ofMessages.identifier, 'now')
  assert.deepEqual(db.asked, [['old', 'new'], ['old']])
})

test('beyond the bound the oldest go, and a page still has all it asked for', async () => {
  const db = versionsDb()
  const versions = createPinnedVersions(2)
  const found = await versions.of(db, environment, ['a', 'b', 'c'])
  assert.deepEqual([...found.keys()], ['a', 'b', 'c'])
  await versions.of(db, environment, ['b', 'c'])
  await versions.of(db, environment, ['a'])
  assert.deepEqual(db.asked, [['a', 'b', 'c'], ['a']])
})
