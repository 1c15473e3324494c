// One service of two processes with its embedded database: a child is killed at random, now and then the parent.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { embeddedConnection, killEmbedded } from '../embedded.ts'
import type { ServiceNode } from '../nodes.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'

const processes = 2
/** One in so many faults is the parent's death, and with it everyone's. */
const parentShare = 0.2
const lookEveryMs = 20
const childBackMs = 90_000

async function prepareProcesses(stage: Stage): Promise<void> {
  const node = await stage.addNode({ POSTHORN_PROCESSES: String(processes) })
  const dataDirectory = join(stage.directory, 'node-1')
  // Before the node's own closer, which runs first: the database outlives a killed service.
  stage.onClose(async () => {
    await node.stop()
    await killEmbedded(dataDirectory)
  })
  await stage.start(node)
  stage.connection = embeddedConnection(dataDirectory)
}

/** The service's own; the embedded database is a child of it too. */
async function childrenOf(parent: number | undefined): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [stat, command] = await Promise.all(
        ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      )
      const [, ppid] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
      return Number(ppid) === parent && command?.includes('posthorn.mjs') === true ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

async function killChild(stage: Stage, node: ServiceNode): Promise<void> {
  const startedAt = Date.now()
  const intervalMs = stage.intervalMs()
  const before = await childrenOf(node.pid)
  const victim = stage.random.oneOf(before)
  process.kill(victim, 'SIGKILL')
  // The other works on: what is owed may come from now on.
  stage.recovery.ready(startedAt)
  const deadline = startedAt + childBackMs
  for (let left = before; left.length < processes || left.includes(victim); left = await childrenOf(node.pid)) {
    if (Date.now() > deadline) throw new Error('A killed process was not started again')
    await sleep(lookEveryMs)
  }
  await stage.untilNextFault({ startedAt, readyAt: await node.ready(), intervalMs, workMs: intervalMs })
}

export const processKilled: Scene = {
  name: 'process-killed',
  what: 'One service of two processes with its embedded database; one process is killed, one time in five the parent.',
  unavailable: () => (process.platform === 'linux' ? undefined : '(needs /proc)'),
  prepare: prepareProcesses,
  faults: async (stage) => {
    const [node] = stage.nodes
    if (node === undefined) throw new Error('There is no node')
    await sleep(stage.intervalMs())
    while (stage.pace.next()) {
      stage.recovery.killed()
      if (stage.random.chance(parentShare)) {
        await node.kill()
        await stage.live([node])
      } else await killChild(stage, node)
    }
    await stage.startAll()
  },
}
