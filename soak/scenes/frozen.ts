// A node that stands still: stopped for minutes, taken for dead by the others, and then awake again with old work at hand.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scene } from '../scene.ts'
import { addNodes, prepareServer, sharedEnvironment } from './several-nodes.ts'

/** The node is frozen in the middle of it. */
const burstMs = 6_000

export const frozenNode: Scene = {
  name: 'frozen-node',
  what: 'Two nodes; one is frozen (SIGSTOP) for two minutes by default, and then continued (SIGCONT).',
  kills: 3,
  events: 1_500,
  prepare: async (stage) => {
    const server = await prepareServer(stage)
    await addNodes(stage, stage.options.nodes ?? 2, sharedEnvironment(server.port))
  },
  faults: async (stage) => {
    stage.pace.burstMs = burstMs
    while (stage.pace.next()) {
      await sleep(stage.intervalMs())
      const node = stage.random.oneOf(stage.nodes)
      const startedAt = Date.now()
      stage.recovery.killed()
      node.freeze()
      stage.recovery.ready(startedAt)
      await sleep(stage.options.freezeMs)
      node.thaw()
      await stage.revive()
      const readyAt = await node.ready()
      const intervalMs = stage.intervalMs()
      await stage.untilNextFault({ startedAt, readyAt, intervalMs, workMs: intervalMs })
    }
    await stage.startAll()
  },
}
