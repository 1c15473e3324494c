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
      '`transaction` if DATABASE_URL points to a pooler in transaction mode (such as PgBouncer): statements are then not prepared, and each transaction sets its own timeouts. See docs/operating.md.',
    shownDefault: 'none',
    defaultValue: 'none' as const,
    read: oneOf(...poolers),
  },
  databaseDirectUrl: {
    variable: 'POSTHORN_DATABASE_DIRECT_URL',
    meaning:
      'A direct connection to the same database, bypassing the pooler; same format as DATABASE_URL. Used for LISTEN (one connection per node; without it, nodes poll for work) and for migrations.',
    shownDefault: 'none',
    secret: true as const,
    defaultValue: undefined,
    read: databaseUrl,
  },
  databasePoolSize: {
    variable: 'POSTHORN_DATABASE_POOL_SIZE',
    meaning:
      'The maximum number of database connections of this service, divided among its processes (POSTHORN_PROCESSES), at least 3 each. Each worker process reserves one for its heartbeat and two (one if it has fewer than 6) for recording provider responses; one more connection, not counted here, listens for notifications.',
    shownDefault: '10; with several processes, 6 per process if that is more',
    defaultValue: 10,
    read: wholeNumber(connectionsMin, 500),
  },
  databaseWaitMs: {
    variable: 'POSTHORN_DATABASE_WAIT_MS',
    meaning: 'How long startup waits for a database that does not respond.',
    shownDefault: '30000',
    defaultValue: 30_000,
    read: wholeNumber(0, 3_600_000),
  },
  statementTimeoutMs: {
    variable: 'POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS',
    meaning: 'A statement that takes longer is cancelled, and the request fails with 503.',
    shownDefault: '15000',
    defaultValue: 15_000,
    read: wholeNumber(100, 600_000),
  },
  lockTimeoutMs: {
    variable: 'POSTHORN_DATABASE_LOCK_TIMEOUT_MS',
    meaning: 'A statement that waits longer for a lock is cancelled, and the request fails with 503.',
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
