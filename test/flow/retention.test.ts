// Retention in virtual time: old months go as a whole, what still runs keeps its month, and reads are sound afterwards.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { firstIdAt } from '../../src/domain/derived-id.ts'
import { announceRetention, retain, sweep } from '../../src/manage/operate/housekeeping.ts'
import { applyRetention } from '../../src/manage/operate/retention.ts'
import { planRetention } from '../../src/manage/operate/retention-plan.ts'
import type { Json } from '../support/app.ts'
import type { RetentionScene } from '../support/retention-scene.ts'
import { createScene } from '../support/retention-scene.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

const dayMs = 24 * 60 * 60_000

describe('months that are old', () => {
  let scene: RetentionScene
  let name: string
  const ids: Record<string, { transactionId: string; notificationId: string }> = {}
  before(async () => {
    scene = await createScene()
    name = await scene.flow.workflow([inApp('Hello from {{ payload.month }}')])
    for (const month of ['01', '02', '03', '04', '05']) {
      await scene.until(`2026-${month}-20`)
      const run = await scene.flow.run(name, 'ann', { payload: { month }, transactionId: `own-${month}` })
      ids[month] = { transactionId: run.transactionId, notificationId: run._id }
    }
  })
  after(() => scene.app.close())
  const idOf = (month: string): string => ids[month]?.notificationId ?? assert.fail(month)

  test('everything stays when retention is off, and while nothing is old enough', async () => {
    const before = await scene.tables()
    const { database, world } = scene.app
    const warned = () => world.logged.filter(({ message }) => message.startsWith('Some months are older')).length
    for (const days of ['off', 200] as const) await announceRetention(database.db, world, days)
    assert.equal(warned(), 0)
    await announceRetention(database.db, world, 90)
    assert.equal(warned(), 1, 'a start says what will go')
    assert.deepEqual((await scene.retain('off')).dropped, [])
    assert.deepEqual((await scene.retain(200)).dropped, [])
    assert.deepEqual(await scene.tables(), before)
    const plan = await planRetention(scene.app.database.db, scene.app.world, 'off')
    assert.deepEqual([plan.cutoffAt, plan.months], [null, []])
  })

  test('a month goes only once its newest time is old: a dry run says what then happens, and younger data is untouched', async () => {
    // On 20 May January is older than 90 days as a whole, of February the last week is not.
    const plan = await planRetention(scene.app.database.db, scene.app.world, 90)
    assert.deepEqual(
      plan.months.map(({ month, keptBy, rows }) => ({ month, keptBy, rows })),
      [{ month: '2026-01', keptBy: null, rows: { events: 1, notifications: 1, jobs: 1, messages: 1 } }],
    )
    const dry = await planRetention(scene.app.database.db, scene.app.world, 90)
    assert.deepEqual(dry, plan, 'a dry run changes nothing')
    const { database } = scene.app
    const left = sql`select count(*) as count from messages where id >= ${firstIdAt(new Date('2026-02-01'))}`
    const younger = await database.db.row(left)
    const result = await scene.retain()
    assert.deepEqual(
      result.dropped,
      plan.months.map((month) => ({ ...month, rows: null })),
      'a run counts no rows',
    )
    assert.deepEqual([result.kept, result.busy], [[], []])
    assert.deepEqual(result.leftovers, plan.months[0]?.partitions)
    assert.deepEqual(await database.db.row(left), younger)
    assert.ok(!(await scene.tables()).includes('2026_01'))
    assert.ok((await scene.tables()).includes('2026_02'))
  })

  test('what is gone is a 404, and lists continue without it', async () => {
    const { app, flow } = scene
    assert.equal((await app.call('GET', `/v1/notifications/${idOf('01')}`)).status, 404)
    assert.equal((await app.call('GET', `/v1/notifications/${idOf('01')}/why`)).status, 404)
    assert.equal((await app.call('GET', '/v1/events/own-01')).status, 404)
    assert.equal((await app.call('GET', `/v1/notifications/${idOf('02')}`)).status, 200)
    assert.deepEqual(await flow.notifications('own-01'), [])
    assert.equal((await flow.notifications('own-02')).length, 1)
    assert.deepEqual(
      await flow.texts('ann'),
      ['05', '04', '03', '02'].map((month) => `Hello from ${month}`),
    )
    const at = encodeURIComponent('2026-01-31T00:00:00.000Z')
    const why = await app.call('GET', `/v1/subscribers/ann/why?workflow=${name}&at=${at}`)
    assert.equal(why.status, 200, why.text)
    assert.equal(why.body.notificationId, undefined)
  })

  test('a page and a message that pointed into what is gone are an end, not an error', async () => {
    const { app } = scene
    const pages: Json[] = []
    for (const page of [0, 1, 2, 3, 4]) pages.push(await app.call('GET', `/v1/notifications?page=${page}&limit=1`))
    assert.deepEqual(
      pages.map((page) => [page.status, page.body.data.length, page.body.hasMore]),
      [
        [200, 1, true],
        [200, 1, true],
        [200, 1, true],
        [200, 1, false],
        [200, 0, false],
      ],
    )
    const gone = await app.call('GET', '/v1/messages?transactionId=own-01')
    assert.deepEqual([gone.status, gone.body.data], [200, []])
    const feed = await app.call('GET', '/v1/subscribers/ann/notifications/feed?limit=2&page=2')
    assert.deepEqual([feed.status, feed.body.data], [200, []])
  })

  test('a transaction id is free again once its event is gone, and not before', async () => {
    const { flow } = scene
    assert.equal(
      (await scene.app.database.db.rows(sql`select 1 from transactions where transaction_id = 'own-01'`)).length,
      0,
    )
    await flow.trigger(name, 'ann', { transactionId: 'own-02', payload: { month: 'again' } })
    await flow.trigger(name, 'ann', { transactionId: 'own-01', payload: { month: 'afterwards' } })
    await flow.work()
    assert.deepEqual(
      (await flow.texts('ann')).filter((text) => /again|afterwards/.test(text)),
      ['Hello from afterwards'],
    )
  })

  test('the setting and what goes next can be read, by a key that may read', async () => {
    const reply = await scene.app.call('GET', '/v1/retention')
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body, {
      retentionDays: 90,
      oldestEventAt: reply.body.oldestEventAt,
      oldestMonth: '2026-02',
      nextDrop: { month: '2026-02', at: '2026-05-30T00:00:00.000Z' },
      keptMonths: [],
      lastDroppedAt: reply.body.lastDroppedAt,
    })
    assert.match(reply.body.oldestEventAt, /^2026-02-20/)
    assert.notEqual(reply.body.lastDroppedAt, null)
    const other = await scene.app.call('GET', '/v1/retention', { key: scene.app.productionKey })
    assert.equal(other.body.oldestEventAt, null)
    assert.equal((await scene.app.call('GET', '/v1/retention', { key: null })).status, 401)
  })
})

describe('what keeps a month', () => {
  let scene: RetentionScene
  before(async () => {
    scene = await createScene()
  })
  after(() => scene.app.close())

  test('a step that is still to run keeps all four tables of its month, and the month goes when it is over', async () => {
    const { flow } = scene
    const wait = { metadata: { type: 'regular', amount: 200, unit: 'days' } }
    const name = await flow.workflow([delay(wait), inApp('At last, {{ payload.who }}')])
    await flow.trigger(name, 'patient', { payload: { who: 'you' }, transactionId: 'long' })
    const simple = await flow.workflow([inApp('Now')])
    await flow.trigger(simple, 'other')
    await flow.work()
    await scene.until('2026-06-15')
    const plan = await planRetention(scene.app.database.db, scene.app.world, 30)
    assert.deepEqual(
      plan.months.map(({ month, keptBy }) => [month, keptBy]),
      [
        ['2026-01', 'open_jobs'],
        ['2026-02', null],
        ['2026-03', null],
        ['2026-04', null],
      ],
    )
    const lines: string[] = []
    const { database, world } = scene.app
    await applyRetention(database.db, world, 30, { progress: (line) => void lines.push(line) })
    assert.ok(lines.includes('2026-01 stays: one of its steps still has to run'), lines.join('\n'))
    assert.deepEqual((await scene.app.call('GET', '/v1/retention')).body.keptMonths, ['2026-01'])
    assert.deepEqual((await scene.tables()).slice(0, 2), ['2026_01', '2026_05'])
    await scene.until('2026-07-25')
    await flow.work()
    assert.deepEqual(await flow.texts('patient'), ['At last, you'])
    assert.deepEqual((await scene.retain(30)).kept, [])
    assert.deepEqual(await flow.texts('patient'), [])
    assert.deepEqual((await scene.tables())[0], '2026_06')
  })

  test('a message that is still to be sent keeps its month', async () => {
    const { flow, app } = scene
    const name = await flow.workflow([inApp('Unsent')])
    const run = await flow.run(name, 'unsent')
    const [message] = await flow.rows(sql`select id from messages where notification_id = ${run._id}`)
    await flow.rows(sql`update messages set state = 'calling' where id = ${message.id}`)
    await scene.until('2026-10-15')
    const kept = (await scene.retain(30)).kept.map(({ month, keptBy }) => [month, keptBy])
    assert.deepEqual(kept, [['2026-07', 'unsent_messages']])
    await flow.rows(sql`update messages set state = 'done' where id = ${message.id}`)
    assert.deepEqual(
      (await scene.retain(30)).dropped.map((one) => one.month),
      ['2026-07'],
    )
    assert.equal((await app.call('GET', `/v1/notifications/${run._id}`)).status, 404)
  })

  test('tables that are in use all the time are left for later, and nothing is lost meanwhile', async () => {
    const { database, world } = scene.app
    await scene.flow.run(await scene.flow.workflow([inApp('Busy')]), 'busy')
    await scene.until('2027-01-20')
    const before = await scene.tables()
    let busy: readonly string[] = []
    await database.another().transaction(async (tx) => {
      await tx.rows(sql`select 1 from jobs limit 1`)
      busy = (await scene.retain(30)).busy.map((one) => one.month)
    })
    assert.deepEqual(busy, ['2026-09', '2026-10', '2026-11'])
    assert.deepEqual(await scene.tables(), before)
    await retain(database.db, world, 30)
    assert.ok(world.logged.some(({ message }) => message.startsWith('2026-10 was dropped')))
    assert.deepEqual((await scene.tables())[0], '2026_12')
  })
})

describe('beside the months', () => {
  let scene: RetentionScene
  before(async () => {
    scene = await createScene()
  })
  after(() => scene.app.close())

  test('a partition that a run took out and could not drop goes with the next, once it is old, and never where all is kept', async () => {
    const own = await createScene()
    const { database, world } = own.app
    try {
      await database.db.run(sql`alter table jobs detach partition jobs_2026_01`)
      for (const days of ['off', 30] as const) {
        assert.deepEqual((await planRetention(database.db, world, days)).leftovers, [])
        assert.deepEqual((await own.retain(days)).leftovers, [])
      }
      await own.until('2026-03-05')
      assert.deepEqual((await own.retain('off')).leftovers, [])
      assert.deepEqual((await planRetention(database.db, world, 30)).leftovers, ['jobs_2026_01'])
      assert.ok((await own.retain(30)).leftovers.includes('jobs_2026_01'))
      assert.deepEqual((await own.retain(30)).leftovers, [])
    } finally {
      await own.app.close()
    }
  })

  test('two nodes at once drop each month once, and neither fails', async () => {
    const own = await createScene()
    const { database, world } = own.app
    try {
      await own.until('2026-08-05')
      const nodes = [database.db, database.another()]
      const results = await Promise.all(nodes.map((db) => applyRetention(db, world, 30, { progress: () => {} })))
      const dropped = results.flatMap((result) => result.dropped.map((one) => one.month)).sort()
      assert.deepEqual(dropped, [...new Set(dropped)])
      const rest = await own.retain(30)
      assert.deepEqual(
        [...dropped, ...rest.dropped.map((one) => one.month)],
        ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'],
      )
    } finally {
      await own.app.close()
    }
  })

  test('rows that belong to no month are deleted up to the oldest step that is still to run', async () => {
    const { flow, app } = scene
    const simple = await flow.workflow([inApp('Stray')])
    const patient = await flow.workflow([delay({ metadata: { type: 'regular', amount: 300, unit: 'days' } })])
    // Two years on, without partitions: everything lands in the default ones.
    app.world.advance(730 * dayMs)
    await flow.run(simple, 'first', { transactionId: 'stray-1' })
    await flow.run(patient, 'second', { transactionId: 'stray-2' })
    app.world.advance(1_000)
    await flow.run(simple, 'third', { transactionId: 'stray-3' })
    app.world.advance(100 * dayMs)
    const { strays } = await planRetention(app.database.db, app.world, 30)
    assert.deepEqual(strays, { events: 1, notifications: 1, jobs: 1, messages: 1 })
    assert.deepEqual((await scene.retain(30)).strays, strays)
    assert.equal((await app.call('GET', '/v1/events/stray-1')).status, 404)
    assert.equal((await app.call('GET', '/v1/events/stray-2')).status, 200)
    assert.equal((await app.call('GET', '/v1/events/stray-3')).status, 200)
    const [kept] = await flow.rows(sql`select count(*) as count from transactions where transaction_id like 'stray-%'`)
    assert.equal(kept.count, 2)
  })

  test('digests that are closed go with their notifications, and not before', async () => {
    const own = await createScene()
    try {
      const name = await own.flow.workflow([digest(), inApp('{{ step.total_count }} things')])
      await own.flow.trigger(name, 'gatherer', { payload: { thing: 'a' } })
      await own.flow.work()
      await own.flow.advance(10 * 60_000)
      const counts = sql`select (select count(*) from digest_windows) as windows, (select count(*) from digest_events) as events`
      await own.until('2026-01-31')
      await own.retain(1)
      assert.deepEqual(await own.flow.rows(counts), [{ windows: 1, events: 1 }])
      await own.until('2026-02-20')
      await own.retain(1)
      assert.deepEqual(await own.flow.rows(counts), [{ windows: 0, events: 0 }])
      assert.equal(await sweep(own.app.database.db, own.app.world), 0)
    } finally {
      await own.app.close()
    }
  })
})
