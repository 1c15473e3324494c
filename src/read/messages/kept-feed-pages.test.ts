// Kept pages of feeds: their age, their bounds, and their keys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageMsMax, createKeptFeedPages, feedPageKey, textLengthMax } from './kept-feed-pages.ts'

const start = new Date(0)
const later = (ms: number): Date => new Date(start.getTime() + ms)
const page = (text: string) => ({ stamp: 'stamp', text })

test('a page is found until it is forgotten, or replaced', () => {
  const pages = createKeptFeedPages()
  pages.keep('a', page('one'), start)
  pages.keep('b', page('two'), start)
  assert.equal(pages.find('a', start)?.text, 'one')
  pages.keep('a', page('three'), start)
  assert.equal(pages.find('a', start)?.text, 'three')
  pages.forget('a')
  assert.equal(pages.find('a', start), undefined)
  assert.equal(pages.find('b', start)?.text, 'two')
  assert.equal(pages.find('c', start), undefined)
})

test('a page is used for as long as it may be old, and not if the clock was set back', () => {
  const pages = createKeptFeedPages()
  pages.keep('a', page('one'), later(1_000))
  assert.equal(pages.find('a', later(1_000 + ageMsMax))?.text, 'one')
  assert.equal(pages.find('a', later(1_000 + ageMsMax + 1)), undefined)
  assert.equal(pages.find('a', later(999)), undefined)
})

test('what is too old goes when another page is kept', () => {
  const pages = createKeptFeedPages()
  pages.keep('a', page('one'), start)
  pages.keep('b', page('two'), later(1))
  pages.keep('c', page('three'), later(ageMsMax + 1))
  // Asked as of then, when it was not old: it is no longer there.
  assert.equal(pages.find('a', start), undefined)
  assert.equal(pages.find('b', later(1))?.text, 'two')
})

test('the texts and stamps of all pages are bounded together, and so is their number', () => {
  const length = 'stamp'.length + 5
  const pages = createKeptFeedPages({ pagesMax: 3, lengthMax: 2 * length })
  for (const key of ['a', 'b', 'c']) pages.keep(key, page('xxxxx'), start)
  const held = (keys: string) => [...keys].filter((key) => pages.find(key, start) !== undefined).join('')
  assert.equal(held('abc'), 'bc')
  pages.keep('d', page('xxxxxx'), start)
  assert.equal(held('abcd'), 'd')
  const few = createKeptFeedPages({ pagesMax: 3, lengthMax: 1_000 })
  for (const key of 'abcde') few.keep(key, page(''), start)
  assert.equal([...'abcde'].filter((key) => few.find(key, start) !== undefined).join(''), 'cde')
})

test('a long page is not kept, nor is what it replaces', () => {
  const pages = createKeptFeedPages()
  pages.keep('a', page('x'.repeat(textLengthMax)), start)
  assert.equal(pages.find('a', start)?.text.length, textLengthMax)
  pages.keep('a', page('x'.repeat(textLengthMax + 1)), start)
  assert.equal(pages.find('a', start), undefined)
})

test('the bounds of a node hold some hundred pages of the longest kind', () => {
  const pages = createKeptFeedPages()
  const keys = Array.from({ length: 200 }, (_, at) => String(at))
  for (const key of keys) pages.keep(key, page('x'.repeat(textLengthMax)), start)
  const held = keys.filter((key) => pages.find(key, start) !== undefined)
  assert.ok(held.length * textLengthMax <= 8 * 1024 * 1024 && held.length >= 100, `${held.length}`)
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
