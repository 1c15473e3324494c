// The same events decided with their acceptance, and in their own turn: whoever looks must see no difference.
import assert from 'node:assert/strict'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from './app.ts'
import { createTestApp } from './app.ts'
import type { Fate } from './faulty-db.ts'
import { createFaultyDb } from './faulty-db.ts'
import { FlowScene, MailScript } from './flow-scene.ts'

export interface Side {
  readonly app: TestApp
  readonly scene: FlowScene
  readonly mail: MailScript
  /** Whether its worker runs by itself, so that events can be decided with their acceptance. */
  readonly works: boolean
}

/** `fate`: what becomes of statements of the side that decides at once. */
export async function createTwoWays(
  fate: (statement: Statement) => Fate,
): Promise<{ readonly atOnce: Side; readonly inTurn: Side }> {
  const working = await createTestApp({ works: true, faulty: (db) => createFaultyDb(db, fate) })
  return { atOnce: sideOf(working, true), inTurn: sideOf(await createTestApp(), false) }
}

function sideOf(app: TestApp, works: boolean): Side {
  const scene = new FlowScene(app)
  return { app, scene, mail: new MailScript(scene), works }
}

export const writesAtOnce = ({ text }: Statement): boolean =>
  /insert into events/.test(text) && /new_(email|in_app)/.test(text)

/** Until nothing is due any more. */
export async function settle({ scene, works }: Side): Promise<void> {
  if (!works) {
    await scene.work()
    return
  }
  for (let looks = 0; looks < 5_000; looks += 1) {
    const open = await scene.rows(sql`select 1 from jobs where due_at is not null and status in ('queued', 'running')`)
    if (open.length === 0) return
    await new Promise(setImmediate)
  }
  assert.fail('jobs are still open')
}

/** What there is to see of a notification, without what differs from run to run. */
export async function seen({ scene }: Side, transactionId: string): Promise<unknown> {
  const notification = await scene.notification(transactionId)
  const messages = await scene.messages(transactionId)
  const counts = await scene.rows(sql`
    select measure, step, provider_id, outcome, code, reason, bucket, sum(count)::int as count from count_deltas
    where version_id = (select version_id from events where transaction_id = ${transactionId})
    group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7`)
  return {
    jobs: notification.jobs.map((job: Json) => ({
      status: job.status,
      type: job.type,
      details: job.executionDetails.map(({ detail, status }: Json) => `${detail} ${status}`),
    })),
    // Messages of one time have no order of their own.
    messages: messages
      .map(({ channel, status, content, subject, email: to, errorText }: Json) =>
        JSON.stringify({ channel, status, content, subject, to, errorText }),
      )
      .sort(),
    counts,
  }
}
