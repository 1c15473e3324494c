// Failover: the primary dies under load and its synchronous standby is promoted, behind HAProxy and behind PgBouncer.
import { setTimeout as sleep } from 'node:timers/promises'
import { haproxyProgram, pgbouncerProgram, startHaproxy, startPgbouncer } from '../balancer.ts'
import { databaseUrl } from '../postgres.ts'
import { debianPrograms, ReplicatedPair } from '../replication.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'
import { addNodes, sharedEnvironment } from './several-nodes.ts'

const nodes = 2
/** The primary dies in the middle of it. */
const burstMs = 6_000
const pairs = new WeakMap<Stage, ReplicatedPair>()

function missing(): string | undefined {
  if (debianPrograms() === undefined)
    return 'PostgreSQL with pg_basebackup is missing (Debian: apt-get install postgresql)'
  if (haproxyProgram === undefined) return 'HAProxy is missing (Debian: apt-get install haproxy)'
  return undefined
}

async function startPair(stage: Stage): Promise<{ pair: ReplicatedPair; port: number }> {
  const pair = await ReplicatedPair.start(stage)
  pairs.set(stage, pair)
  stage.connection = pair.primary.connection
  return { pair, port: await startHaproxy(stage, pair) }
}

async function failOverAgainAndAgain(stage: Stage): Promise<void> {
  const pair = pairs.get(stage)
  if (pair === undefined) throw new Error('There is no replicated pair')
  stage.pace.burstMs = burstMs
  while (stage.pace.next()) {
    await sleep(stage.intervalMs())
    const startedAt = Date.now()
    stage.recovery.killed()
    await pair.failOver()
    stage.connection = pair.primary.connection
    await stage.revive()
    const readyAt = await stage.someReady()
    stage.recovery.ready(readyAt)
    await stage.recovery.calm()
    await pair.makeStandby()
    const intervalMs = stage.intervalMs()
    await stage.untilNextFault({ startedAt, readyAt: Date.now(), intervalMs, workMs: intervalMs })
  }
  await stage.startAll()
}

export const failoverHaproxy: Scene = {
  name: 'failover-haproxy',
  what: 'Two nodes behind HAProxy; the primary is killed and its synchronous standby promoted, again and again.',
  kills: 5,
  unavailable: missing,
  nodesStayUp: true,
  prepare: async (stage) => {
    const { port } = await startPair(stage)
    await addNodes(stage, stage.options.nodes ?? nodes, sharedEnvironment(port))
  },
  faults: failOverAgainAndAgain,
}

export const failoverPgbouncer: Scene = {
  name: 'failover-pgbouncer',
  what: 'The same with PgBouncer in transaction mode between the nodes and HAProxy.',
  kills: 5,
  unavailable: () =>
    missing() ??
    (pgbouncerProgram === undefined ? 'PgBouncer is missing (Debian: apt-get install pgbouncer)' : undefined),
  nodesStayUp: true,
  prepare: async (stage) => {
    const { pair, port } = await startPair(stage)
    const pooled = await startPgbouncer(stage, pair, port)
    await addNodes(stage, stage.options.nodes ?? nodes, {
      ...sharedEnvironment(pooled),
      POSTHORN_DATABASE_POOLER: 'transaction',
      POSTHORN_DATABASE_DIRECT_URL: databaseUrl(port),
    })
  },
  faults: failOverAgainAndAgain,
}
