// Timestamps as text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isIsoText, isoTextOf, timestampOfText } from './iso-timestamp.ts'

const read = (text: string): string | undefined => timestampOfText(text)?.at.toISOString()

test('dates and times are read to the millisecond', () => {
  assert.equal(read('2024-02-29'), '2024-02-29T00:00:00.000Z')
  assert.equal(read('2024-02-29T13:05Z'), '2024-02-29T13:05:00.000Z')
  assert.equal(read('2024-02-29t13:05:06z'), '2024-02-29T13:05:06.000Z')
  assert.equal(read('2024-02-29 13:05:06.1Z'), '2024-02-29T13:05:06.100Z')
  assert.equal(read('2024-02-29T13:05:06,123456789Z'), '2024-02-29T13:05:06.123Z')
  assert.equal(read('0050-01-01T00:00Z'), '0050-01-01T00:00:00.000Z')
})

test('an offset moves the time, half hours included, over the end of a year too', () => {
  assert.equal(read('2024-01-01T00:00:00+05:30'), '2023-12-31T18:30:00.000Z')
  assert.equal(read('2023-12-31T23:30:00-0330'), '2024-01-01T03:00:00.000Z')
  assert.equal(read('2024-06-01T12:00:00+02'), '2024-06-01T10:00:00.000Z')
})

test('a text without a zone is read as UTC and says so', () => {
  assert.deepEqual(timestampOfText('2024-06-01T12:00'), {
    at: new Date('2024-06-01T12:00:00Z'),
    hasTime: true,
    hasZone: false,
  })
  assert.equal(timestampOfText('2024-06-01')?.hasTime, false)
  assert.equal(timestampOfText('2024-06-01T12:00Z')?.hasZone, true)
})

test('what is no time is not guessed at', () => {
  const bad = ['', 'tomorrow', '2024', '2024-06', '2024-13-01', '2024-00-10', '2024-02-30', '2023-02-29', '2024-06-00']
  const alsoBad = ['2024-06-01T', '2024-06-01T24:00Z', '2024-06-01T12:60Z', '2024-06-01T12:00:60Z', '2024-06-01Z']
  const stillBad = [
    '2024-06-01T12:00+24:00',
    '2024-06-01T12:00+01:60',
    '2024-06-01T12Z',
    ' 2024-06-01',
    '1717243200000',
  ]
  for (const text of [...bad, ...alsoBad, ...stillBad, `2024-06-01T12:00:00.${'1'.repeat(100_000)}Z`])
    assert.equal(read(text), undefined, text.slice(0, 40))
})

test('a timestamp is written as toISOString writes it, whatever was written before', () => {
  const [first, second] = [new Date(0), new Date(1_767_323_045_678)]
  for (const at of [first, second, first, new Date(second), second]) assert.equal(isoTextOf(at), at.toISOString())
  assert.throws(() => isoTextOf(new Date(Number.NaN)), RangeError)
  assert.equal(isoTextOf(second), second.toISOString())
})

test('a cursor holds a timestamp as we write it, which the database can read', () => {
  for (const text of ['2026-01-02T03:04:05.678Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']) {
    assert.ok(isIsoText(text), text)
  }
  const foreign = [
    '',
    'now',
    '2026-01-02',
    '2026-01-02T03:04:05Z',
    '2026-02-30T00:00:00.000Z',
    '2026-01-02T03:04:05.678+00:00',
  ]
  for (const text of [
    ...foreign,
    '0000-01-01T00:00:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
  ]) {
    assert.ok(!isIsoText(text), text)
  }
})
