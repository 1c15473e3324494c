// Connections between the service and what it needs: reset at random, or slow.
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../proxy.ts'
import { between } from '../random.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'
import { addNodes, prepareServer, sharedEnvironment } from './several-nodes.ts'

const nodes = 2
/** An unknown outcome by the provider's doing is repeated after ten minutes at the earliest. */
export const untilRepeatsMs = 25 * 60_000

const proxies = new WeakMap<Stage, TcpProxy[]>()

function proxiesOf(stage: Stage): TcpProxy[] {
  return proxies.get(stage) ?? []
}

async function addProxy(stage: Stage, port: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(() => port)
  stage.onClose(() => proxy.stop())
  proxies.set(stage, [...proxiesOf(stage), proxy])
  return proxy
}

async function behindDatabaseProxy(stage: Stage): Promise<void> {
  const server = await prepareServer(stage)
  const proxy = await addProxy(stage, server.port)
  await addNodes(stage, stage.options.nodes ?? nodes, sharedEnvironment(proxy.port))
}

async function resetAgainAndAgain(stage: Stage): Promise<void> {
  await sleep(stage.intervalMs())
  let resets = 0
  while (stage.pace.next()) {
    const startedAt = Date.now()
    stage.recovery.killed()
    const share = stage.random.oneOf([0.2, 0.5, 1])
    for (const proxy of proxiesOf(stage)) resets += proxy.reset(stage.random, share)
    await stage.revive()
    const readyAt = await stage.someReady()
    stage.recovery.ready(readyAt)
    const intervalMs = stage.intervalMs()
    await stage.untilNextFault({ startedAt, readyAt, intervalMs, workMs: intervalMs })
  }
  stage.remarks.push(`${resets} connections were reset`)
  await stage.startAll()
}

export const databaseResets: Scene = {
  name: 'database-resets',
  what: 'Two nodes; connections to the database are reset at random (a fifth, half or all of them).',
  nodesStayUp: true,
  prepare: behindDatabaseProxy,
  faults: resetAgainAndAgain,
}

export const providerResets: Scene = {
  name: 'provider-resets',
  what: 'Two nodes; connections to the providers are reset at random, in the middle of calls.',
  settleMs: untilRepeatsMs,
  prepare: async (stage) => {
    const server = await prepareServer(stage)
    const http = await addProxy(stage, stage.sinks.httpPort)
    const smtp = await addProxy(stage, stage.sinks.smtpPort)
    stage.providers = { httpPort: http.port, smtpPort: smtp.port }
    await addNodes(stage, stage.options.nodes ?? nodes, sharedEnvironment(server.port))
  },
  faults: resetAgainAndAgain,
}

/** Of each piece of data, either way: an answer takes twice as long. */
const delayMs = [300, 2_500] as const
const slowForMs = [4_000, 12_000] as const

export const slowDatabase: Scene = {
  name: 'slow-database',
  what: 'Two nodes; for seconds at a time every response of the database takes up to five seconds.',
  kills: 8,
  nodesStayUp: true,
  prepare: behindDatabaseProxy,
  faults: async (stage) => {
    await sleep(stage.intervalMs())
    while (stage.pace.next()) {
      const startedAt = Date.now()
      for (const proxy of proxiesOf(stage)) proxy.delayMs = between(stage.random, delayMs)
      await sleep(between(stage.random, slowForMs))
      for (const proxy of proxiesOf(stage)) proxy.delayMs = 0
      await stage.revive()
      const readyAt = await stage.someReady()
      const intervalMs = stage.intervalMs()
      await stage.untilNextFault({ startedAt, readyAt, intervalMs, workMs: intervalMs })
    }
    await stage.startAll()
  },
}
