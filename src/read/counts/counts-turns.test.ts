// Times and counts of many groups over many hours: worked out in turns, whatever the rows are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchWork } from '../../../test/support/turn-cpu.ts'
import type { Sql, Statement } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { readCounts, readDeliveryTimes } from './counts.ts'

const environment = { id: 'environment' } as Environment
const now = new Date('2026-03-01T00:00:00Z')
const day = 24 * 60 * 60 * 1000
const [days, groups] = [60, 22]

/** Each group has a row for each day, with a number for each hour. */
function dbOf(perDay: number): Sql {
  const hours = `{${Array.from({ length: 24 }, (_, hour) => hour + 1).join(',')}}`
  const rows = Array.from({ length: groups * days * perDay }, (_, at) => ({
    at: new Date(now.getTime() - (1 + (at % days)) * day),
    count: null,
    hours,
    bucket: Math.floor(at / (groups * days)) * 3,
    provider: `provider-${Math.floor(at / days) % groups}`,
  }))
  return { rows: async ({ text }: Statement) => (text.includes('hours') ? rows : []) } as unknown as Sql
}

const question = {
  from: new Date(now.getTime() - days * day).toISOString(),
  to: now.toISOString(),
  step: 'hour',
  groupBy: ['provider'],
} as const

for (const perDay of [1, 18]) {
  test(`delivery times, ${perDay} buckets a day`, async () => {
    const db = dbOf(perDay)
    const { result, share } = await watchWork(() => readDeliveryTimes(db, environment, question, now))
    assert.equal(result.data.length, groups)
    assert.equal(result.data[0]?.count, days * perDay * 300)
    assert.ok(share < 1, `${share} of what a turn may take`)
  })

  test(`counts, ${perDay} rows a day`, async () => {
    const db = dbOf(perDay)
    const { result, share } = await watchWork(() => readCounts(db, environment, question, now))
    assert.equal(result.total, groups * days * perDay * 300)
    assert.ok(share < 1, `${share} of what a turn may take`)
  })
}
