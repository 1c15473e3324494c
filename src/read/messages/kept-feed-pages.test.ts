// Kept pages of feeds: their bounds, and their keys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeptPages } from '../page/kept-pages.ts'
import { feedPageKey, keptFeedsBounds } from './kept-feed-pages.ts'

const start = new Date(0)
const page = (text: string) => ({ stamp: 'stamp', text })

test('the bounds of a node hold some hundred pages of the longest kind', () => {
  const pages = createKeptPages(keptFeedsBounds)
  const keys = Array.from({ length: 200 }, (_, at) => String(at))
  for (const key of keys) pages.keep(key, page('x'.repeat(keptFeedsBounds.textLengthMax)), start)
  const held = keys.filter((key) => pages.find(key, start) !== undefined)
  assert.ok(
    held.length * keptFeedsBounds.textLengthMax <= keptFeedsBounds.lengthMax && held.length >= 100,
    `${held.length}`,
  )
})

test('every part of a question is part of its key; what is not kept has none', () => {
  const environment = { id: 'e', organizationId: 'o', name: 'Development' }
  const other = { ...environment, id: 'f' }
  const first = { page: 0, limit: 10 }
  const keys = [
    feedPageKey(environment, 'a', first, true),
    feedPageKey(environment, 'a', first, false),
    feedPageKey(other, 'a', first, true),
    feedPageKey(environment, 'b', first, true),
    feedPageKey(environment, 'a",10,null,null,true]', first, true),
    feedPageKey(environment, 'a', { page: 0, limit: 11 }, true),
    ...[true, false].flatMap((flag) => [
      feedPageKey(environment, 'a', { ...first, read: flag }, true),
      feedPageKey(environment, 'a', { ...first, seen: flag }, true),
      feedPageKey(environment, 'a', { ...first, read: flag, seen: flag }, true),
    ]),
  ]
  assert.ok(keys.every((key) => key !== undefined))
  assert.equal(new Set(keys).size, keys.length)
  for (const query of [
    { ...first, page: 1 },
    { ...first, payload: {} },
    { ...first, feedIds: ['shop'] },
  ]) {
    assert.equal(feedPageKey(environment, 'a', query, true), undefined)
  }
})
