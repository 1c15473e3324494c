// Several processes: how their connections are divided, and what does not fit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Environment } from '../config.ts'
import { ConfigError, readConfig } from '../config.ts'
import { connectionShare } from './processes.ts'

const DATABASE_URL = 'postgres://posthorn@server:5432/posthorn'

function refusal(environment: Environment): string {
  try {
    readConfig(environment)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.mistakes.join('\n')
  }
  return 'none'
}

const poolOf = (environment: Environment): number => readConfig(environment).config.databasePoolSize

test('one process is the default, with the pool it always had', () => {
  assert.equal(readConfig({}).config.processes, 1)
  assert.equal(poolOf({}), 10)
  assert.equal(poolOf({ POSTHORN_PROCESSES: '1', POSTHORN_DATABASE_POOL_SIZE: '200' }), 200)
})

test('auto takes at least one process and no more than eight', () => {
  const { processes } = readConfig({ POSTHORN_PROCESSES: 'auto' }).config
  assert.ok(processes >= 1 && processes <= 8)
})

test('without a pool size each of several processes has six connections, or what the embedded database leaves', () => {
  assert.equal(poolOf({ POSTHORN_PROCESSES: '2' }), 12)
  assert.equal(poolOf({ POSTHORN_PROCESSES: '8' }), 48)
  assert.equal(poolOf({ POSTHORN_PROCESSES: '14' }), 42)
  assert.equal(poolOf({ POSTHORN_PROCESSES: '14', DATABASE_URL }), 84)
})

test('shares add up to the whole, and differ by one at the most', () => {
  for (const [total, processes] of [
    [12, 2],
    [13, 4],
    [9, 3],
    [50, 7],
  ] as const) {
    const shares = Array.from({ length: processes }, (_, index) => connectionShare(total, processes, index + 1))
    assert.equal(
      shares.reduce((sum, one) => sum + one, 0),
      total,
    )
    assert.ok(Math.max(...shares) - Math.min(...shares) <= 1)
    assert.ok(Math.min(...shares) >= 3)
  }
})

test('a pool that leaves a process fewer than three connections is refused with the least that does', () => {
  assert.match(
    refusal({ POSTHORN_PROCESSES: '4', POSTHORN_DATABASE_POOL_SIZE: '11' }),
    /^POSTHORN_DATABASE_POOL_SIZE must be at least 12 for 4 processes \(POSTHORN_PROCESSES\), 3 each, not 11$/,
  )
  assert.equal(poolOf({ POSTHORN_PROCESSES: '4', POSTHORN_DATABASE_POOL_SIZE: '12' }), 12)
})

test('a pool, or a number of processes, that the embedded database cannot hold is refused; a server may hold it', () => {
  const large = { POSTHORN_PROCESSES: '4', POSTHORN_DATABASE_POOL_SIZE: '53' }
  assert.match(
    refusal(large),
    /^POSTHORN_DATABASE_POOL_SIZE must be at most 52 for 4 processes .*allows 60 connections/,
  )
  assert.equal(poolOf({ ...large, DATABASE_URL }), 53)
  assert.match(refusal({ POSTHORN_PROCESSES: '15' }), /^POSTHORN_PROCESSES must be at most 14, not 15: /)
  assert.equal(refusal({ POSTHORN_PROCESSES: '14' }), 'none')
})
