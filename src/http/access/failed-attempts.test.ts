// Who failures are counted for: an address, or the network that one caller has many addresses of.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../domain/problem.ts'
import { callerOf, createFailedAttempts } from './failed-attempts.ts'

test('of IPv6 the network counts, however it is written; an IPv4 address stands for itself', () => {
  const cases: [address: string, caller: string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['anne@example.com', 'anne@example.com'],
  ]
  for (const [address, caller] of cases) assert.equal(callerOf(address), caller, address)
})

test('a caller who takes another address of the same network each time is refused like one who does not', () => {
  const failed = createFailedAttempts(() => new Date(0))
  const isRefused = (address: string): boolean => {
    try {
      failed.count(address)
      return false
    } catch (error) {
      return error instanceof Problem && error.status === 429
    }
  }
  const refused = Array.from({ length: 100 }, (_, at) => isRefused(`2001:db8:1:2::${at.toString(16)}`))
  assert.equal(refused.filter(Boolean).length, 40)
  assert.equal(isRefused('2001:db8:1:3::1'), false)
  // All of these would be one network, if they were not what they are: addresses of their own.
  const mapped = Array.from({ length: 100 }, (_, at) => isRefused(`::ffff:203.0.113.${at}`))
  assert.equal(mapped.filter(Boolean).length, 0)
})
