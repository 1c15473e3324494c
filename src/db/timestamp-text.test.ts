// Timestamps as PostgreSQL writes them: parsed as the driver parses them, in every format.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { timestampOfRow } from './timestamp-text.ts'

// Before our parser replaces it: this file imports no connection.
const readAny = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date

test('every millisecond is read, however many digits report it', () => {
  for (let ms = 0; ms < 1_000; ms += 1) {
    const fraction = (ms / 1_000).toFixed(3).slice(1)
    const expected = Date.UTC(2026, 10, 5, 18, 3, 50, ms)
    const texts = [fraction, fraction.replace(/\.?0+$/, ''), `${fraction}999`]
    for (const one of texts) assert.equal(timestampOfRow(`2026-11-05 18:03:50${one}+00`).getTime(), expected, one)
  }
})

test('all other forms are read as the driver reads them', () => {
  const texts = [
    '2026-01-02 03:04:05+00',
    '2024-02-29 23:59:59.999999+00',
    '2026-01-02 03:04:05.678+02',
    '2026-01-02 03:04:05.678-03:30',
    '2026-01-02 03:04:05.6+05:45',
    '0099-12-31 00:00:00+00',
    '0001-01-01 00:00:00+00 BC',
    '12026-01-02 03:04:05+00',
    '12026-01-02 03:04:05.678+00',
    'infinity',
    '-infinity',
  ]
  for (const text of texts) assert.deepEqual(timestampOfRow(text), readAny(text), text)
  assert.notEqual(
    timestampOfRow('2026-01-02 03:04:05+02').getTime(),
    timestampOfRow('2026-01-02 03:04:05+00').getTime(),
  )
})
