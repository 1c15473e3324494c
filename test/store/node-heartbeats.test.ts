// Heartbeats on the real engine: identities are fenced, deaths are judged in virtual time, and what dead nodes held is freed.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { hostProcess, parseStat } from '../../src/run/node/host-process.ts'
import { endHeartbeats, endOldNodes, listHeartbeats, registerNode, writeBeat } from '../../src/store/operate/nodes.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { SceneNode } from '../support/node-scene.ts'
import { elsewhere, NodeScene } from '../support/node-scene.ts'

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

const newId = (): string => createLeaseSource().newLease()
const register = (nodeId: string, previousEpoch = 0) =>
  registerNode(database.db, {
    nodeId,
    previousEpoch,
    leaseKey: createLeaseSource().key.toString(),
    host: elsewhere,
  })

test('a later registration of a node has a later epoch and ends the earlier one', async () => {
  const nodeId = newId()
  const first = await register(nodeId)
  const second = await register(nodeId, first.epoch)
  assert.ok(second.epoch > first.epoch)
  const third = await register(nodeId, second.epoch + 1_000_000)
  assert.ok(third.epoch > second.epoch + 1_000_000, 'also where a failover has set the sequence back')
  assert.deepEqual(
    (await scene.identities(nodeId)).map(({ hasEnded }) => hasEnded),
    [true, true, false],
  )
  assert.equal(await writeBeat(database.db, { ...first, clockAheadMs: 0 }), undefined)
  assert.ok(await writeBeat(database.db, { ...third, clockAheadMs: 0 }))
})

test('of two observers one ends a node, and neither does when it beat after they looked', async () => {
  const node = await register(newId())
  const observers = [database.db, database.another()]
  const endBy = (beat: number) => Promise.all(observers.map((db) => endHeartbeats(db, [{ ...node, beat }])))
  await writeBeat(database.db, { ...node, clockAheadMs: 0 })
  assert.deepEqual((await endBy(0)).flat(), [], 'it was seen at 0, and is at 1')
  assert.ok(await writeBeat(database.db, { ...node, clockAheadMs: 0 }))
  const ended = (await endBy(2)).flat()
  assert.deepEqual(ended, [{ nodeId: node.nodeId, epoch: node.epoch }])
  assert.deepEqual((await endBy(2)).flat(), [], 'it is ended once')
  assert.equal(await writeBeat(database.db, { ...node, clockAheadMs: 0 }), undefined)
})

test('a certain death is not undone by a heartbeat that was under way', async () => {
  const node = await register(newId())
  await writeBeat(database.db, { ...node, clockAheadMs: 0 })
  const other = await register(newId())
  const ended = await endHeartbeats(database.db, [
    { ...node, beat: undefined },
    { ...other, beat: 99 },
  ])
  assert.deepEqual(ended, [{ nodeId: node.nodeId, epoch: node.epoch }])
})

test('a node that was taken for dead continues under a new identity and another lease key', async () => {
  const node = scene.node()
  await node.heartbeat.beat()
  const before = node.heartbeat.identity
  const keyBefore = node.heartbeat.leases.key
  await scene.live(30_000, [node])
  assert.deepEqual([node.heartbeat.identity, node.losses()], [before, 0])
  await endHeartbeats(database.db, [{ ...(before ?? assert.fail()), beat: undefined }])
  scene.nowMs += 2_000
  await node.heartbeat.beat()
  assert.equal(node.losses(), 1)
  assert.ok((node.heartbeat.identity?.epoch ?? 0) > (before?.epoch ?? 0))
  assert.notEqual(node.heartbeat.leases.key, keyBefore)
  assert.equal(node.heartbeat.connectedAtMs, scene.nowMs, 'it judges no one for a while')
  assert.ok(node.heartbeat.isFresh())
})

test('a node whose row is gone registers again too', async () => {
  const node = scene.node()
  await node.heartbeat.beat()
  await database.db.run(sql`truncate node_heartbeats`)
  await node.heartbeat.beat()
  assert.deepEqual([node.losses(), (await scene.identities(node.id)).length], [1, 1])
})

/** Fails when asked to. */
function flaky(db: Db): { db: Db; fails: (does: boolean) => void } {
  let isDown = false
  const orFail = <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (isDown) throw new Error('down')
      return work(...args)
    }
  }
  return {
    db: {
      ...db,
      rows: orFail(db.rows) as Db['rows'],
      row: orFail(db.row) as Db['row'],
      run: orFail(db.run),
    },
    fails: (does) => {
      isDown = does
    },
  }
}

test('the age counts from the start of the last heartbeat that was written, and 6 s are too old', async () => {
  const { db, fails } = flaky(database.db)
  const node = scene.node({ heartbeatDb: db })
  assert.deepEqual([node.heartbeat.isFresh(), node.heartbeat.ageMs()], [false, Number.POSITIVE_INFINITY])
  await node.heartbeat.beat()
  assert.deepEqual([node.heartbeat.isFresh(), node.heartbeat.ageMs()], [true, 0])
  scene.nowMs += 2_000
  const beating = node.heartbeat.beat()
  scene.nowMs += 3_000
  await beating
  assert.equal(node.heartbeat.ageMs(), 3_000)
  fails(true)
  await assert.rejects(node.heartbeat.beat())
  scene.nowMs += 2_999
  assert.ok(node.heartbeat.isFresh())
  scene.nowMs += 1
  assert.ok(!node.heartbeat.isFresh())
  fails(false)
  await node.heartbeat.beat()
  assert.deepEqual([node.heartbeat.isFresh(), node.losses()], [true, 0], 'it is the same node')
})

test('a silent node is ended after two looks and 20 s of connection, not before, and what it held is due', async () => {
  const [silent, observer] = [scene.node(), scene.node()]
  await silent.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(silent.heartbeat.leases)
  await observer.heartbeat.beat()
  const [own = ''] = await scene.leasedJobs(observer.heartbeat.leases)
  await observer.deaths.look()
  await scene.live(19_000, [observer])
  assert.deepEqual([await scene.isFree(job), observer.deaths.others], [false, 1])
  await scene.live(6_000, [observer])
  assert.deepEqual([await scene.isFree(job), await scene.isFree(own)], [true, false])
  assert.deepEqual([observer.dues(), observer.deaths.others], [1, 0])
  assert.deepEqual(
    observer.world.logged.filter(({ level }) => level === 'warn').map(({ facts }) => facts),
    [{ node: silent.id, epoch: silent.heartbeat.identity?.epoch, isCertain: false }],
  )
  await silent.heartbeat.beat()
  assert.equal(silent.losses(), 1)
})

test('nodes that beat are never ended, by however many observers', async () => {
  const nodes = [scene.node(), scene.node(), scene.node()]
  for (const { heartbeat } of nodes) await heartbeat.beat()
  await scene.live(60_000, nodes)
  assert.deepEqual(
    nodes.map((node) => [node.losses(), node.deaths.others]),
    [
      [0, 2],
      [0, 2],
      [0, 2],
    ],
  )
})

/** An observer that has known a node for long, and the node, silent from now on. */
async function longConnected(options: Parameters<NodeScene['node']>[0] = {}): Promise<[SceneNode, SceneNode]> {
  const [observer, other] = [scene.node(options), scene.node()]
  await observer.heartbeat.beat()
  await other.heartbeat.beat()
  await scene.live(60_000, [observer, other])
  return [observer, other]
}

const hasEnded = async ({ id }: SceneNode): Promise<boolean> => (await scene.identities(id))[0]?.hasEnded ?? true

test('an observer that is long connected ends a silent node within 15 s', async () => {
  const [observer, silent] = await longConnected()
  await scene.live(9_000, [observer])
  assert.equal(await hasEnded(silent), false)
  await scene.live(6_000, [observer])
  assert.equal(await hasEnded(silent), true)
})

test('whoever could not beat for a while, or was frozen, judges no one for 20 s', async () => {
  const { db, fails } = flaky(database.db)
  for (const leave of [
    async (observer: SceneNode) => {
      fails(true)
      await assert.rejects(observer.heartbeat.beat())
      fails(false)
    },
    async () => {
      scene.nowMs += 90_000
    },
  ]) {
    const [observer, silent] = await longConnected({ heartbeatDb: db })
    await scene.live(9_000, [observer])
    await leave(observer)
    await observer.heartbeat.beat()
    await observer.deaths.look()
    await scene.live(19_000, [observer])
    assert.equal(await hasEnded(silent), false)
    await scene.live(6_000, [observer])
    assert.equal(await hasEnded(silent), true)
  }
})

test('a heartbeat that went by another connection is a reconnect, though none failed; behind a pooler it is not', async () => {
  for (const isPooled of [false, true]) {
    const heartbeatDb = database.another({ poolSize: 1 })
    const [observer, silent] = await longConnected({ heartbeatDb, isPooled })
    const pid = (await heartbeatDb.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid
    await database.db.rows(sql`select pg_terminate_backend(${pid}::int, 5000)`)
    while (heartbeatDb.usage().total > 0) await new Promise((resolve) => setImmediate(resolve))
    await scene.live(16_000, [observer])
    assert.equal(await hasEnded(silent), isPooled)
  }
})

test('a process of this machine that was killed is found dead at the first look', async (t) => {
  const own = hostProcess()
  if (own.facts.processStarted === null) return t.skip('this platform has no /proc')
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const started = parseStat(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))?.startedTicks ?? assert.fail()
  const facts = { ...own.facts, pid: child.pid ?? 0, processStarted: started }
  const victim = scene.node({ host: { ...own, facts } })
  await victim.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(victim.heartbeat.leases)
  const observer = scene.node({ host: own })
  await observer.heartbeat.beat()
  await observer.deaths.look()
  assert.equal(await scene.isFree(job), false, 'it runs')
  assert.equal(observer.deaths.missesNeighbour(), false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(observer.deaths.missesNeighbour(), true, 'without asking the database')
  await observer.deaths.look()
  assert.equal(await scene.isFree(job), true)
  assert.equal(observer.deaths.missesNeighbour(), false, 'what was freed is not missed again')
})

test('a reported death is acted on at the next look, though the heartbeat is young', async () => {
  const [child, parent] = [scene.node(), scene.node()]
  await child.heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(child.heartbeat.leases)
  await parent.heartbeat.beat()
  parent.deaths.report(child.id)
  await parent.deaths.look()
  assert.equal(await scene.isFree(job), true)
})

test('what is still locked is freed by a later look of any node, and the dead one is forgotten after that', async () => {
  const [dead, one, two] = [scene.node(), scene.node(), scene.node()]
  for (const { heartbeat } of [dead, one, two]) await heartbeat.beat()
  const [locked = '', free = ''] = await scene.leasedJobs(dead.heartbeat.leases, 2)
  one.deaths.report(dead.id)
  const another = database.another({ poolSize: 1 })
  await another.transaction(async (tx) => {
    await tx.run(sql`select 1 from jobs where id = ${locked} for update`)
    await one.deaths.look()
    assert.deepEqual([await scene.isFree(locked), await scene.isFree(free)], [false, true])
  })
  // The one that ended it may be gone by now.
  await two.deaths.look()
  assert.equal(await scene.isFree(locked), true)
  assert.equal(two.dues(), 1)
  // A claim that was under way when it died, and was committed after all.
  const [late = ''] = await scene.leasedJobs(dead.heartbeat.leases)
  await two.deaths.look()
  assert.equal(await scene.isFree(late), true)
  assert.equal((await scene.identities(dead.id)).length, 1, 'its row stays while more may come')
  await database.db.run(sql`
    update node_heartbeats set ended_at = ended_at - interval '16 seconds' where node_id = ${dead.id}`)
  await two.deaths.look()
  assert.deepEqual(await scene.identities(dead.id), [])
})

test('an ended node whose work cannot be freed now keeps its row', async () => {
  const [dead, observer] = [scene.node(), scene.node()]
  for (const { heartbeat } of [dead, observer]) await heartbeat.beat()
  const [job = ''] = await scene.leasedJobs(dead.heartbeat.leases)
  observer.deaths.report(dead.id)
  await database.another({ poolSize: 1 }).transaction(async (tx) => {
    await tx.run(sql`select 1 from jobs where id = ${job} for update`)
    await observer.deaths.look()
    await database.db.run(sql`
      update node_heartbeats set ended_at = ended_at - interval '1 hour' where node_id = ${dead.id}`)
    await observer.deaths.look()
    assert.equal((await scene.identities(dead.id)).length, 1)
  })
  await observer.deaths.look()
  assert.deepEqual([await scene.isFree(job), await scene.identities(dead.id)], [true, []])
})

test('a node of 0.1.0 lives while its session holds its lock, and is ended after two looks at a free one', async () => {
  const old = createLeaseSource()
  const id = newId()
  await database.db.run(
    sql`insert into nodes (id, lock_key, started_at) values (${id}, ${old.key.toString()}::bigint, now())`,
  )
  const [job = ''] = await scene.leasedJobs(old)
  // One connection, so that lock and unlock are of one session.
  const session = database.another({ poolSize: 1 })
  const lock = () => session.rows(sql`select pg_advisory_lock(${old.key.toString()}::bigint)`)
  const unlock = () => session.rows(sql`select pg_advisory_unlock(${old.key.toString()}::bigint)`)
  await lock()
  const observer = scene.node()
  await observer.heartbeat.beat()
  await scene.live(60_000, [observer])
  assert.deepEqual([await scene.isFree(job), observer.deaths.others], [false, 1])
  // A reconnect of the old node: its lock is free for a few seconds.
  await unlock()
  await scene.live(9_000, [observer])
  await lock()
  await scene.live(60_000, [observer])
  assert.equal(await scene.isFree(job), false)
  await unlock()
  await scene.live(15_000, [observer])
  assert.equal(await scene.isFree(job), true)
  assert.deepEqual(await database.db.rows(sql`select id from nodes`), [])
  assert.equal(observer.deaths.others, 0)
})

test('a node of 0.1.0 that took its lock again after the last look is not ended', async () => {
  const old = createLeaseSource()
  const id = newId()
  const key = old.key.toString()
  await database.db.run(sql`insert into nodes (id, lock_key, started_at) values (${id}, ${key}::bigint, now())`)
  await database.another({ poolSize: 1 }).transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${key}::bigint)`)
    assert.deepEqual(await endOldNodes(database.db, [id]), [])
  })
  const ended = await endOldNodes(database.db, [id])
  assert.deepEqual(
    ended.map(({ nodeId }) => nodeId),
    [id],
  )
  const [row] = await listHeartbeats(database.db)
  assert.deepEqual([row?.nodeId, row?.leaseKey, row?.hasEnded], [id, key, true])
})

test('nothing of ours is in the table that nodes of 0.1.0 judge by', async () => {
  const node = scene.node()
  await node.heartbeat.beat()
  await scene.live(20_000, [node])
  assert.deepEqual(await database.db.rows(sql`select id from nodes`), [])
  assert.equal((await listHeartbeats(database.db)).length, 1)
})
