// Timestamps in parameters: what is read, and how the rest is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../problem.ts'
import { parameterTime, timestampParameter } from './timestamp-parameter.ts'

test('an ISO 8601 timestamp since 1970 is read', () => {
  assert.deepEqual(timestampParameter('at', '2026-01-02T03:04:05.678Z'), new Date('2026-01-02T03:04:05.678Z'))
  assert.deepEqual(timestampParameter('at', '1970-01-01T00:00:00Z'), new Date(0))
})

test('anything else is a client error of its field', () => {
  for (const text of ['', 'now', '2026-02-30', '2026-01-02T03:04:60Z', '1969-12-31T23:59:59.999Z']) {
    assert.equal(parameterTime(text), undefined, text)
    assert.throws(
      () => timestampParameter('from', text),
      (error) =>
        error instanceof Problem && error.status === 422 && JSON.stringify(error).includes('from must be an ISO 8601'),
      text,
    )
  }
})
