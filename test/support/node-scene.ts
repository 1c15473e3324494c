// Nodes in virtual time on a real database: heartbeats are written and looks are taken when a test says so.
import assert from 'node:assert/strict'
import { databaseClock } from '../../src/db/clock.ts'
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { Deaths } from '../../src/run/node/deaths.ts'
import { Heartbeat } from '../../src/run/node/heartbeat.ts'
import type { HostProcess } from '../../src/run/node/host-process.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import type { HostFacts } from '../../src/store/operate/nodes.ts'
import type { TestDatabase } from './database.ts'
import type { FakeWorld } from './fake-world.ts'
import { createFakeWorld } from './fake-world.ts'

/** On a machine that nothing is known of. */
export const elsewhere: HostFacts = {
  hostName: null,
  bootId: null,
  pidNamespace: null,
  pid: null,
  processStarted: null,
}
const unknownHost: HostProcess = { facts: elsewhere, isGone: () => false }

export interface SceneNode {
  readonly id: string
  readonly world: FakeWorld
  readonly heartbeat: Heartbeat
  readonly deaths: Deaths
  /** How often it was taken for dead. */
  readonly losses: () => number
  /** How often it was announced that something is due. */
  readonly dues: () => number
}

export interface SceneNodeOptions {
  readonly host?: HostProcess
  readonly db?: Db
  readonly heartbeatDb?: Db
  readonly isPooled?: boolean
}

export class NodeScene {
  readonly database: TestDatabase
  nowMs = 1_000_000

  constructor(database: TestDatabase) {
    this.database = database
  }

  node(options: SceneNodeOptions = {}): SceneNode {
    // The wall clock stands with the database's: skew is not what is tested here.
    const world: FakeWorld = { ...createFakeWorld(), now: () => new Date() }
    const nodeId = world.newId(new Date())
    const { host = unknownHost, db = this.database.db, heartbeatDb = this.database.db, isPooled = false } = options
    const monotonicMs = (): number => this.nowMs
    let [losses, dues] = [0, 0]
    const heartbeat = new Heartbeat({
      heartbeatDb,
      world,
      nodeId,
      host: host.facts,
      isSoleHolder: false,
      isPooled,
      monotonicMs,
      onLost: () => {
        losses += 1
      },
    })
    const deaths = new Deaths({
      db,
      heartbeatDb,
      world,
      clock: databaseClock,
      queues: [jobQueue, taskQueue],
      nodeId,
      host,
      heartbeat,
      monotonicMs,
      onDue: () => {
        dues += 1
      },
    })
    return { id: nodeId, world, heartbeat, deaths, losses: () => losses, dues: () => dues }
  }

  /** Lets time pass, with a heartbeat of the given nodes every 2 s and a look every 5 s. */
  async live(ms: number, nodes: readonly SceneNode[]): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      this.nowMs += 1_000
      const second = Math.floor(this.nowMs / 1_000)
      for (const { heartbeat, deaths } of nodes) {
        if (second % 2 === 0) await heartbeat.beat()
        if (second % 5 === 0) await deaths.look()
      }
    }
  }

  /** Jobs in the hands of whoever has that lease key; their ids. */
  async leasedJobs(leases: { newLease(): string }, count = 1): Promise<string[]> {
    const ids = Array.from({ length: count }, () => createLeaseSource().newLease())
    const environmentId = '00000000-0000-7000-8000-000000000001'
    await this.database.db.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                        lease, claims, details, created_at, updated_at)
      select ${environmentId}, id, id, id, id, id, 0, 'queued', 0, now() + interval '50 seconds', ${leases.newLease()}, 1,
             '[]', now(), now()
      from unnest(${ids}::uuid[]) as new (id)`)
    return ids
  }

  async isFree(id: string): Promise<boolean> {
    const row = await this.database.db.row<{ free: boolean }>(sql`
      select lease is null and due_at <= now() as free from jobs
      where environment_id = '00000000-0000-7000-8000-000000000001' and id = ${id}`)
    return row?.free ?? assert.fail(`there is no job ${id}`)
  }

  async identities(nodeId: string): Promise<{ epoch: number; beat: number; hasEnded: boolean }[]> {
    return this.database.db.rows(sql`
      select epoch, beat, ended_at is not null as "hasEnded" from node_heartbeats where node_id = ${nodeId} order by epoch`)
  }
}
