// Compiled templates that are kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { TemplateCache } from './template-cache.ts'

function counting(limits: { count: number; length: number }) {
  const compiled: string[] = []
  const kept = new TemplateCache((template: StepTemplate) => {
    const content = String(template.content)
    if (content === 'broken') throw new Error(content)
    compiled.push(content)
    return { sourceLength: content.length }
  }, limits)
  return { kept, compiled, use: (key: string, content = key) => kept.of(key, { type: 'in_app', content }) }
}

test('a template is compiled once for its key', () => {
  const { compiled, use } = counting({ count: 3, length: 100 })
  assert.equal(use('a'), use('a', 'other'))
  assert.deepEqual(compiled, ['a'])
})

test('the one unused for longest goes when there are too many', () => {
  const { kept, compiled, use } = counting({ count: 2, length: 100 })
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) use(key)
  assert.deepEqual(compiled, ['a', 'b', 'c', 'b'])
  assert.equal(kept.count, 2)
})

test('long texts push out as many as they need, and one alone may be longer', () => {
  const { kept, use } = counting({ count: 10, length: 10 })
  for (const key of ['aaa', 'bbb', 'ccc']) use(key)
  assert.equal(kept.count, 3)
  use('dddddddd')
  assert.equal(kept.count, 1)
  use('e'.repeat(50))
  assert.equal(kept.count, 1)
  use('f')
  assert.equal(kept.count, 1)
})

test('one that cannot be compiled is not kept', () => {
  const { kept, use } = counting({ count: 2, length: 100 })
  assert.throws(() => use('a', 'broken'))
  assert.equal(kept.count, 0)
})
