// Waiting for the service to have done its work, by looking at its tables as seldom as will do.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../src/db/sql.ts'
import { sql } from '../src/db/sql.ts'

/** Each look costs the database some milliseconds, as it passes what has just been settled; rounds take seconds. */
const lookEveryMs = 100
const waitMsMax = 1_800_000

/** Resolves when no job and no task is open any more. */
export async function untilDone(db: Sql, everyMs = lookEveryMs): Promise<void> {
  await until(async () => {
    const row = await db.row<{ open: boolean }>(sql`
      select exists (select 1 from jobs where due_at is not null) or exists (select 1 from tasks where due_at is not null)
        as open`)
    return row?.open === false
  }, everyMs)
}

export async function until(isSo: () => Promise<boolean>, everyMs = lookEveryMs): Promise<void> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > waitMsMax) throw new Error('The work was not done in time')
    await sleep(everyMs)
  }
}

export async function countOf(db: Sql, table: string): Promise<number> {
  const row = await db.row<{ count: number }>({ text: `select count(*) as count from ${table}`, values: [] })
  return row?.count ?? 0
}

/** A bench that lost or doubled something measured something else. */
export function expectCount(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}
