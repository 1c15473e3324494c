// Folding counts: whoever reads meanwhile sees each of them once, and a fold that fails loses none.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { dayMs, hourMs, keptMs } from '../../src/domain/insight/counts.ts'
import { foldCounts, sweepOldCounts } from '../../src/manage/operate/fold-counts.ts'
import { readCounts, readFailures } from '../../src/read/counts/counts.ts'
import type { CountKey } from '../../src/store/operate/counts.ts'
import { foldDeltas, insertCounts } from '../../src/store/operate/counts.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { currentVersion, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let db: Db
let other: Db
let environment: Environment
let versionId: string
let workflow: string
before(async () => {
  app = await createTestApp()
  db = app.database.db
  other = app.database.another()
  const found = (await listEnvironments(db)).find(({ name }) => name === 'Development')
  environment = found ?? assert.fail('there is no Development')
  const made = await new FlowScene(app).created([email('Hello'), inApp('After')])
  versionId = (await currentVersion(app, made._id)) ?? assert.fail('there is no version')
  workflow = made.triggers[0].identifier
})
after(() => app.close())
beforeEach(async () => {
  await db.run(sql`delete from count_deltas`)
  await db.run(sql`delete from counts`)
  app.world.advance(60_000)
})

const sent = (more: Partial<CountKey> = {}): CountKey => ({
  measure: 'messages',
  versionId,
  step: 0,
  providerId: 'sendgrid',
  outcome: 'sent',
  ...more,
})
const add = (count: number, key = sent(), at = app.world.now()) => insertCounts(db, environment, [{ key, count }], at)
const total = async (from: Db = db, more: object = {}): Promise<number> =>
  (await readCounts(from, environment, { ...more }, app.world.now())).total

test('readers see every count once while two nodes fold and others count', async () => {
  let begun = 0
  let done = 0
  let counting = true
  const count = async (step: number): Promise<void> => {
    for (let round = 0; round < 60; round += 1) {
      begun += 3
      await add(3, sent({ step, outcome: round % 2 === 0 ? 'sent' : 'failed' }))
      done += 3
    }
  }
  const fold = async (node: Db): Promise<void> => {
    while (counting) await node.transaction((tx) => foldDeltas(tx, 5))
  }
  let reads = 0
  const read = async (more: object): Promise<void> => {
    while (counting) {
      const atLeast = done
      const seen = await total(other, more)
      assert.ok(seen >= atLeast && seen <= begun, `${seen} were reported of ${atLeast} to ${begun}`)
      reads += 1
    }
  }
  const others = [
    fold(db),
    fold(other),
    read({ step: 'minute', from: app.world.now().toISOString() }),
    read({ step: 'day' }),
  ]
  await Promise.all([count(0), count(1)])
  counting = false
  await Promise.all(others)
  assert.ok(reads > 10)
  assert.equal(await total(), 360)
  await foldCounts(db)
  assert.equal(await total(), 360)
  const answer = await readCounts(db, environment, { groupBy: ['channel', 'outcome'] }, app.world.now())
  assert.deepEqual(answer.series.map((one) => [one.channel, one.outcome, one.total]).sort(), [
    ['email', 'failed', 90],
    ['email', 'sent', 90],
    ['in_app', 'failed', 90],
    ['in_app', 'sent', 90],
  ])
})

test('a fold that dies before it is committed loses nothing and counts nothing twice', async () => {
  await add(7)
  await assert.rejects(
    db.transaction(async (tx) => {
      assert.equal(await foldDeltas(tx, 100), 1)
      throw new Error('The node died')
    }),
  )
  assert.equal(await total(), 7)
  await db.run(sql`alter table counts add constraint full_up check (grain <> 'day') not valid`)
  await assert.rejects(foldCounts(db))
  assert.equal(await total(), 7)
  await db.run(sql`alter table counts drop constraint full_up`)
  assert.equal(await foldCounts(db), 1)
  assert.equal(await foldCounts(db), 0)
  assert.equal(await total(), 7)
})

test('what one node folds right now another one leaves to it', async () => {
  await add(1)
  await add(2, sent({ outcome: 'failed' }))
  await db.transaction(async (tx) => {
    assert.equal(await foldDeltas(tx, 1), 1)
    assert.equal(await other.transaction((second) => foldDeltas(second, 100)), 1)
  })
  assert.equal(await total(), 3)
})

test('counts of one environment are not those of another', async () => {
  const production = (await listEnvironments(db)).find(({ name }) => name === 'Production') ?? assert.fail()
  await add(5)
  await foldCounts(db)
  await add(6)
  assert.equal((await readCounts(db, production, {}, app.world.now())).total, 0)
  assert.equal(await total(), 11)
})

test('what a version did that no one knows any more stays counted', async () => {
  const unknown = sent({ versionId: environment.id })
  await add(4, unknown)
  const answer = () => readCounts(db, environment, { groupBy: ['workflow', 'channel'] }, app.world.now())
  const before = await answer()
  assert.deepEqual(
    before.series.map(({ workflow: of, total: sum }) => [of?.identifier, sum]),
    [['', 4]],
  )
  await foldCounts(db)
  assert.deepEqual(await answer(), before)
})

test('an hour that is not folded yet counts for the same day of a zone as it will then', async () => {
  const now = app.world.now()
  // India's days begin at half past an hour of UTC.
  for (const minute of [10, 40]) await add(1, sent(), new Date(`${now.toISOString().slice(0, 11)}18:${minute}:00Z`))
  app.world.advance(24 * 3_600_000)
  const days = () =>
    readCounts(db, environment, { step: 'day', zone: 'Asia/Kolkata', from: now.toISOString() }, app.world.now())
  const before = await days()
  assert.equal(before.total, 2)
  await foldCounts(db)
  assert.deepEqual(await days(), before)
})

test('minutes go after a week, days with their hours after thirteen months, both two days later than is reported', async () => {
  await add(1)
  await foldCounts(db)
  const grains = async (): Promise<string[]> =>
    (await db.rows<{ grain: string }>(sql`select grain from counts order by grain`)).map(({ grain }) => grain)
  app.world.advance(keptMs.minute + 2 * dayMs - 60_000)
  assert.equal(await sweepOldCounts(db, app.world), 0)
  app.world.advance(120_000)
  assert.equal(await sweepOldCounts(db, app.world), 1)
  assert.deepEqual(await grains(), ['day'])
  assert.equal(
    await total(db, { from: new Date(app.world.now().getTime() - keptMs.minute - 3 * dayMs).toISOString() }),
    1,
  )
  app.world.advance(keptMs.day)
  assert.equal(await sweepOldCounts(db, app.world), 1)
  assert.deepEqual(await grains(), [])
})

test('the first day that may be asked for is whole, in any zone, though some of it is older than counts are kept', async () => {
  const today = new Date(`${app.world.now().toISOString().slice(0, 11)}00:30:00Z`)
  await add(3, sent(), today)
  await foldCounts(db)
  app.world.advance(today.getTime() + 23 * hourMs - app.world.now().getTime() + keptMs.day)
  await sweepOldCounts(db, app.world)
  const from = new Date(app.world.now().getTime() - keptMs.day).toISOString()
  // Half an hour before midnight in UTC it is the next day's noon on Kiritimati, and noon of the day in Pago Pago.
  for (const [zone, total] of [
    ['UTC', 3],
    ['Pacific/Kiritimati', 0],
    ['Pacific/Pago_Pago', 0],
  ] as const) {
    const time = { from, to: app.world.now().toISOString(), step: 'day', zone } as const
    const answer = await readCounts(db, environment, time, app.world.now())
    const firstDay = new Date(answer.starts[0] ?? assert.fail('there is no day'))
    assert.deepEqual([answer.total, firstDay <= today], [total, total > 0], zone)
  }
})

test('a time of hours takes those hours of its days, and no others', async () => {
  const day = new Date(app.world.now().getTime() - (app.world.now().getTime() % dayMs) - 3 * dayMs)
  // As many as the hour since then, so that each sum reports what is in it.
  for (let hour = 0; hour < 72; hour += 1) {
    const at = new Date(day.getTime() + hour * hourMs + 59 * 60_000)
    await add(hour, sent(), at)
    await add(hour, sent({ measure: 'failures', outcome: 'failed', code: 'providerError' }), at)
  }
  const sum = (from: number, to: number): number => ((to - from) * (from + to - 1)) / 2
  const isRight = async (): Promise<void> => {
    for (const [from, to] of [
      [0, 24],
      [5, 9],
      [22, 46],
      [23, 25],
      [1, 71],
      [0, 72],
      [30, 49],
    ] as const) {
      const [first, last] = [from, to].map((hour) => new Date(day.getTime() + hour * hourMs).toISOString())
      const time = { from: first, to: last }
      const { data } = await readFailures(db, environment, time, app.world.now())
      assert.equal(data[0]?.count, sum(from, to), `failures of ${from} to ${to}`)
      const answer = await readCounts(db, environment, { ...time, step: 'hour' }, app.world.now())
      const numbers = Array.from({ length: to - from }, (_, place) => from + place)
      assert.deepEqual(answer.series[0]?.counts, numbers, `hours ${from} to ${to}`)
    }
  }
  await isRight()
  await db.transaction((tx) => foldDeltas(tx, 100))
  await isRight()
  await foldCounts(db)
  await isRight()
})

test('a workflow is found by its identifier and by its id', async () => {
  await add(2)
  const { _id = '' } =
    (await readCounts(db, environment, { groupBy: ['workflow'] }, app.world.now())).series[0]?.workflow ?? {}
  for (const named of [workflow, _id, _id.toUpperCase()]) assert.equal(await total(db, { workflow: [named] }), 2)
  await assert.rejects(total(db, { workflow: [workflow, 'nowhere'] }), { status: 404 })
})
