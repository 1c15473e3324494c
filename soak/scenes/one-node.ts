// One node with its embedded database: the service killed, the service and the database killed, bursts of kills during the start.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { embeddedConnection, killEmbedded } from '../embedded.ts'
import { between } from '../random.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'

const dataDirectoryOf = (stage: Stage): string => join(stage.directory, 'node-1')

export async function prepareOneNode(stage: Stage): Promise<void> {
  const node = await stage.addNode({})
  // Before the node's own closer, which runs first: the database outlives a killed service.
  stage.onClose(async () => {
    await node.stop()
    await killEmbedded(dataDirectoryOf(stage))
  })
  await stage.start(node)
  stage.connection = embeddedConnection(dataDirectoryOf(stage))
}

async function killAgainAndAgain(stage: Stage, kill: () => Promise<unknown>): Promise<void> {
  const [node] = stage.nodes
  if (node === undefined) throw new Error('There is no node')
  await sleep(stage.intervalMs())
  while (stage.pace.next()) {
    stage.recovery.killed()
    await kill()
    await stage.live([node])
  }
  await stage.startAll()
}

export const oneNode: Scene = {
  name: 'one-node',
  what: 'One node with its embedded database; the service is killed (SIGKILL).',
  prepare: prepareOneNode,
  faults: (stage) => killAgainAndAgain(stage, async () => stage.nodes[0]?.kill()),
}

export const oneNodeAndDatabase: Scene = {
  name: 'one-node-and-database',
  what: 'One node; the service and its embedded database are killed together.',
  prepare: prepareOneNode,
  faults: (stage) =>
    killAgainAndAgain(stage, async () => {
      // Either may be the first to go.
      const kills = [async () => stage.nodes[0]?.kill(), () => killEmbedded(dataDirectoryOf(stage))]
      if (stage.random.chance(0.5)) kills.reverse()
      for (const kill of kills) await kill()
    }),
}

/** From the very first instruction to some time after a start usually ends. */
const startMs = [0, 3_000] as const
const burst = [2, 6] as const

export const startBursts: Scene = {
  name: 'start-bursts',
  what: 'One node; bursts of kills while the service starts, now and then with its database.',
  prepare: prepareOneNode,
  faults: (stage) =>
    killAgainAndAgain(stage, async () => {
      const [node] = stage.nodes
      await node?.kill()
      for (let left = between(stage.random, burst); left > 0; left--) {
        node?.spawn()
        await sleep(between(stage.random, startMs))
        if (stage.random.chance(0.25)) await killEmbedded(dataDirectoryOf(stage))
        await node?.kill()
      }
    }),
}
