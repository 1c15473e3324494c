// The kind of a database error, by its code or the driver's message: classified here and nowhere else.
import { DatabaseUnavailable } from './sql.ts'

/**
 * `connection`: there is none, or it was lost. `timeout`: a statement, a lock or a response took too long. `resources`:
 * out of memory, connections or disk space, an I/O error, or read-only after a failover. `conflict`: the loser of a
 * deadlock or of a serialisation conflict; nothing was committed. `refused`: the server responds and does not let us
 * in.
 */
export type Failure = 'connection' | 'timeout' | 'resources' | 'conflict' | 'refused'

/**
 * SQLSTATE codes that mean something else than the rest of their class, or whose class contains programming errors as
 * well.
 */
const byCode: Readonly<Record<string, Failure>> = {
  '57014': 'timeout', // query_canceled: the statement timeout, or an operator
  '55P03': 'timeout', // lock_not_available: the lock timeout
  '25P03': 'timeout', // idle_in_transaction_session_timeout
  '25P04': 'timeout', // transaction_timeout, since PostgreSQL 17
  '25006': 'resources', // read_only_sql_transaction: a standby, while the primary changes
  '55000': 'connection', // the database accepts no connections
  '3D000': 'refused', // no such database
}

/** By the first two characters of a SQLSTATE. */
const byClass: Readonly<Record<string, Failure>> = {
  '08': 'connection',
  '28': 'refused', // unknown role, wrong password
  '40': 'conflict',
  '53': 'resources', // out of disk, memory or connections
  '57': 'connection', // admin shutdown, crash shutdown, cannot connect now
  '58': 'resources', // I/O errors of the server
}

/** Node's names for errors of the operating system. */
const connectionErrors = /^(E(CONN|HOST|NET|ADDRNOTAVAIL|PIPE|NOTFOUND|NOTCONN|PROTO)|EAI_)/
const resourceErrors = /^E(NOSPC|DQUOT|IO|ROFS|MFILE|NFILE|NOMEM|NOBUFS)$/

/** The driver gives its own failures no code, only these words (pg 8.23, pg-pool 3). */
const driverTimeouts =
  /^(Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/
const driverConnections = new RegExp(
  [
    '^Connection (terminated|ended)',
    '^Client has encountered a connection error',
    '^Client was closed and is not queryable',
    '^Cannot use a pool after calling end on the pool',
    '^Received unexpected \\w+ message from backend',
    '^Client network socket disconnected before secure TLS connection was established',
  ].join('|'),
)

/** Wrapped errors are looked into, but no chain is endless. */
const causesMax = 5

/** Undefined for an error that is not the infrastructure's: wrong data, or a bug. */
export function failureOf(error: unknown, depth = 0): Failure | undefined {
  if (!(error instanceof Error) || depth > causesMax) return undefined
  const own = failureByCode(error) ?? failureByWords(error)
  if (own !== undefined) return own
  const inner = failureOf(error.cause, depth + 1)
  return inner ?? (error instanceof DatabaseUnavailable ? 'connection' : undefined)
}

/**
 * True if an error says nothing about the work that met it: connections, timeouts, disks, failovers, deadlocks. Such
 * work is retried and never counted as failed. False for invalid data and for bugs.
 */
export function isInfrastructureError(error: unknown): boolean {
  return failureOf(error) !== undefined
}

/** The pool was closed by ourselves: no later try will do better. */
export function isClosedPool(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > causesMax) return false
  return error.message.startsWith('Cannot use a pool after calling end') || isClosedPool(error.cause, depth + 1)
}

function failureByCode(error: Error): Failure | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  if (isSqlState(code)) return byCode[code] ?? byClass[code.slice(0, 2)]
  if (code === 'ETIMEDOUT') return 'timeout'
  if (connectionErrors.test(code)) return 'connection'
  if (resourceErrors.test(code)) return 'resources'
  // A socket file that is not there: the server is stopped. Any other missing file is a mistake.
  return code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect' ? 'connection' : undefined
}

function failureByWords(error: Error): Failure | undefined {
  if (codeOf(error) !== undefined) return undefined
  if (driverTimeouts.test(error.message)) return 'timeout'
  return driverConnections.test(error.message) ? 'connection' : undefined
}

/** Node's own codes have letters in front, and "EPIPE" has five of them too. */
const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && /^[0-9]|^(F0|HV|P0|XX)/.test(code)

export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
