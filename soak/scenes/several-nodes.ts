// Several nodes on one PostgreSQL server: one of them killed, all of them, the database, everything.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceNode } from '../nodes.ts'
import { databaseUrl, PostgresServer, packagedPrograms } from '../postgres.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'

/** The variables that nodes of one installation share. */
export const sharedEnvironment = (port: number): Record<string, string> => ({
  DATABASE_URL: databaseUrl(port),
  POSTHORN_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
})

/** Starts that many nodes; the first migrates before the others come. */
export async function addNodes(stage: Stage, count: number, environment: Record<string, string>): Promise<void> {
  for (let index = 0; index < count; index++) await stage.start(await stage.addNode(environment))
}

const servers = new WeakMap<Stage, PostgresServer>()

export function serverOf(stage: Stage): PostgresServer {
  const server = servers.get(stage)
  if (server === undefined) throw new Error('There is no database server')
  return server
}

export async function prepareServer(stage: Stage): Promise<PostgresServer> {
  const server = await PostgresServer.make(stage, 'postgres', await packagedPrograms(stage))
  await server.initialise()
  stage.connection = server.connection
  servers.set(stage, server)
  return server
}

const prepareNodes = (count: number) => async (stage: Stage) => {
  const server = await prepareServer(stage)
  await addNodes(stage, stage.options.nodes ?? count, sharedEnvironment(server.port))
}

export async function killNodes(stage: Stage, choose: () => readonly ServiceNode[]): Promise<void> {
  await sleep(stage.intervalMs())
  while (stage.pace.next()) {
    const chosen = choose()
    stage.recovery.killed()
    await Promise.all(chosen.map((node) => node.kill()))
    await stage.live(chosen, chosen.length < stage.nodes.length)
  }
  await stage.startAll()
}

export const twoNodesOneKilled: Scene = {
  name: 'two-nodes-one-killed',
  what: 'Two nodes on one PostgreSQL server; one of them is killed again and again.',
  prepare: prepareNodes(2),
  faults: (stage) => killNodes(stage, () => stage.nodes.slice(0, 1)),
}

export const twoNodesBothKilled: Scene = {
  name: 'two-nodes-both-killed',
  what: 'Two nodes on one PostgreSQL server; both are killed at once.',
  prepare: prepareNodes(2),
  faults: (stage) => killNodes(stage, () => stage.nodes),
}

export const threeNodes: Scene = {
  name: 'three-nodes',
  what: 'Three nodes on one PostgreSQL server; one, two or all of them, drawn at random, are killed at once.',
  prepare: prepareNodes(3),
  faults: (stage) => killNodes(stage, () => some(stage)),
}

/** Mostly one, now and then more, now and then all. */
function some(stage: Stage): ServiceNode[] {
  const first = stage.random.oneOf(stage.nodes)
  const shareOfOthers = stage.random.oneOf([0, 0, 0.5, 1])
  return stage.nodes.filter((node) => node === first || stage.random.chance(shareOfOthers))
}

export const databaseKilled: Scene = {
  name: 'database-killed',
  what: 'Two nodes; only the PostgreSQL server is killed (its postmaster) and started again.',
  nodesStayUp: true,
  prepare: prepareNodes(2),
  faults: async (stage) => {
    await sleep(stage.intervalMs())
    while (stage.pace.next()) {
      stage.recovery.killed()
      await serverOf(stage).kill()
      const startedAt = Date.now()
      const intervalMs = stage.intervalMs()
      await sleep(stage.random.oneOf([0, 500, 2_000]))
      await serverOf(stage).start()
      const readyAt = await stage.someReady()
      stage.recovery.ready(readyAt)
      await stage.untilNextFault({ startedAt, readyAt, intervalMs, workMs: intervalMs })
    }
    await stage.startAll()
  },
}

export const everythingKilled: Scene = {
  name: 'everything-killed',
  what: 'Two nodes and their PostgreSQL server are killed at once.',
  prepare: prepareNodes(2),
  faults: async (stage) => {
    await sleep(stage.intervalMs())
    while (stage.pace.next()) {
      stage.recovery.killed()
      await Promise.all([serverOf(stage).kill(), ...stage.nodes.map((node) => node.kill())])
      await Promise.all([serverOf(stage).start(), stage.live(stage.nodes)])
    }
    await stage.startAll()
  },
}
