// Filters of the inbox, in every form that callers write them in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FilterMistake, readInboxFilter } from './inbox-filter.ts'

test('tags are any of a list, or each of several groups', () => {
  assert.deepEqual(readInboxFilter({ tags: ['a', 'b'] }), { tags: [['a', 'b']] })
  assert.deepEqual(readInboxFilter({ tags: { or: ['a'] } }), { tags: [['a']] })
  assert.deepEqual(readInboxFilter({ tags: { and: [{ or: ['a', 'b'] }, { or: ['c'] }] } }), {
    tags: [['a', 'b'], ['c']],
  })
  assert.deepEqual(readInboxFilter({ tags: [] }), { tags: [] })
})

test('a severity may be one or several; flags and timestamps are taken as they are', () => {
  assert.deepEqual(readInboxFilter({ severity: 'high' }), { severities: ['high'] })
  assert.deepEqual(readInboxFilter({ severity: ['none', 'low'] }), { severities: ['none', 'low'] })
  const rest = { read: false, archived: false, snoozed: true, seen: true, createdGte: 1, createdLte: 2 }
  assert.deepEqual(readInboxFilter({ ...rest, unknown: 1 }), rest)
})

test('data is asked for by name, at most one level deep', () => {
  assert.deepEqual(readInboxFilter({ data: { kind: 'a', ids: [1, 2], deep: { x: { or: [true] } } } }), {
    data: [
      { path: ['kind'], groups: [['a']] },
      { path: ['ids'], groups: [[1, 2]] },
      { path: ['deep', 'x'], groups: [[true]] },
    ],
  })
  assert.deepEqual(readInboxFilter({ data: { a: { and: [{ or: [1] }, { or: [2, null] }] }, none: [] } }), {
    data: [{ path: ['a'], groups: [[1], [2, null]] }],
  })
})

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `tag ${index}`)
const mistakes: Readonly<Record<string, unknown>> = {
  'a list instead of a filter': [],
  'a flag that is a text': { read: 'yes' },
  'a timestamp that is a string': { createdGte: '2026' },
  'a timestamp that no date has': { createdLte: 1e300 },
  'an unknown severity': { severity: 'urgent' },
  'a tag that is a number': { tags: [1] },
  'a tag alone': { tags: 'a' },
  'groups that are no list': { tags: { and: 'a' } },
  'a group that is no list': { tags: { and: ['a'] } },
  'too many groups': { tags: { and: Array.from({ length: 31 }, () => ({ or: ['a'] })) } },
  'too many in a group': { tags: many(101) },
  'too many in all': { tags: { and: [{ or: many(100) }, { or: many(100) }, { or: many(1) }] } },
  'data that is a list': { data: [] },
  'data two levels deep': { data: { a: { b: { c: 1 } } } },
  'a name for operators': { data: { $where: 1 } },
  'an empty name': { data: { '': 1 } },
  'a name with a dot in front': { data: { '.a': 1 } },
  'a prototype': { data: { constructor: 1 } },
  'a long text': { data: { a: 'x'.repeat(257) } },
  'unread and archived at once': { read: false, archived: true },
}
for (const [name, given] of Object.entries(mistakes)) {
  test(`refused: ${name}`, () => {
    assert.throws(() => readInboxFilter(given), FilterMistake)
  })
}
