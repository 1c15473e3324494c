// What the tests of idempotency share: calls with a key, names no one else has, and a look at what is kept.
import { sql } from '../../src/db/sql.ts'
import type { CallOptions, TestApp, TestReply } from './app.ts'

let names = 0

/** An identifier no other test has. */
export function fresh(name: string): string {
  names += 1
  return `${name}-${names}`
}

export function callWithKey(
  app: TestApp,
  method: string,
  path: string,
  key: string,
  body?: unknown,
  more: CallOptions = {},
): Promise<TestReply> {
  const headers = { 'idempotency-key': key, ...more.headers }
  return app.call(method, path, { ...more, headers, ...(body === undefined ? {} : { body }) })
}

export async function storedAnswers(app: TestApp): Promise<number> {
  const row = await app.database.db.row<{ count: number }>(sql`select count(*) from idempotency_keys`)
  return row?.count ?? 0
}

export async function subscribersNamed(app: TestApp, subscriberId: string): Promise<number> {
  const row = await app.database.db.row<{ count: number }>(
    sql`select count(*) from subscribers where subscriber_id = ${subscriberId}`,
  )
  return row?.count ?? 0
}
