// Slugs: any id comes back from its slug, and nothing else does.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { idOfSlug, slugFor } from './slug.ts'

test('an id comes back from its slug, whatever the name', () => {
  const ids = [
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ...Array.from({ length: 200 }, () => randomUUID()),
  ]
  for (const id of ids) {
    for (const name of ['Order shipped', 'a_wf_b', '北', '']) {
      assert.equal(idOfSlug('wf', slugFor('wf', name, id)), id)
      assert.equal(idOfSlug('st', slugFor('wf', name, id)), undefined, 'of another kind')
    }
  }
  assert.match(slugFor('wf', 'Order shipped', randomUUID()), /^order-shipped_wf_[0-9A-Za-z]{22}$/)
})

test('what is no slug names no id', () => {
  const slug = slugFor('wf', 'x', randomUUID())
  for (const text of [
    '',
    'order-shipped',
    '_wf_',
    slug.slice(0, -1),
    `x_wf_${'z'.repeat(22)}`,
    `x_wf_${'-'.repeat(22)}`,
  ]) {
    assert.equal(idOfSlug('wf', text), undefined, text)
  }
})
