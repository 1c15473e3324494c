// What retention must leave alone: what a digest still reports of, a message that was put off, an event that is being
// expanded.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { applyRetention } from '../../src/manage/operate/retention.ts'
import type { RetentionScene } from '../support/retention-scene.ts'
import { createScene } from '../support/retention-scene.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

const dayMs = 24 * 60 * 60_000

let scene: RetentionScene
before(async () => {
  scene = await createScene()
})
after(() => scene.app.close())
const days = (amount: number) => ({ metadata: { type: 'regular', amount, unit: 'days' } })
const keptMonths = async (): Promise<string[][]> =>
  (await scene.retain(30)).kept.map(({ month, keptBy }) => [month, keptBy ?? ''])

test('what a digest has gathered keeps its month until it is sent, though its own steps are over', async () => {
  const { flow } = scene
  const texts = '{% for event in step.events %}{{ event.of }} {% endfor %}'
  const name = await flow.workflow([delay(days(20)), digest(days(100)), delay(days(40)), inApp(texts)])
  for (const [month, day] of Object.entries({ January: '2026-01-10', February: '2026-02-10' })) {
    await scene.until(day)
    await flow.trigger(name, 'gatherer', { payload: { of: month } })
    await flow.work()
    await flow.advance(21 * dayMs, 7 * dayMs)
  }
  await scene.until('2026-05-05')
  assert.deepEqual(await keptMonths(), [
    ['2026-01', 'open_jobs'],
    ['2026-02', 'open_digests'],
  ])
  await scene.until('2026-05-20')
  await flow.work()
  assert.equal((await keptMonths()).length, 2, 'what was gathered is needed until the steps after it have run')
  await scene.until('2026-06-20')
  assert.deepEqual((await scene.app.call('GET', '/v1/retention')).body.keptMonths, ['2026-01', '2026-02'])
  await scene.until('2026-07-05')
  await flow.work()
  assert.deepEqual(await flow.texts('gatherer'), ['January February '])
  assert.deepEqual(await keptMonths(), [])
  assert.equal((await scene.tables())[0], '2026_06')
})

test('a message that was put off, and an event that is still being expanded, keep their months', async () => {
  const { flow } = scene
  const name = await flow.workflow([inApp('Later')])
  await flow.run(name, 'sleeper')
  const [message] = await flow.feed('sleeper')
  const until = { snoozeUntil: '2026-12-01T00:00:00.000Z' }
  await flow.expect(200, 'PATCH', `/v2/subscribers/sleeper/notifications/${message._id}/snooze`, until)
  await scene.until('2026-08-05')
  const many = Array.from({ length: 120 }, (_, index) => `one-of-${index}`)
  const transactionId = await flow.trigger(name, many)
  await flow.rows(sql`update tasks set due_at = '2026-12-01' where kind = 'expand'`)
  await scene.until('2026-11-05')
  assert.deepEqual(await keptMonths(), [
    ['2026-07', 'open_tasks'],
    ['2026-08', 'open_tasks'],
  ])
  await scene.until('2026-12-02')
  await flow.work()
  assert.deepEqual(await flow.texts('sleeper'), ['Later'])
  assert.equal((await flow.progress(transactionId)).counts.recipients, 120)
  assert.deepEqual(await keptMonths(), [])
})

test('a stop does not wait until a large month is looked through, and drops nothing of it', async () => {
  const { database, world } = scene.app
  await scene.flow.run(await scene.flow.workflow([inApp('Counted')]), 'counted')
  await scene.until('2027-03-05')
  const before = await scene.tables()
  const stopping = new AbortController()
  let pages = 0
  const row: typeof database.db.row = (statement) => {
    if (!statement.text.includes('is_unsent')) return database.db.row(statement)
    pages += 1
    stopping.abort()
    return database.db.row(statement)
  }
  const run = { progress: () => {}, signal: stopping.signal }
  const { dropped } = await applyRetention({ ...database.db, row }, world, 30, run)
  assert.deepEqual([pages, dropped], [1, []])
  assert.deepEqual(await scene.tables(), before)
  assert.ok((await scene.retain(30)).dropped.length > 0)
})

test('what belongs to no month stays for the same reasons', async () => {
  const own = await createScene()
  const { app, flow } = own
  const at = (amount: number): string => new Date(app.world.now().getTime() + amount * dayMs).toISOString()
  const none = { events: 0, notifications: 0, jobs: 0, messages: 0 }
  try {
    // Two years on, without partitions.
    app.world.advance(730 * dayMs)
    const simple = await flow.workflow([inApp('Stray')])
    const [message] = await flow.run(simple, 'sleeper').then(() => flow.feed('sleeper'))
    const path = `/v2/subscribers/sleeper/notifications/${message._id}/snooze`
    await flow.expect(200, 'PATCH', path, { snoozeUntil: at(90) })
    await flow.advance(60 * dayMs)
    assert.deepEqual((await own.retain(30)).strays, none)
    await flow.advance(31 * dayMs)
    assert.deepEqual((await own.retain(30)).strays, { events: 1, notifications: 1, jobs: 1, messages: 1 })
    // The window is the younger one's; the older one joins it later.
    const scheduled = delay({ metadata: { type: 'scheduled', delayPath: 'at' } })
    const name = await flow.workflow([scheduled, digest(days(60)), inApp('{{ step.total_count }}')])
    await flow.trigger(name, 'gatherer', { payload: { at: at(20) } })
    await flow.advance(dayMs)
    await flow.trigger(name, 'gatherer', { payload: { at: at(1) } })
    await flow.advance(50 * dayMs, 5 * dayMs)
    assert.deepEqual((await own.retain(30)).strays, none)
  } finally {
    await own.app.close()
  }
})
