// Whether two ways lead to one database: a lock that is taken by the one is seen by the other, and nowhere else.
import { randomInt } from 'node:crypto'
import type { Db, Sql } from './sql.ts'
import { sql } from './sql.ts'

export async function isSameDatabase(one: Db, other: Sql): Promise<boolean> {
  const key = randomInt(2 ** 47)
  return one.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${key})`)
    const seen = await other.row(sql`
      select 1 from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32) + objid::bigint = ${key}`)
    return seen !== undefined
  })
}
