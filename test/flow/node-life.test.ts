// A whole node on the real engine, in real time: its start, its stop, and what it reports on the way.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseClock } from '../../src/db/clock.ts'
import type { Session } from '../../src/db/session.ts'
import { openSession } from '../../src/db/session.ts'
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { hintChannel } from '../../src/queue/hint.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import type { Node, NodeOptions } from '../../src/run/node/start-node.ts'
import { startNode } from '../../src/run/node/start-node.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { elsewhere, NodeScene } from '../support/node-scene.ts'
import { eventually } from '../support/service.ts'

let database: TestDatabase
let scene: NodeScene
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(async () => {
  await database.db.run(sql`truncate jobs, tasks, nodes, node_heartbeats`)
  scene = new NodeScene(database)
})

interface Living {
  readonly node: Node
  readonly world: FakeWorld
  /** `alive`, `dead`, and whatever a test adds. */
  readonly happened: string[]
}

function live(options: Partial<NodeOptions> = {}, aheadMs = 0): Living {
  const happened: string[] = []
  const world: FakeWorld = {
    ...createFakeWorld(),
    now: () => new Date(Date.now() + aheadMs),
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {})
    },
  }
  const node = startNode({
    db: database.db,
    heartbeatDb: database.another({ poolSize: 1 }),
    world,
    clock: databaseClock,
    queues: [jobQueue, taskQueue],
    host: { facts: elsewhere, isGone: () => false },
    onAlive: (alive) => happened.push(alive ? 'alive' : 'dead'),
    onDue: () => happened.push('due'),
    ...options,
  })
  return { node, world, happened }
}

const isAlive = ({ node }: Living) => eventually(async () => node.isAlive())

test('a node is alive as soon as the database has answered, without a session, and gives everything back when it stops', async () => {
  const living = live()
  const { node, happened } = living
  assert.deepEqual([node.isAlive(), node.lastBeatAgeMs()], [false, Number.POSITIVE_INFINITY])
  await isAlive(living)
  assert.ok(node.lastBeatAgeMs() < 2_000)
  const [job = ''] = await scene.leasedJobs(node)
  await node.stop()
  assert.equal(await scene.isFree(job), true)
  assert.deepEqual(await scene.identities(node.id), [])
  assert.deepEqual([happened, node.isAlive()], [['alive', 'dead'], false])
})

/** Says when a statement of it has been answered. */
function watched(db: Db, onAnswer: () => void): Db {
  return {
    ...db,
    run: async (statement) => {
      const count = await db.run(statement)
      onAnswer()
      return count
    },
  }
}

test('the only holder of a database frees whatever was leased before it is alive, of known nodes and of unknown ones', async () => {
  const [known, old, unknown] = [scene.node(), createLeaseSource(), createLeaseSource()]
  await known.heartbeat.beat()
  const oldId = createLeaseSource().newLease()
  await database.db.run(
    sql`insert into nodes (id, lock_key, started_at) values (${oldId}, ${old.key.toString()}::bigint, now())`,
  )
  const jobs: string[] = []
  for (const leases of [known.heartbeat.leases, old, unknown]) jobs.push(...(await scene.leasedJobs(leases)))
  const order: string[] = []
  const db = watched(database.db, () => order.push('freed'))
  const living = live({ soleHolder: true, db, onAlive: (alive) => alive && order.push('alive') })
  await isAlive(living)
  assert.deepEqual(order.slice(0, 3), ['freed', 'freed', 'alive'], 'jobs and tasks')
  for (const job of jobs) assert.equal(await scene.isFree(job), true)
  assert.deepEqual(await database.db.rows(sql`select id from nodes`), [])
  assert.equal((await scene.identities(known.id))[0]?.hasEnded, true)
  await living.node.stop()
})

test('only the first registration of a sole holder ends others: processes that it started since live', async () => {
  const living = live({ soleHolder: true })
  await isAlive(living)
  const child = scene.node()
  await child.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(child.heartbeat.leases)
  await database.db.run(sql`update node_heartbeats set ended_at = now() where node_id = ${living.node.id}`)
  await eventually(async () => (await scene.identities(living.node.id)).length === 2)
  assert.deepEqual([(await scene.identities(child.id))[0]?.hasEnded, await scene.isFree(job)], [false, false])
  await living.node.stop()
})

test('a node that was taken for dead says so, is not alive briefly, and leases under another key from then on', async () => {
  const living = live()
  await isAlive(living)
  const before = living.node.newLease()
  await database.db.run(sql`update node_heartbeats set ended_at = now() where node_id = ${living.node.id}`)
  await eventually(async () => living.happened.length === 3)
  assert.deepEqual(living.happened, ['alive', 'dead', 'alive'])
  assert.notEqual(living.node.newLease().slice(0, 18), before.slice(0, 18))
  const warned = living.world.logged.filter(({ level }) => level === 'warn')
  assert.match(warned[0]?.message ?? '', /considered this one dead/)
  await living.node.stop()
})

test('a reported death wakes the look: what the child held is due at once', async () => {
  const living = live()
  await isAlive(living)
  const child = scene.node()
  await child.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(child.heartbeat.leases)
  living.node.reportDeath(child.id)
  // Sooner than the next look would be.
  await eventually(async () => await scene.isFree(job), 4_000)
  assert.ok(living.happened.includes('due'))
  assert.throws(() => living.node.reportDeath(living.node.id), /own death/)
  await living.node.stop()
})

test('a process of the same machine that ends is missed sooner than the tables would report', async () => {
  const neighbour = scene.node()
  await neighbour.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(neighbour.heartbeat.leases)
  let isGone = false
  const living = live({ host: { facts: elsewhere, isGone: () => isGone } })
  await eventually(async () => living.node.hasOthers())
  assert.equal(await scene.isFree(job), false)
  isGone = true
  await eventually(async () => await scene.isFree(job), 4_000)
  await living.node.stop()
})

test('hints come by a session of its own, whose loss changes nothing about the node', async () => {
  const sessions: Session[] = []
  let hints = 0
  const living = live({
    openSession: async () => {
      const onNotification = (): void => {
        hints += 1
      }
      const session = await openSession(database.connection, { channel: hintChannel, onNotification })
      sessions.push(session)
      return session
    },
  })
  await eventually(async () => sessions.length === 1 && living.node.isAlive())
  await eventually(async () => {
    await database.db.run(sql`select pg_notify(${hintChannel}, '')`)
    return hints > 0
  })
  await database.db.rows(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'posthorn node' and datname = current_database()`)
  await eventually(async () => sessions.length === 2)
  assert.deepEqual(
    living.happened.filter((one) => one !== 'due'),
    ['alive'],
  )
  await living.node.stop()
  await sessions[1]?.lost
})

test('a clock that is far from the database’s is reported once, and stands in the row', async () => {
  const living = live({}, 60_000)
  await isAlive(living)
  await eventually(async () => {
    const row = await database.db.row<{ ahead: number | null }>(
      sql`select clock_ahead_ms as ahead from node_heartbeats where node_id = ${living.node.id}`,
    )
    return Math.abs((row?.ahead ?? 0) - 60_000) < 5_000
  })
  const warned = living.world.logged.filter(({ level, message }) => level === 'warn' && message.includes('clocks'))
  assert.equal(warned.length, 1)
  await living.node.stop()
})

test('a node whose database is away says so once, is not alive, and stops all the same', async () => {
  const down = async (): Promise<never> => {
    throw new Error('away')
  }
  const heartbeatDb: Db = { rows: down, row: down, run: down, transaction: down, together: down }
  const living = live({ heartbeatDb })
  await eventually(async () => living.world.logged.length > 0)
  assert.equal(living.node.isAlive(), false)
  await living.node.stop()
  assert.deepEqual(
    living.world.logged.map(({ level, facts }) => [level, facts]),
    [['warn', { error: 'away' }]],
  )
})
