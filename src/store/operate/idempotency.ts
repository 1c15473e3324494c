// The idempotency_keys table: the response to each request that carried a key, stored for a day.

import { dueNow } from '../../db/due.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Idempotency } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'

export interface StoredAnswer {
  readonly scopeHash: Buffer
  readonly requestHash: Buffer
  readonly status: number
  readonly answer: Buffer
}

/**
 * Tries to take each request's lock until the transaction ends; false if another transaction holds it. A plain insert
 * would make a duplicate wait for the first request and hold a connection in the meantime.
 */
export async function tryIdempotencyLocks(
  tx: Tx,
  environment: Environment,
  calls: readonly Idempotency[],
): Promise<boolean[]> {
  const keys = calls.map((call) => lockKeyOf(environment, call).toString())
  const rows = await tx.rows<{ locked: boolean }>(
    prepared(
      'idempotency-locks',
      sql`select pg_try_advisory_xact_lock(lock_key) as locked
          from unnest(${keys}::bigint[]) with ordinality as asked (lock_key, ordinal) order by ordinal`,
    ),
  )
  return rows.map((row) => row.locked)
}

/** Must run after the locks are held, as a statement of its own: one snapshot for both would miss a commit in between. */
export async function findStoredAnswers(
  tx: Tx,
  environment: Environment,
  calls: readonly Idempotency[],
  now: Date,
): Promise<StoredAnswer[]> {
  return tx.rows<StoredAnswer>(
    prepared(
      'idempotency-find',
      sql`select scope_hash as "scopeHash", request_hash as "requestHash", status, answer
          from idempotency_keys
          where environment_id = ${environment.id} and scope_hash = any(${calls.map((call) => call.scopeHash)}::bytea[])
            and expires_at > ${dueNow(now)}`,
    ),
  )
}

export async function storeAnswers(
  tx: Tx,
  environment: Environment,
  answers: readonly StoredAnswer[],
  expiresAt: Date,
): Promise<void> {
  await tx.run(
    prepared(
      'idempotency-store',
      sql`insert into idempotency_keys (environment_id, scope_hash, request_hash, status, answer, expires_at)
          select ${environment.id}, scope_hash, request_hash, status, answer, ${expiresAt}
          from unnest(${answers.map((answer) => answer.scopeHash)}::bytea[],
                      ${answers.map((answer) => answer.requestHash)}::bytea[],
                      ${answers.map((answer) => answer.status)}::smallint[],
                      ${answers.map((answer) => answer.answer)}::bytea[])
            as new (scope_hash, request_hash, status, answer)
          on conflict (environment_id, scope_hash) do update
            set request_hash = excluded.request_hash, status = excluded.status,
                answer = excluded.answer, expires_at = excluded.expires_at`,
    ),
  )
}

/** Whether one of these calls has been answered before, and its answer not been swept: a look, without a lock. */
export async function hasAnswers(
  db: Sql,
  environment: Environment,
  calls: readonly Pick<Idempotency, 'scopeHash'>[],
): Promise<boolean> {
  const hashes = calls.map((call) => call.scopeHash)
  const row = await db.row(
    prepared(
      'idempotency-any',
      sql`select 1 as one from idempotency_keys
          where environment_id = ${environment.id} and scope_hash = any(${hashes}::bytea[]) limit 1`,
    ),
  )
  return row !== undefined
}

/**
 * Takes the locks and stores the answers, as a part of a larger statement, which is given how many were stored: fewer if another
 * request has the lock of one of them, or there is an answer, even an expired one. Lock and look may share a snapshot here: a
 * conflict is found by the index, and that knows what was committed since.
 */
export const answerInsertion = (environment: Environment, answers: readonly StoredAnswer[], expiresAt: Date): Part => ({
  as: sql`stored_answers`,
  name: 'answers',
  statement: sql`
    insert into idempotency_keys (environment_id, scope_hash, request_hash, status, answer, expires_at)
    select ${environment.id}::uuid, n.scope_hash, n.request_hash, n.status, n.answer, ${expiresAt}::timestamptz
    from unnest(${answers.map((answer) => lockKeyOf(environment, answer).toString())}::bigint[],
                ${answers.map((answer) => answer.scopeHash)}::bytea[],
                ${answers.map((answer) => answer.requestHash)}::bytea[],
                ${answers.map((answer) => answer.status)}::smallint[],
                ${answers.map((answer) => answer.answer)}::bytea[])
      as n (lock_key, scope_hash, request_hash, status, answer)
    where pg_try_advisory_xact_lock(n.lock_key)
    on conflict (environment_id, scope_hash) do nothing
    returning scope_hash`,
})

/** Deletes at most `limit` expired responses of all environments and returns how many it deleted. */
export async function sweepStoredAnswers(tx: Tx, now: Date, limit: number): Promise<number> {
  return tx.run(sql`delete from idempotency_keys where ctid = any(array(
    select ctid from idempotency_keys where expires_at <= ${dueNow(now)}
    order by expires_at limit ${limit} for update skip locked))`)
}

function lockKeyOf(environment: Environment, call: Pick<Idempotency, 'scopeHash'>): bigint {
  // The environment is mixed in by xor: two environments may well use one key for one path.
  const environmentPart = BigInt(`0x${environment.id.replaceAll('-', '').slice(16)}`)
  return BigInt.asIntN(64, call.scopeHash.readBigUInt64BE() ^ environmentPart)
}
