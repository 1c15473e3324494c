// The pipeline's metrics as text: what is queried from the database, how often, and what is reported without it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { PipelineSources } from './pipeline-metrics.ts'
import { createPipelineMetrics } from './pipeline-metrics.ts'
import { addedUp, countsOf, textOf } from './shared-metrics.ts'

const clock = () => sql`now()`

/** A database that only knows how deep the queues are, and whether it is there. */
function scripted() {
  const world = createFakeWorld()
  const script = { asked: 0, isAway: false }
  const rows = async () => {
    script.asked += 1
    if (script.isAway) throw new Error('The database is away')
    return [{ queue: 'jobs', lane: 1, depth: 7, oldestMs: 1500 }]
  }
  const row = async () => ({ count: 3 })
  return { world, script, db: { rows, row } as unknown as Sql }
}

function scrapeOf(sources: PipelineSources): () => Promise<string> {
  const metrics = createPipelineMetrics(sources)
  return async () => `${metrics.counts()}\n${await metrics.queues()}`
}

test('what waits is reported by queue and lane, and the database is asked at most every five seconds', async () => {
  const { world, script, db } = scripted()
  const scrape = scrapeOf({ db, world, clock })
  const [text] = await Promise.all([scrape(), scrape()])
  assert.match(text, /^posthorn_queue_depth\{queue="jobs",lane="fan_out"\} 7$/m)
  assert.match(text, /^posthorn_queue_oldest_age_seconds\{queue="jobs",lane="fan_out"\} 1\.5$/m)
  assert.match(text, /^posthorn_webhook_deliveries_waiting 3$/m)
  world.advance(4_999)
  await scrape()
  assert.equal(script.asked, 1)
  world.advance(1)
  await scrape()
  assert.equal(script.asked, 2)
})

test('while the database is away the counts are reported, what waits is not, and the log says so', async () => {
  const { world, script, db } = scripted()
  script.isAway = true
  world.meter.countBuried(3)
  const scrape = scrapeOf({ db, world, clock })
  const text = await scrape()
  assert.match(text, /^posthorn_jobs_buried_total 3$/m)
  assert.doesNotMatch(text, /^posthorn_queue_depth\{/m)
  assert.equal(world.logged.length, 1)
  script.isAway = false
  world.advance(5_000)
  assert.match(await scrape(), /^posthorn_queue_depth\{/m)
})

test('a worker is ready or not, and a node without one does not speak of it', async () => {
  const { world, db } = scripted()
  let isReady = true
  const scrape = scrapeOf({ db, world, clock, workerIsReady: () => isReady })
  assert.match(await scrape(), /^posthorn_worker_ready 1$/m)
  isReady = false
  assert.match(await scrape(), /^posthorn_worker_ready 0$/m)
  assert.doesNotMatch(await scrapeOf({ db, world, clock })(), /^posthorn_worker_ready \d/m)
})

test('a label cannot break out of its line', async () => {
  const { world, db } = scripted()
  world.meter.countReceipt('a"b\\c\nd', 'sent')
  const text = await scrapeOf({ db, world, clock })()
  assert.ok(text.includes('posthorn_receipts_total{provider="a\\"b\\\\c\\nd",status="sent"} 1\n'), text)
})

test('the counts of two processes are added up, and their text is that of one process', async () => {
  const [one, two] = [scripted(), scripted()]
  for (const { world } of [one, two]) {
    world.meter.countMessage('email', 'postmark "x"', 'sent')
    world.meter.countEvents('processed', 2)
    world.meter.noteDelivery('email', 30)
  }
  const workerIsReady = () => true
  const [ofOne, ofTwo] = [one, two].map(({ db, world }) =>
    createPipelineMetrics({ db, world, clock, workerIsReady }),
  ) as [ReturnType<typeof createPipelineMetrics>, ReturnType<typeof createPipelineMetrics>]
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')
  assert.deepEqual(lines(await textOf(ofOne.countFamilies())).sort(), lines(ofOne.counts()).sort())
  const text = await textOf(await addedUp([ofOne.countFamilies(), ofTwo.countFamilies()]))
  assert.match(text, /^posthorn_events_total\{status="processed"\} 4$/m)
  assert.match(text, /^posthorn_time_to_deliver_seconds_bucket\{channel="email",le="0.05"\} 2$/m)
  assert.match(text, /^posthorn_time_to_deliver_seconds_count\{channel="email"\} 2$/m)
  assert.match(text, /^posthorn_worker_ready 2$/m)
  const kept = countsOf(ofOne.countFamilies()).map(({ name }) => name)
  assert.ok(kept.includes('posthorn_time_to_deliver_seconds') && !kept.includes('posthorn_worker_ready'))
})
