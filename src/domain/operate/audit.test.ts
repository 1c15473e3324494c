// The chain of the audit log, and who its entries name.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Integration } from '../delivery/integration.ts'
import type { KeyedEntry } from './audit.ts'
import { authorOf, chained, emptyLog, misfitOf } from './audit.ts'
import { recordOfIntegration, suppressionId } from './audit-records.ts'

const facts = {
  at: '2026-01-02T03:04:05.678Z',
  keyId: 'k',
  keyName: 'Key',
  address: '127.0.0.1',
  requestId: null,
  action: 'create',
  resourceKind: 'feed',
  resourceId: 'f',
  resourceName: 'news',
  before: null,
  after: { name: 'News' },
} as const

const first = chained('e', emptyLog, facts)
const second = chained('e', first, facts)

test('a hash can be computed by anyone from the entry as it is read', () => {
  // The keyed hash is not shown.
  const { hash, mac: _mac, ...rest } = first
  const members = Object.entries({ environmentId: 'e', ...rest }).sort(([one], [other]) => (one < other ? -1 : 1))
  const text = JSON.stringify(Object.fromEntries(members))
  assert.equal(createHash('sha256').update(text).digest('hex'), hash)
})

test('each entry follows the one before', () => {
  assert.equal(first.seq, 1)
  assert.equal(second.previousHash, first.hash)
  assert.notEqual(second.hash, first.hash)
  assert.equal(misfitOf('e', emptyLog, first), undefined)
  assert.equal(misfitOf('e', first, second), undefined)
})

test('an entry that does not follow the previous one, or was changed, is detected', () => {
  assert.equal(misfitOf('e', emptyLog, second), 'missing')
  assert.equal(misfitOf('e', { seq: 1, hash: second.hash }, second), 'previous-hash')
  assert.equal(misfitOf('another', first, second), 'hash')
  const changed: KeyedEntry = { ...second, after: { name: 'Other' } }
  assert.equal(misfitOf('e', first, changed), 'hash')
})

test('the members of an entry may come in any order', () => {
  const turned = { ...second, after: { b: 1, a: { d: 1, c: 2 } } }
  const hashed = chained('e', first, { ...facts, after: { a: { c: 2, d: 1 }, b: 1 } })
  assert.equal(misfitOf('e', first, { ...turned, hash: hashed.hash }), undefined)
})

test('an address of version 4 is written as such, and one that is gone is empty', () => {
  const principal = { environment: { id: 'e', organizationId: 'o', name: 'n' }, keyId: 'k', keyName: 'Key', scopes: [] }
  const address = (given: string | undefined) => authorOf(principal, { address: given, id: 'r' }).address
  assert.equal(address('::ffff:10.0.0.1'), '10.0.0.1')
  assert.equal(address('2001:db8::1'), '2001:db8::1')
  assert.equal(address(undefined), '')
})

test('a configuration that no one has judged is struck out', () => {
  const integration = { configurations: { capture: true, later: 'secret' }, credentials: { port: '25' } }
  const { shown } = recordOfIntegration(integration as unknown as Integration, undefined)
  assert.deepEqual(shown['configurations'], { capture: true, later: '[redacted]' })
  assert.deepEqual(shown['credentials'], { port: '[redacted]' })
})

test('a suppressed address is named by a hash that only the environment’s secret makes', () => {
  const ann = { channel: 'email', address: 'ann@example.com' } as const
  assert.equal(suppressionId('s', ann), suppressionId('s', ann))
  assert.notEqual(suppressionId('s', ann), suppressionId('t', ann))
  assert.notEqual(suppressionId('s', ann), suppressionId('s', { ...ann, address: 'bob@example.com' }))
})
