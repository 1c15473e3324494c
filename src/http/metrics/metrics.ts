// Prometheus metrics: requests by route and status, their latencies, the connection pool, the event loop, the pipeline.
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PoolsUsage } from '../../db/pools.ts'
import { Problem } from '../../domain/problem.ts'
import { isSame } from '../../providers/signing/signing.ts'
import type { PipelineSources } from './pipeline-metrics.ts'
import { createPipelineMetrics } from './pipeline-metrics.ts'
import type { JoinMetrics } from './shared-metrics.ts'
import { familiesOf, textOf } from './shared-metrics.ts'

/** Finer below 10 ms, where a healthy service responds; up to the request timeout. */
const latencyBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]
/** How often the event loop's delay is sampled: often enough to see stalls, seldom enough to cost nothing when idle. */
const eventLoopPrecisionMs = 50

/** `join`: if several processes form one service, whichever is asked responds for all. `key`: required to read them. */
export function installMetrics(
  app: FastifyInstance,
  poolUsage: () => PoolsUsage,
  sources: PipelineSources,
  { join, key }: { join?: JoinMetrics | undefined; key?: string | undefined } = {},
): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopPrecisionMs })
  const duration = new Histogram({
    name: 'posthorn_http_request_duration_seconds',
    help: 'Requests by method, route and status, and how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: latencyBucketsSeconds,
    registers: [registry],
  })
  new Gauge({
    name: 'posthorn_database_connections',
    help: 'Connections by pool and state, and requests waiting for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, usage] of Object.entries(poolUsage())) {
        this.set({ pool, state: 'busy' }, usage.total - usage.idle)
        this.set({ pool, state: 'idle' }, usage.idle)
        this.set({ pool, state: 'waiting' }, usage.waiting)
      }
    },
  })
  app.addHook('onResponse', (request, reply, done) => {
    // The route's pattern, never the path itself: labels must not grow with the data.
    const route = request.routeOptions.url ?? 'unknown'
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })
  const pipeline = createPipelineMetrics(sources)
  const ofAll = join?.(async () => [...(await familiesOf(registry)), ...pipeline.countFamilies()])
  const read =
    ofAll === undefined
      ? () => Promise.all([registry.metrics(), pipeline.counts(), pipeline.queues()])
      : () => Promise.all([ofAll().then(textOf), pipeline.queues()])
  app.get('/metrics', async (request, reply) => {
    if (key !== undefined && !isSame(request.headers.authorization ?? '', `Bearer ${key}`)) {
      throw new Problem(401, 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
    }
    return reply.type(registry.contentType).send((await read()).join('\n'))
  })
}
