// Kept pages: their age and their bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageMsMax, createKeptPages } from './kept-pages.ts'

const bounds = { pagesMax: 100, lengthMax: 10_000, textLengthMax: 1_000 }
const start = new Date(0)
const later = (ms: number): Date => new Date(start.getTime() + ms)
const page = (text: string) => ({ stamp: 'stamp', text })

test('a page is found until it is forgotten, or replaced', () => {
  const pages = createKeptPages(bounds)
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
  const pages = createKeptPages(bounds)
  pages.keep('a', page('one'), later(1_000))
  assert.equal(pages.find('a', later(1_000 + ageMsMax))?.text, 'one')
  assert.equal(pages.find('a', later(1_000 + ageMsMax + 1)), undefined)
  assert.equal(pages.find('a', later(999)), undefined)
})

test('what is too old goes when another page is kept', () => {
  const pages = createKeptPages(bounds)
  pages.keep('a', page('one'), start)
  pages.keep('b', page('two'), later(1))
  pages.keep('c', page('three'), later(ageMsMax + 1))
  // Asked as of then, when it was not old: it is no longer there.
  assert.equal(pages.find('a', start), undefined)
  assert.equal(pages.find('b', later(1))?.text, 'two')
})

test('the texts and stamps of all pages are bounded together, and so is their number', () => {
  const length = 'stamp'.length + 5
  const pages = createKeptPages({ ...bounds, pagesMax: 3, lengthMax: 2 * length })
  for (const key of ['a', 'b', 'c']) pages.keep(key, page('xxxxx'), start)
  const held = (keys: string) => [...keys].filter((key) => pages.find(key, start) !== undefined).join('')
  assert.equal(held('abc'), 'bc')
  pages.keep('d', page('xxxxxx'), start)
  assert.equal(held('abcd'), 'd')
  const few = createKeptPages({ ...bounds, pagesMax: 3 })
  for (const key of 'abcde') few.keep(key, page(''), start)
  assert.equal([...'abcde'].filter((key) => few.find(key, start) !== undefined).join(''), 'cde')
})

test('a long page is not kept, nor is what it replaces', () => {
  const pages = createKeptPages(bounds)
  pages.keep('a', page('x'.repeat(bounds.textLengthMax)), start)
  assert.equal(pages.find('a', start)?.text.length, bounds.textLengthMax)
  pages.keep('a', page('x'.repeat(bounds.textLengthMax + 1)), start)
  assert.equal(pages.find('a', start), undefined)
})
