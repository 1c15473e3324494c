// The settings of the database: where it is, how many connections, how long anything may take.
import { databaseUrl, oneOf, wholeNumber } from './values.ts'

export interface DatabaseConfig {
  readonly databaseUrl: string | undefined
  readonly databasePooler: (typeof poolers)[number]
  readonly databaseDirectUrl: string | undefined
  readonly databasePoolSize: number
  readonly databaseWaitMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

const poolers = ['none', 'transaction'] as const

/** One for requests and the worker's reading, one for outcomes, one for the heartbeat. */
export const connectionsMin = 3

export const databaseSettings = {
  databaseUrl: {
    variable: 'DATABASE_URL',
    meaning:
      'A PostgreSQL server (15 or later) to use instead of the embedded one. `sslmode` may be `disable` (the default), `require`, `verify-ca` or `verify-full`; `sslrootcert`, `sslcert` and `sslkey` name files.',
    shownDefault: 'none: the embedded database',
    secret: true as const,
    defaultValue: undefined,
    read: databaseUrl,
  },
  databasePooler: {
    variable: 'POSTHORN_DATABASE_POOLER',
    meaning:
      '`transaction` where DATABASE_URL leads to a pooler that hands out connections by transaction (PgBouncer’s transaction mode and its like): statements are then not prepared, and each sets its timeouts itself. See docs/operating.md.',
    shownDefault: 'none',
    defaultValue: 'none' as const,
    read: oneOf(...poolers),
  },
  databaseDirectUrl: {
    variable: 'POSTHORN_DATABASE_DIRECT_URL',
    meaning:
      'The same database past the pooler, written as DATABASE_URL is: for LISTEN (one connection a node, without which other nodes’ work is found by polling) and for migrations.',
    shownDefault: 'none',
    secret: true as const,
    defaultValue: undefined,
    read: databaseUrl,
  },
  databasePoolSize: {
    variable: 'POSTHORN_DATABASE_POOL_SIZE',
    meaning:
      'How many database connections this service may hold in all, divided among its processes (POSTHORN_PROCESSES), at least 3 for each. In each that works, one is reserved for its heartbeat and two (one, below 6) for recording what providers answered; one more listens, beside them.',
    shownDefault: '10; with several processes 6 for each, if that is more',
    defaultValue: 10,
    read: wholeNumber(connectionsMin, 500),
  },
  databaseWaitMs: {
    variable: 'POSTHORN_DATABASE_WAIT_MS',
    meaning: 'How long a start waits for a database that does not answer, before it gives up.',
    shownDefault: '30000',
    defaultValue: 30_000,
    read: wholeNumber(0, 3_600_000),
  },
  statementTimeoutMs: {
    variable: 'POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS',
    meaning: 'A statement that takes longer is cancelled and the request answered with 503.',
    shownDefault: '15000',
    defaultValue: 15_000,
    read: wholeNumber(100, 600_000),
  },
  lockTimeoutMs: {
    variable: 'POSTHORN_DATABASE_LOCK_TIMEOUT_MS',
    meaning: 'A statement that waits longer for a lock is cancelled and the request answered with 503.',
    shownDefault: '5000',
    defaultValue: 5_000,
    read: wholeNumber(100, 600_000),
  },
}

/** What is wrong with settings that are right by themselves. */
export function databaseMistakes(config: Readonly<Record<string, unknown>>): string[] {
  if (config['databaseUrl'] !== undefined) return []
  const needs = 'needs DATABASE_URL: the embedded database is reached without a pooler'
  return [
    ...(config['databasePooler'] === 'transaction' ? [`POSTHORN_DATABASE_POOLER ${needs}`] : []),
    ...(config['databaseDirectUrl'] === undefined ? [] : [`POSTHORN_DATABASE_DIRECT_URL ${needs}`]),
  ]
}
