// Redrives and retractions that ended long ago are forgotten: a few with every new one, so that there are never many.
import type { Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

/** More of the old ones go with the next call. */
const sweptAtOnce = 100

export async function sweepEnded(tx: Tx, environment: Environment, table: Statement, before: Date): Promise<void> {
  await tx.run(sql`
    delete from ${table} where environment_id = ${environment.id} and id = any(array(
      select r.id from ${table} r
      where r.environment_id = ${environment.id} and r.id < ${firstIdAt(before)}::uuid and r.ended_at < ${before}
      order by r.id limit ${sweptAtOnce} for update skip locked))`)
}
