// One event to a topic of 1,000,000 subscribers: everyone is notified once, in constant memory.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Sql } from '../src/db/sql.ts'
import { sql } from '../src/db/sql.ts'
import { askAt, createWorkflow, inAppStep } from './api.ts'
import { fillTopic } from './rows.ts'
import { residentMegabytes } from './service.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { countOf, expectCount } from './waiting.ts'

const people = scaled(1_000_000)
/** What the service holds is compared from here on: before, it is still warming up. */
const warmShare = 0.1
const memoryBar = 1.3
const lookEveryMs = 1_000

export async function benchFanout(): Promise<Measured[]> {
  return withStage(async (stage) => {
    const service = await stage.startService()
    const db = stage.open()
    const ask = askAt(service.port)
    await createWorkflow(ask, 'bench', [inAppStep])
    await fillTopic(db, await environmentOf(db), people)
    const startedAt = performance.now()
    const event = {
      name: 'bench',
      to: { type: 'Topic', topicKey: 'everyone' },
      payload: { order: { id: 1, total: '19.90' } },
    }
    await ask('POST', '/v1/events/trigger', event)
    const watched = await watch(db, service.pid)
    const seconds = (performance.now() - startedAt) / 1000
    expectCount('notifications', await countOf(db, 'notifications'), people)
    expectCount('messages', await countOf(db, "messages where status = 'sent'"), people)
    expectCount('people notified', await peopleNotified(db), people)
    const ratio = watched.peakMb / watched.warmMb
    return [
      { what: `everyone notified once, ${people} subscribers of a topic`, value: `${seconds.toFixed(0)} s` },
      { what: 'expanded after', value: `${watched.expandedAfterSeconds.toFixed(0)} s` },
      { what: 'notifications', value: `${(people / seconds).toFixed(0)}/s` },
      {
        what: `memory, a tenth notified → the most (${watched.warmMb.toFixed(0)} → ${watched.peakMb.toFixed(0)} MB)`,
        value: ratio.toFixed(2),
        bar: `≤ ${memoryBar}`,
        met: ratio <= memoryBar,
      },
    ]
  })
}

interface Watched {
  readonly warmMb: number
  readonly peakMb: number
  readonly expandedAfterSeconds: number
}

async function watch(db: Sql, pid: number): Promise<Watched> {
  const startedAt = performance.now()
  let warmMb = 0
  let peakMb = 0
  let expandedAfterSeconds = 0
  for (;;) {
    await sleep(lookEveryMs)
    const row = await db.row<{ notified: number; expanded: boolean; open: boolean }>(sql`
      select notified, expanded_at is not null as expanded, exists (select 1 from jobs where due_at is not null) as open
      from events`)
    const megabytes = await residentMegabytes(pid)
    if ((row?.notified ?? 0) <= people * warmShare) warmMb = Math.max(warmMb, megabytes)
    peakMb = Math.max(peakMb, megabytes)
    if (row?.expanded !== true) continue
    if (expandedAfterSeconds === 0) expandedAfterSeconds = (performance.now() - startedAt) / 1000
    if (!row.open) return { warmMb: warmMb === 0 ? megabytes : warmMb, peakMb, expandedAfterSeconds }
  }
}

async function peopleNotified(db: Sql): Promise<number> {
  const row = await db.row<{ count: number }>(sql`select count(distinct subscriber_id) as count from messages`)
  return row?.count ?? 0
}

async function environmentOf(db: Db): Promise<string> {
  const row = await db.row<{ id: string }>(sql`select environment_id as id from workflows limit 1`)
  return row?.id ?? ''
}
