// Lease tokens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../domain/uuid-v7.ts'
import { createLeaseSource, everyLease, leasesOfNode } from './lease-source.ts'

test('no two leases of a node are alike, and all lie in its range', () => {
  const source = createLeaseSource()
  const leases = Array.from({ length: 1000 }, () => source.newLease())
  assert.equal(new Set(leases).size, leases.length)
  for (const lease of leases) {
    assert.ok(isUuid(lease), lease)
    assert.ok(lease >= source.all.from && lease <= source.all.to)
  }
})

test('the range of a node follows from its key alone, negative ones too', () => {
  for (const key of [
    'ffffffffffffffff',
    '8000000000000000',
    '7fffffffffffffff',
    '0000000000000000',
    '00000000000000ff',
  ]) {
    const source = createLeaseSource(Buffer.from(key, 'hex'))
    assert.deepEqual(leasesOfNode(source.key), source.all)
    assert.equal(BigInt.asUintN(64, source.key), BigInt(`0x${key}`))
    const lease = source.newLease()
    assert.ok(lease > source.all.from && lease < source.all.to, key)
    assert.ok(source.all.from >= everyLease.from && source.all.to <= everyLease.to, key)
  }
})

test('the ranges of two nodes do not touch', () => {
  const [one, other] = ['0000000000000001', '0000000000000002'].map((key) => createLeaseSource(Buffer.from(key, 'hex')))
  assert.ok(one !== undefined && other !== undefined)
  assert.ok(one.all.to < other.all.from)
  const lease = other.newLease()
  assert.ok(lease > one.all.to)
  assert.notEqual(createLeaseSource().key, createLeaseSource().key)
})

test('the range of all nodes is one that PostgreSQL can read', () => {
  assert.ok(isUuid(everyLease.from), everyLease.from)
  assert.ok(isUuid(everyLease.to), everyLease.to)
})
