// The pipeline's metrics as text: what is asked of the database, how often, and what is told without it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import { createPipelineMetrics } from './pipeline-metrics.ts'

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
  return { world, script, db: { rows } as unknown as Sql }
}

test('what waits is told by queue and lane, and the database is asked at most every five seconds', async () => {
  const { world, script, db } = scripted()
  const scrape = createPipelineMetrics({ db, world, clock })
  const [text] = await Promise.all([scrape(), scrape()])
  assert.match(text, /^posthorn_queue_depth\{queue="jobs",lane="fan_out"\} 7$/m)
  assert.match(text, /^posthorn_queue_oldest_age_seconds\{queue="jobs",lane="fan_out"\} 1\.5$/m)
  world.advance(4_999)
  await scrape()
  assert.equal(script.asked, 1)
  world.advance(1)
  await scrape()
  assert.equal(script.asked, 2)
})

test('while the database is away the counts are told, what waits is not, and the log says so', async () => {
  const { world, script, db } = scripted()
  script.isAway = true
  world.meter.countBuried(3)
  const scrape = createPipelineMetrics({ db, world, clock })
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
  const scrape = createPipelineMetrics({ db, world, clock, workerIsReady: () => isReady })
  assert.match(await scrape(), /^posthorn_worker_ready 1$/m)
  isReady = false
  assert.match(await scrape(), /^posthorn_worker_ready 0$/m)
  assert.doesNotMatch(await createPipelineMetrics({ db, world, clock })(), /^posthorn_worker_ready \d/m)
})

test('a label cannot break out of its line', async () => {
  const { world, db } = scripted()
  world.meter.countReceipt('a"b\\c\nd', 'sent')
  const text = await createPipelineMetrics({ db, world, clock })()
  assert.ok(text.includes('posthorn_receipts_total{provider="a\\"b\\\\c\\nd",status="sent"} 1\n'), text)
})
