// One process of several: a full node on the database that its parent has prepared.
import { connectionShare } from '../config/processes.ts'
import type { Config } from '../config.ts'
import type { Log } from '../world/log.ts'
import type { Orders } from './child-messages.ts'
import type { ParentLink } from './cluster.ts'
import { loadProviders } from './prepare.ts'
import type { Serving } from './serve.ts'
import { serve } from './serve.ts'
import { joinMetricsBy } from './service-metrics.ts'
import { openStore } from './store.ts'

export interface ChildParts {
  readonly orders: Orders
  readonly link: ParentLink
  readonly signal: AbortSignal
}

export async function startChild(config: Config, log: Log, { orders, link, signal }: ChildParts): Promise<Serving> {
  await loadProviders(config, log)
  const { number, nodeId, port, connection } = orders
  const own: Config = {
    ...config,
    port,
    databasePoolSize: connectionShare(config.databasePoolSize, config.processes, number),
  }
  const store = await openStore(own, log, { embedded: connection ?? 'hold', signal })
  return serve(own, store, {
    number,
    nodeId,
    joinMetrics: joinMetricsBy(link),
    onDeath: (report) => {
      for (const dead of orders.dead) report(dead)
      link.onMessage((message) => {
        if (message.kind === 'dead' && message.nodeId !== nodeId) report(message.nodeId)
      })
    },
  })
}
