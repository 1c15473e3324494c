// The connections of one node in three pools, so that requests cannot keep it from recording outcomes or showing that it lives.
import { availableParallelism } from 'node:os'
import { connectionsMin } from '../config/database.ts'
import type { Connection, Database, PoolOptions, PoolUsage } from './connect.ts'
import { connect } from './connect.ts'

export interface Pools {
  /** Requests, and the worker's reading and deciding. */
  readonly db: Database
  /** Provider responses, and the marks of calls that are about to be made. */
  readonly outcomesDb: Database
  /** That this node lives. */
  readonly heartbeatDb: Database
  usage(): PoolsUsage
  close(): Promise<void>
}

export type PoolName = 'general' | 'outcomes' | 'heartbeat'

export type PoolsUsage = Readonly<Partial<Record<PoolName, PoolUsage>>>

/** Two: a commit that waits for its disk does not keep the next batch of outcomes from being sent. */
const outcomeConnections = 2
const heartbeatConnections = 1
/** The soft limit of general connections: two for each processor keep it busy. */
const softLimitPerProcessor = 2
const softLimitMin = 4
const softLimit = (): number => Math.max(softLimitMin, softLimitPerProcessor * availableParallelism())
/**
 * A heartbeat that takes longer is useless: a silent connection is replaced well before the others consider this node
 * dead.
 */
const heartbeatTimeoutMs = 3_000
const heartbeatSilenceMs = 500
/** Below this many in all, outcomes have one connection: the general pool needs the other more. */
const roomyFrom = 6

/** How `total` connections are shared out; each pool has at least one. */
export function poolSizes(total: number): Readonly<Record<PoolName, number>> {
  if (total < connectionsMin)
    throw new Error(`A node needs at least ${connectionsMin} database connections, not ${total}`)
  const outcomes = total < roomyFrom ? 1 : outcomeConnections
  return { general: total - outcomes - heartbeatConnections, outcomes, heartbeat: heartbeatConnections }
}

/** A pool opens connections on demand: what is reserved costs nothing while it is not used. */
export function openPools(connection: Connection, { poolSize, ...options }: PoolOptions): Pools {
  const sizes = poolSizes(poolSize)
  const db = connect(connection, { ...options, poolSize: sizes.general, softLimit: softLimit() })
  const outcomesDb = connect(connection, { ...options, poolSize: sizes.outcomes })
  const heartbeatDb = connect(connection, {
    ...options,
    poolSize: sizes.heartbeat,
    statementTimeoutMs: Math.min(options.statementTimeoutMs, heartbeatTimeoutMs),
    lockTimeoutMs: Math.min(options.lockTimeoutMs, heartbeatTimeoutMs),
    silenceMs: heartbeatSilenceMs,
  })
  return {
    db,
    outcomesDb,
    heartbeatDb,
    usage: () => ({ general: db.usage(), outcomes: outcomesDb.usage(), heartbeat: heartbeatDb.usage() }),
    close: async () => {
      await Promise.all([db.close(), outcomesDb.close(), heartbeatDb.close()])
    },
  }
}

/** For a node that only serves requests, and for commands: one pool of all connections, for everything. */
export function openOnePool(connection: Connection, options: PoolOptions): Pools {
  const db = connect(connection, { ...options, softLimit: softLimit() })
  return { db, outcomesDb: db, heartbeatDb: db, usage: () => ({ general: db.usage() }), close: () => db.close() }
}
