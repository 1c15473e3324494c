// The connection pool: TLS as the address says, bounded waits, and one error for "not reachable".
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type { Log } from '../world/log.ts'
import type { ListType } from './array-bytes.ts'
import { arrayBytes, listTypesIn } from './array-bytes.ts'
import { arrayText } from './array-text.ts'
import { wasOutrun } from './expect-rows.ts'
import { codeOf, failureOf } from './failure.ts'
import { gatherWrites } from './gather-writes.ts'
import { knownColumnsAnswer } from './known-columns.ts'
import { createSharedReads } from './shared-reads.ts'
import { SoftLimitPool } from './soft-limit-pool.ts'
import type { Db, Sql, Statement, TransactionLimits, Tx } from './sql.ts'
import { DatabaseUnavailable } from './sql.ts'
import { timestampOfRow, timestampText } from './timestamp-text.ts'

export type Connection =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

export interface PoolOptions {
  readonly poolSize: number
  /**
   * Beyond this many connections a caller waits for at most `softLimitWaitMs` before it opens another; short reads do not
   * wait. Omitted: no soft limit.
   */
  readonly softLimit?: number
  readonly softLimitWaitMs?: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly log: Log
  /** `transaction`: a pooler stands in between, and no two transactions need have the same session. */
  readonly pooler?: 'none' | 'transaction'
  /** How much longer than its statement timeout a server may stay silent before its connection is given up. */
  readonly silenceMs?: number
}

export interface Database extends Db {
  /** How busy the pool is, for /metrics. */
  usage(): PoolUsage
  close(): Promise<void>
}

export interface PoolUsage {
  readonly total: number
  readonly idle: number
  readonly waiting: number
}

/** A caller waits this long for a free or new connection before it gets 503. */
const connectTimeoutMs = 3_000
/** Up to this number an idle connection is kept: a new one costs about 2 ms on a socket and far more over TLS. */
const idleTimeoutMs = 60_000
/** Longer than a batch usually takes, and short for a caller that waits behind reports which take seconds. */
const softLimitWaitMsDefault = 200
/** How often work is tried that loses to deadlocks or serialisation conflicts. */
const transactionTries = 3
/** The server's own timeout comes first, unless it stopped answering. */
const silenceMsDefault = 5_000
/** Idle this long, a connection is probed (ten times, a second apart): Node's default is the system's, two hours. */
export const keepAliveMs = 10_000
/**
 * The same for the server's side, so that a node that vanished leaves no locks and no backends behind. There, unlike in
 * Node, unacknowledged data can be bounded as well.
 */
export const serverKeepAlive =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4; set tcp_user_timeout = 30000'

// int8 as a number: our counts stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, timestampOfRow)

/** How statements are sent: through a pooler without names, and each in a transaction that sets its own timeouts. */
interface Way {
  readonly hasPooler: boolean
  readonly silenceMs: number
  readonly timeouts: TransactionLimits
}

export function connect(connection: Connection, options: PoolOptions): Database {
  const { statementTimeoutMs, lockTimeoutMs, silenceMs = silenceMsDefault } = options
  const { poolSize, softLimit = poolSize, softLimitWaitMs = softLimitWaitMsDefault } = options
  const hasPooler = options.pooler === 'transaction'
  const way: Way = { hasPooler, silenceMs, timeouts: { statementTimeoutMs, lockTimeoutMs } }
  const settings = {
    ...connectionSettings(connection),
    ...(hasPooler ? {} : startUpTimeouts(way.timeouts)),
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // For a server that stopped answering: the driver then destroys the connection.
    query_timeout: statementTimeoutMs + silenceMs,
    application_name: 'posthorn',
    // Statements that do not wait for each other's answers travel together.
    pipeline: true,
  }
  const pool = new SoftLimitPool(settings, { connections: softLimit, waitMsMax: softLimitWaitMs })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => {
    // `end` resolves before the connections have said goodbye: a server that is stopped next may be faster.
    if (!pool.ending) options.log.warn({ error: error.message }, 'A database connection was lost')
  })
  // It is sent with the first statement. A server that rejects it works without.
  if (!hasPooler && 'url' in connection) pool.on('connect', (client) => client.query(serverKeepAlive).catch(() => {}))
  const shared = createSharedReads(pool)
  const readShared = (query: pg.QueryConfig) =>
    shared((client) => answerOf(client, query)).catch((error: unknown) => {
      if (!isUnprepared(error)) throw error
      return answerOf(pool, query)
    })
  const alone = hasPooler
    ? (statement: Statement) =>
        onConnection(pool, (client) => inOwnTransaction(client, way, statement), statement.isShortRead !== true)
    : (statement: Statement) =>
        statement.isShortRead === true
          ? readShared(queryOf(statement, way))
          : onConnection(pool, (client, discard) => answerOrDiscard(client, queryOf(statement, way), discard))
  return {
    // A statement by itself is a transaction too, and can be the victim of a deadlock as well.
    ...runnerOf((statement) => retrying(() => alone(statement))),
    transaction: (work, limits) => retrying(() => transactionOnce(pool, { ...way, limits }, work)),
    together: (work) => retrying(() => onConnection(pool, (client) => work(runnerOf(statementsOn(client, way))))),
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount + pool.softWaitingCount }),
    close: () => pool.end(),
  }
}

/** Not one more statement for it; but a pooler refuses these, or forgets them with the next transaction. */
function startUpTimeouts({ statementTimeoutMs, lockTimeoutMs }: TransactionLimits): pg.PoolConfig {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  }
}

/** Several statements in one message: setting the timeouts costs no trip. */
function beginWith({ statementTimeoutMs, lockTimeoutMs }: TransactionLimits): string {
  const local = (name: string, ms: number): string => `set local ${name} = ${Math.round(ms)}`
  return [
    'begin',
    local('statement_timeout', statementTimeoutMs),
    local('lock_timeout', lockTimeoutMs),
    local('idle_in_transaction_session_timeout', statementTimeoutMs * 2),
  ].join('; ')
}

/** Through a pooler a name would be prepared in one session and asked for in another. */
function queryOf({ name, text, values }: Statement, { hasPooler }: Pick<Way, 'hasPooler'>): pg.QueryConfig {
  if (name === undefined) return { text, values: values.map((value) => parameterOf(value, undefined)) }
  const types = listTypesOf(name, text)
  const parameters = values.map((value, index) => parameterOf(value, types.get(index + 1)))
  return hasPooler ? { text, values: parameters } : { name, text, values: parameters }
}

/** `timeoutMs`: in place of the pool's own. */
function answerOf(on: pg.Pool | pg.PoolClient, query: pg.QueryConfig, timeoutMs?: number): Promise<pg.QueryResult> {
  if (query.name !== undefined) return knownColumnsAnswer(on, query, timeoutMs)
  const within: pg.QueryConfig & { query_timeout?: number } =
    timeoutMs === undefined ? query : { ...query, query_timeout: timeoutMs }
  return on.query(within)
}

/**
 * A connection whose statement failed by itself is not used again: what was prepared there may be out of date. A statement that was
 * outrun says nothing of its connection; many may be, where many callers name the same new person.
 */
async function answerOrDiscard(
  client: pg.PoolClient,
  query: pg.QueryConfig,
  discard: () => void,
): Promise<pg.QueryResult> {
  try {
    return await answerOf(client, query)
  } catch (error) {
    if (!wasOutrun(error)) discard()
    throw error
  }
}

function parameterOf(value: unknown, type: ListType | undefined): unknown {
  if (value instanceof Date) return timestampText(value)
  if (!Array.isArray(value)) return value
  return (type === undefined ? undefined : arrayBytes(value, type)) ?? arrayText(value)
}

/** By name: of prepared statements there are so many as there are kinds of batches, and their texts are long. */
const listTypes = new Map<string, ReadonlyMap<number, ListType>>()

function listTypesOf(name: string, text: string): ReadonlyMap<number, ListType> {
  const types = listTypes.get(name) ?? listTypesIn(text)
  listTypes.set(name, types)
  return types
}

function runnerOf(query: (statement: Statement) => Promise<pg.QueryResult>): Sql {
  const ask = async (statement: Statement): Promise<pg.QueryResult> => {
    try {
      return await query(statement)
    } catch (error) {
      throw asUnavailable(error)
    }
  }
  return {
    rows: async <Row extends object>(statement: Statement) => (await ask(statement)).rows as Row[],
    row: async <Row extends object>(statement: Statement) => (await ask(statement)).rows[0] as Row | undefined,
    run: async (statement: Statement) => (await ask(statement)).rowCount ?? 0,
  }
}

/** Runs the work again if it lost a deadlock or a serialisation conflict: nothing of it was committed. */
async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const again = isLostConflict(error)
      if (!again || attempt === transactionTries) throw again ? new DatabaseUnavailable(error) : error
    }
  }
}

/** Statements on one connection, each a transaction by itself. */
const statementsOn = (client: pg.PoolClient, way: Way) => (statement: Statement) => {
  gatherWrites(client)
  return way.hasPooler ? inOwnTransaction(client, way, statement) : answerOf(client, queryOf(statement, way))
}

/**
 * The cheapest way to give one statement its timeouts if the session is not ours: three messages in one round trip.
 * They are sent without waiting, so those of another statement on this connection cannot come in between.
 */
async function inOwnTransaction(client: pg.PoolClient, way: Way, statement: Statement): Promise<pg.QueryResult> {
  const [begun, answered, committed] = await Promise.allSettled([
    client.query(beginWith(way.timeouts)),
    client.query(queryOf(statement, way)),
    client.query('commit'),
  ])
  for (const one of [begun, answered, committed]) if (one.status === 'rejected') throw one.reason
  if (answered.status === 'rejected') throw answered.reason
  return answered.value
}

/** A connection that broke, or on which a statement may still hang, is not used again. */
async function onConnection<Result>(
  pool: SoftLimitPool,
  work: (client: pg.PoolClient, discard: () => void) => Promise<Result>,
  waitsAtLimit = true,
): Promise<Result> {
  const client = await (waitsAtLimit ? pool.connectWithinLimit() : pool.connect()).catch((error: unknown) => {
    throw asUnavailable(error)
  })
  // The pool listens to idle connections only: one that breaks between two statements of ours would end the process.
  let broken = false
  const discard = (): void => {
    broken = true
  }
  client.on('error', discard)
  try {
    return await work(client, discard)
  } catch (error) {
    if (isSilent(error)) discard()
    throw error
  } finally {
    client.off('error', discard)
    client.release(broken)
  }
}

function transactionOnce<Result>(
  pool: SoftLimitPool,
  way: Way & { limits: TransactionLimits | undefined },
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const { limits, silenceMs } = way
  const timeoutMs = limits && limits.statementTimeoutMs + silenceMs
  const beginning = way.hasPooler || limits !== undefined ? beginWith(limits ?? way.timeouts) : 'begin'
  return onConnection(pool, async (client, discard) => {
    const ask = (statement: Statement) => {
      gatherWrites(client)
      return answerOf(client, queryOf(statement, way), timeoutMs)
    }
    try {
      gatherWrites(client)
      // `begin` travels with the first statement.
      const begun = client.query(beginning)
      begun.catch(() => {})
      const after: (() => void)[] = []
      const afterCommit: Tx['afterCommit'] = (one) => void after.push(one)
      const result = await work({ inTransaction: true, afterCommit, ...runnerOf(ask) })
      await commit(begun, () => answerOf(client, { text: 'commit' }, timeoutMs)).finally(() => {
        for (const one of after) one()
      })
      return result
    } catch (error) {
      // A connection that does not answer would let a rollback wait as well; closing it rolls back too.
      if (!isSilent(error)) await client.query('rollback').catch(discard)
      throw error
    }
  })
}

/** The server said nothing: errors of the driver itself have no code. */
function isSilent(error: unknown): boolean {
  const own = error instanceof DatabaseUnavailable ? error.cause : error
  return codeOf(own) === undefined && failureOf(own) !== undefined
}

/** PostgreSQL answers the commit of a failed transaction with ROLLBACK and no error: that must not pass for success. */
async function commit(begun: Promise<unknown>, end: () => Promise<pg.QueryResult>): Promise<void> {
  const { command } = await begun.then(end).catch((error: unknown) => {
    throw asUnavailable(error)
  })
  if (command !== 'COMMIT')
    throw new Error('A statement of this transaction failed and its error was ignored; the transaction was rolled back')
}

/**
 * Preparing failed for another reader of the same connection, or what was prepared is out of date: nothing was read. The
 * statement does not exist, exists twice, or has other columns than it had.
 */
function isUnprepared(error: unknown): boolean {
  const code = codeOf(error)
  return code === '26000' || code === '42P05' || code === '0A000'
}

/** A serialisation conflict or a deadlock: `retrying` wants it as it is. */
function isLostConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01'
}

/** One error for "not available". A server that responds and rejects us is something else: waiting does not help. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || isLostConflict(error)) return error
  const failure = failureOf(error)
  return failure === undefined || failure === 'refused' ? error : new DatabaseUnavailable(error)
}

export function connectionSettings(connection: Connection): pg.PoolConfig {
  if (!('url' in connection)) return { ...connection }
  const url = new URL(connection.url)
  const parameters = url.searchParams
  const mode = parameters.get('sslmode') ?? 'disable'
  const files = { ca: parameters.get('sslrootcert'), cert: parameters.get('sslcert'), key: parameters.get('sslkey') }
  for (const name of ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']) parameters.delete(name)
  return { connectionString: url.toString(), ssl: tlsOptions(mode, files) }
}

/** The meanings libpq gives to sslmode; the driver's own differ between its versions. */
export function tlsOptions(
  mode: string,
  files: { ca: string | null; cert: string | null; key: string | null },
): false | ConnectionOptions {
  const read = Object.entries(files).flatMap(([name, path]) =>
    path === null ? [] : [[name, readFileSync(path, 'utf8')]],
  )
  const given = Object.fromEntries(read) as ConnectionOptions
  switch (mode) {
    case 'disable':
      return false
    case 'require':
      return { ...given, rejectUnauthorized: files.ca !== null, checkServerIdentity: () => undefined }
    case 'verify-ca':
      return { ...given, rejectUnauthorized: true, checkServerIdentity: () => undefined }
    case 'verify-full':
      return { ...given, rejectUnauthorized: true }
    default:
      throw new Error(`DATABASE_URL: sslmode must be disable, require, verify-ca or verify-full, not "${mode}"`)
  }
}
