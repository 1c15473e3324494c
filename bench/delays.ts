// 100,000 delays that wait for tomorrow: those due in seconds still start in time, and the service's memory stays flat.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../src/db/sql.ts'
import { sql } from '../src/db/sql.ts'
import {
  type Ask,
  askAt,
  bulkRequests,
  createSubscribers,
  createWorkflow,
  delayStep,
  eventOf,
  eventsPerCall,
  inAppStep,
} from './api.ts'
import { runLoad } from './load.ts'
import { residentMegabytes } from './service.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { median, percentile } from './statistics.ts'
import { until } from './waiting.ts'

const pendingDelays = scaled(100_000, 20 * eventsPerCall)
const warmUpDelays = pendingDelays / 10
const subscribers = scaled(10_000)
const connections = 4
/** So many come due, spread over some seconds. */
const dueDelays = scaled(1_000, eventsPerCall)
const dueWithinMs = { from: 3_000, to: 8_000 }
const latenessBarMs = 1_000
const memoryBar = 1.3

export async function benchDelays(): Promise<Measured[]> {
  return withStage(async (stage) => {
    const service = await stage.startService()
    const db = stage.open()
    const ask = askAt(service.port)
    await createWorkflow(ask, 'tomorrow', [delayStep({ type: 'regular', amount: 1, unit: 'days' }), inAppStep])
    await createWorkflow(ask, 'soon', [delayStep({ type: 'scheduled', delayPath: 'payload.at' }), inAppStep])
    await createSubscribers(ask, subscribers)
    const add = async (count: number, total: number): Promise<void> => {
      const requests = bulkRequests('tomorrow', count / eventsPerCall, subscribers)
      const load = { port: service.port, clients: connections, requests: requests.length }
      await runLoad({ ...load, requestOf: (index) => requests[index] ?? '' })
      await until(async () => (await waitingDelays(db)) >= total)
    }
    await add(warmUpDelays, warmUpDelays)
    await measureLateness(ask, db)
    // As much work that leaves nothing waiting: what the process takes for being busy is no part of the comparison.
    await createWorkflow(ask, 'now', [inAppStep])
    const busy = bulkRequests('now', (pendingDelays - warmUpDelays) / eventsPerCall, subscribers)
    const load = { port: service.port, clients: connections, requests: busy.length }
    await runLoad({ ...load, requestOf: (index) => busy[index] ?? '' })
    const before = await restingMegabytes(service.pid)
    const startedAt = performance.now()
    await add(pendingDelays - warmUpDelays, pendingDelays)
    const seconds = (performance.now() - startedAt) / 1000
    const lateness = await measureLateness(ask, db)
    const after = await restingMegabytes(service.pid)
    const latest = percentile(lateness, 1)
    const ratio = after / before
    const rate = ((pendingDelays - warmUpDelays) / seconds).toFixed(0)
    return [
      { what: `delays begun, up to ${pendingDelays} pending`, value: `${rate}/s` },
      { what: 'due delays, start after their time, median', value: `${median(lateness).toFixed(0)} ms` },
      {
        what: 'due delays, the latest start after its time',
        value: `${latest.toFixed(0)} ms`,
        bar: `≤ ${latenessBarMs} ms`,
        met: latest <= latenessBarMs,
      },
      {
        what: `memory, ${warmUpDelays} → ${pendingDelays} pending (${before.toFixed(0)} → ${after.toFixed(0)} MB)`,
        value: ratio.toFixed(2),
        bar: `≤ ${memoryBar}`,
        met: ratio <= memoryBar,
      },
    ]
  })
}

/** Asked rarely: it counts. */
async function waitingDelays(db: Sql): Promise<number> {
  await sleep(250)
  const row = await db.row<{ count: number }>(sql`select count(*) as count from jobs where status = 'delayed'`)
  return row?.count ?? 0
}

/** Triggers delays that end in some seconds, and returns how long after its time each message was made. */
async function measureLateness(ask: Ask, db: Sql): Promise<number[]> {
  const from = Date.now() + dueWithinMs.from
  const step = (dueWithinMs.to - dueWithinMs.from) / dueDelays
  const events = Array.from({ length: dueDelays }, (_, index) => ({
    ...eventOf('soon', index, subscribers),
    payload: { at: new Date(from + index * step).toISOString(), order: { id: index, total: '19.90' } },
  }))
  const ids: string[] = []
  for (let first = 0; first < events.length; first += eventsPerCall) {
    const answer = await ask('POST', '/v1/events/trigger/bulk', { events: events.slice(first, first + eventsPerCall) })
    ids.push(...(answer as { transactionId: string }[]).map(({ transactionId }) => transactionId))
  }
  await sleep(from + dueWithinMs.to - dueWithinMs.from - Date.now())
  let rows: { late_ms: number }[] = []
  await until(async () => {
    rows = await db.rows<{ late_ms: number }>(sql`
      select (extract(epoch from m.created_at - (e.payload->>'at')::timestamptz) * 1000)::float8 as late_ms
      from events e join messages m on m.event_id = e.id and m.environment_id = e.environment_id
      where e.id = any(${ids}::uuid[])`)
    return rows.length >= events.length
  })
  return rows.map((row) => row.late_ms)
}

/** After a while without work, so that what is only garbage has gone. */
async function restingMegabytes(pid: number): Promise<number> {
  await sleep(5_000)
  return residentMegabytes(pid)
}
