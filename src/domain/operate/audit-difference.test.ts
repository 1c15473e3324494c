// What the audit log keeps of a change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Members, Recorded } from './audit-difference.ts'
import { auditSideBytesMax, auditTextLengthMax, differenceOf } from './audit-difference.ts'

const open = (members: Members): Recorded => ({ compared: members, shown: members })
/** As `open`, with every text that begins with `secret` struck out. */
const masked = (members: Members): Recorded => ({
  compared: members,
  shown: JSON.parse(JSON.stringify(members).replaceAll(/"secret[^"]*"/g, '"[redacted]"')),
})

test('what was made has nothing before it, what is gone nothing after', () => {
  assert.deepEqual(differenceOf(undefined, open({ a: 1 })), { before: null, after: { a: 1 } })
  assert.deepEqual(differenceOf(open({ a: 1 }), undefined), { before: { a: 1 }, after: null })
  assert.equal(differenceOf(undefined, undefined), undefined)
})

test('only members that differ are kept, at whatever depth; their order is no difference', () => {
  const before = open({ same: [1], inner: { a: 1, b: { x: 1, y: 2 } }, gone: true })
  const after = open({ inner: { b: { y: 3, x: 1 }, a: 1 }, same: [1], come: null })
  assert.deepEqual(differenceOf(before, after), {
    before: { inner: { b: { y: 2 } }, gone: true },
    after: { inner: { b: { y: 3 } }, come: null },
  })
  assert.equal(differenceOf(open({ a: { b: 1, c: 2 } }), open({ a: { c: 2, b: 1 } })), undefined)
  assert.equal(differenceOf(open({ a: 1, b: undefined }), open({ a: 1 })), undefined)
})

test('lists are kept whole, since a place in a list is no name', () => {
  const difference = differenceOf(open({ tags: ['a', 'b'] }), open({ tags: ['b'] }))
  assert.deepEqual(difference, { before: { tags: ['a', 'b'] }, after: { tags: ['b'] } })
})

test('a changed secret is reported as changed, an unchanged one is not', () => {
  const before = masked({ token: 'secret-1', list: [{ k: 'secret-a' }, { k: 'secret-b' }] })
  const after = masked({ token: 'secret-2', list: [{ k: 'secret-a' }, { k: 'secret-c' }] })
  assert.deepEqual(differenceOf(before, after), {
    before: { token: '[redacted]', list: [{ k: '[redacted]' }, { k: '[redacted]' }] },
    after: { token: '[redacted] (changed)', list: [{ k: '[redacted]' }, { k: '[redacted] (changed)' }] },
  })
  assert.equal(differenceOf(before, before), undefined)
  assert.deepEqual(differenceOf(masked({}), masked({ token: 'secret-1' })), {
    before: {},
    after: { token: '[redacted]' },
  })
})

test('a text beyond the limit is reported by its hash and its length, wherever it stands', () => {
  const [long, longer] = ['a'.repeat(auditTextLengthMax + 1), 'b'.repeat(auditTextLengthMax + 1)]
  const difference = differenceOf(open({ a: { b: [long] } }), open({ a: { b: [longer] } }))
  assert.ok(difference)
  const [was] = (difference.before as { a: { b: { sha256: string; length: number }[] } }).a.b
  const [is] = (difference.after as { a: { b: { sha256: string; length: number }[] } }).a.b
  assert.equal(was?.length, long.length)
  assert.match(was?.sha256 ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(was?.sha256, is?.sha256)
  const whole = 'a'.repeat(auditTextLengthMax)
  assert.deepEqual(differenceOf(undefined, open({ whole }))?.after, { whole })
})

test('a side beyond the limit gives up its largest members first', () => {
  const texts = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, 'x'.repeat(10_000)]))
  const after = differenceOf(undefined, open({ small: 'kept', texts }))?.after
  assert.equal(after?.['small'], 'kept')
  assert.deepEqual(Object.keys(after?.['texts'] as object), ['sha256', 'length'])
  assert.ok(JSON.stringify(after).length < auditSideBytesMax)
})
