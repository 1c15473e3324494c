// A service of several processes: the parent holds the database and the port, the children do the work.
import type { Config } from '../config.ts'
import { StartError } from '../manage/operate/first-start.ts'
import { freeLeftovers } from '../run/start-worker.ts'
import { fork, freePort, mayFork } from './cluster.ts'
import type { Serving } from './serve.ts'
import { ServiceMetrics } from './service-metrics.ts'
import { StopError } from './stop-error.ts'
import type { Store } from './store.ts'
import { Supervisor } from './supervisor.ts'

/** Less than the whole stop may take: the database is stopped after them. */
const childrenStopMs = 25_000

/** On a prepared database. Closes the store where it cannot start. */
export async function startSeveral(config: Config, store: Store): Promise<Serving> {
  const { db, world, connection } = store
  const { log } = world
  try {
    if (!mayFork()) {
      throw new StartError('POSTHORN_PROCESSES must be 1 if another program runs Posthorn in its own cluster.')
    }
    const isEmbedded = config.databaseUrl === undefined
    // There is no child yet: whatever is leased was left by an earlier run.
    if (isEmbedded && config.role !== 'api') await freeLeftovers(db, world)
    // Only the children work with the database from here on.
    await store.disconnect()
    const port = config.port === 0 ? await freePort(config.host) : config.port
    const supervisor = new Supervisor({
      processes: config.processes,
      log,
      fork: (orders) => fork({ ...orders, port, ...(isEmbedded ? { connection } : {}) }),
      newNodeId: () => world.newId(world.now()),
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => world.sleep(ms, signal),
      onEnded: (number) => metrics.childEnded(number),
      onMessage: (_number, child, message) => {
        if (message.kind === 'metrics') metrics.answered(message.question, message.families)
        if (message.kind !== 'ask-metrics') return
        const { question } = message
        metrics.ofAll().then(
          (families) => child.send({ kind: 'metrics', question, families }),
          (error: Error) => log.error({ error: error.message }, 'Could not aggregate the metrics of all processes'),
        )
      },
    })
    const metrics = new ServiceMetrics({
      children: () => supervisor.started,
      restarts: () => supervisor.restarts,
      sleep: (ms, signal) => world.sleep(ms, signal),
    })
    const url = await supervisor.start().catch(async (error: unknown) => {
      await supervisor.stop(childrenStopMs)
      throw error
    })
    const stop = async (): Promise<void> => {
      const isClean = await supervisor.stop(childrenStopMs)
      await world.tracer?.stop()
      await store.close()
      if (!isClean) throw new StopError('A process of the service did not stop in time')
    }
    return { url, stop }
  } catch (error) {
    await store.close()
    throw error
  }
}
