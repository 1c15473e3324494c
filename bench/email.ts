// End to end with in-app and e-mail, against a hand-made Fastify + BullMQ + Redis + Postgres service: one job a notification.
// The vendor takes one message a request, or many (as Postmark does); the hand-made service knows only the former.
import { tmpdir } from 'node:os'
import { sql } from '../src/db/sql.ts'
import {
  askAt,
  bulkRequests,
  createBatchIntegration,
  createSubscribers,
  createWorkflow,
  emailStep,
  eventsPerCall,
  inAppStep,
} from './api.ts'
import { runLoad } from './load.ts'
import { hasRedis, installBullmq, startRedis } from './redis.ts'
import type { Side } from './rounds.ts'
import { compareSides, comparisonRows } from './rounds.ts'
import { benchKey, startProcess } from './service.ts'
import type { Sink } from './sink.ts'
import { startSink } from './sink.ts'
import { scaled } from './sizes.ts'
import type { Stage } from './stage.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { countOf, expectCount, until, untilDone } from './waiting.ts'

const connections = 8
/** Rounds of some seconds on either side: begin and end of one weigh little. */
const callsPerRound = scaled(100)
const rounds = 5
const subscribers = scaled(10_000)
const ratioBar = 5
/** The words of api.ts, as the hand-made service has them. */
const template = {
  subject: emailStep.template.subject,
  html: emailStep.template.content,
  text: 'Hello {{ subscriber.firstName }},\n\norder {{ payload.order.id }} is on its way.',
  inApp: inAppStep.template.content,
}
/** All was sent, and only the last of it is still to be recorded. */
const lastLooksMs = 10

export async function benchEmail(): Promise<Measured[]> {
  if (!hasRedis()) return skipped('there is no redis-server on the PATH (Debian: apt-get install redis-server)')
  const bullmq = installBullmq()
  if (bullmq === undefined) return skipped('BullMQ could not be installed from the npm registry')
  const redis = await startRedis(tmpdir())
  try {
    return await withStage((stage) => compare(stage, redis.port, bullmq))
  } finally {
    await redis.stop()
  }
}

const skipped = (why: string): Measured[] => [{ what: `skipped: ${why}`, value: '' }]

async function compare(stage: Stage, redisPort: number, bullmq: string): Promise<Measured[]> {
  const sink = await startSink(stage)
  const service = await stage.startService({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
  const ask = askAt(service.port)
  await createBatchIntegration(ask, sink.port)
  await createWorkflow(ask, 'bench', [inAppStep, emailStep])
  await createSubscribers(ask, subscribers)
  const connection = await stage.otherDatabase('bench_bullmq')
  const handMade = await startProcess(['bench/baseline/bullmq/service.mjs'], {
    BENCH_CONNECTION: connection,
    BENCH_REDIS_PORT: String(redisPort),
    BENCH_SINK_URL: `http://127.0.0.1:${sink.port}/mail`,
    BENCH_BULLMQ: bullmq,
    BENCH_KEY: benchKey,
    BENCH_TEMPLATES: JSON.stringify({ bench: template }),
  })
  try {
    const [ourDb, theirDb] = [stage.open(), stage.open('bench_bullmq')]
    await theirDb.run(sql`
      insert into subscribers (subscriber_id, first_name, email) select 'user-' || n, 'First ' || n, 'person-' || n || '@example.com'
      from generate_series(0, ${subscribers - 1}::int) n`)
    const requests = bulkRequests('bench', callsPerRound, subscribers)
    const result = await compareSides(
      sideOf(service.port, requests, sink, () => untilDone(ourDb, lastLooksMs)),
      sideOf(handMade.port, requests, sink, () => untilSent(handMade.port)),
      rounds,
    )
    const notifications = requests.length * eventsPerCall * (rounds + 1)
    expectCount('messages', await countOf(ourDb, "messages where status = 'sent'"), 2 * notifications)
    expectCount('messages of the baseline', await countOf(theirDb, 'messages'), 2 * notifications)
    const names = { ourName: 'Posthorn', theirName: 'Fastify + BullMQ + Redis + Postgres' }
    return comparisonRows(result, { ...names, unit: 'notifications', bar: ratioBar })
  } finally {
    await handMade.stop()
  }
}

function sideOf(port: number, requests: readonly string[], sink: Sink, done: () => Promise<void>): Side {
  const events = requests.length * eventsPerCall
  return async () => {
    const startedAt = performance.now()
    await runLoad({
      port,
      clients: connections,
      requests: requests.length,
      requestOf: (index) => requests[index] ?? '',
    })
    await until(async () => (await sink.count()) >= events)
    await done()
    const seconds = (performance.now() - startedAt) / 1000
    const arrivals = await sink.take()
    expectCount('e-mails', arrivals.length, events)
    expectCount('different e-mails', new Set(arrivals.map(([number]) => number)).size, events)
    return events / seconds
  }
}

/** Its queue is empty once the last row is written. */
export async function untilSent(port: number): Promise<void> {
  const ask = askAt(port)
  await until(async () => ((await ask('GET', '/v1/open')) as { open: number }).open === 0, lastLooksMs)
}
