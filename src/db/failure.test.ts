// Which errors are the infrastructure's, and which say something about the work that met them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Failure } from './failure.ts'
import { failureOf, isInfrastructureError } from './failure.ts'
import { DatabaseUnavailable } from './sql.ts'

const coded = (code: string, more: object = {}) => Object.assign(new Error(`says ${code}`), { code, ...more })

const infrastructure: Readonly<Record<Failure, readonly Error[]>> = {
  connection: [
    ...['08000', '08003', '08006', '08P01', '57P01', '57P02', '57P03', '57P04', '57P05', '55000'].map((code) =>
      coded(code),
    ),
    ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'EHOSTUNREACH', 'ENETDOWN'].map((code) => coded(code)),
    ...['ENOTFOUND', 'EAI_AGAIN'].map((code) => coded(code, { syscall: 'getaddrinfo' })),
    coded('ENOENT', { syscall: 'connect', path: '/tmp/.s.PGSQL.5432' }),
    new Error('Connection terminated'),
    new Error('Connection terminated unexpectedly'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Cannot use a pool after calling end on the pool'),
    new DatabaseUnavailable(undefined),
    new DatabaseUnavailable(coded('57P01')),
  ],
  timeout: [
    ...['57014', '55P03', '25P03', '25P04', 'ETIMEDOUT'].map((code) => coded(code)),
    new Error('Query read timeout'),
    new Error('timeout exceeded when trying to connect'),
    new DatabaseUnavailable(new Error('Query read timeout')),
  ],
  resources: ['53000', '53100', '53200', '53300', '58000', '58030', '58P01', '25006', 'ENOSPC', 'EIO', 'EMFILE'].map(
    (code) => coded(code),
  ),
  conflict: ['40000', '40001', '40002', '40003', '40P01'].map((code) => coded(code)),
  refused: ['28000', '28P01', '3D000'].map((code) => coded(code)),
}
for (const [failure, errors] of Object.entries(infrastructure)) {
  test(`an error of the kind "${failure}" accuses no work`, () => {
    for (const error of errors) {
      assert.equal(failureOf(error), failure, error.message)
      assert.ok(isInfrastructureError(error), error.message)
      assert.ok(isInfrastructureError(new Error('The batch failed', { cause: error })), `wrapped: ${error.message}`)
    }
  })
}

test('wrong data, mistakes in statements and bugs are not the infrastructure', () => {
  const others = [
    ...['22001', '22P05', '23505', '23503', '42601', '42P01', '42703', '25P02', '21000', 'P0001', 'XX000', 'XX001'].map(
      (code) => coded(code),
    ),
    coded('ENOENT', { syscall: 'open', path: '/etc/posthorn/key' }),
    coded('ERR_INVALID_ARG_TYPE'),
    coded('EACCES', { syscall: 'open' }),
    new TypeError("Cannot read properties of undefined (reading 'id')"),
    new Error('The template ran into its timeout'),
    new Error('The connection of two steps is not allowed'),
    'a string',
    undefined,
    null,
    { code: '08006' },
  ]
  for (const error of others) assert.equal(isInfrastructureError(error), false, String(error))
})

test('a chain of causes that leads back to itself comes to an end', () => {
  const error = new Error('round')
  error.cause = error
  assert.equal(isInfrastructureError(error), false)
})
