// What the pipeline does and what waits for it, in the Prometheus text format.
import type { Clock } from '../../db/clock.ts'
import type { Sql } from '../../db/sql.ts'
import type { LaneDepth } from '../../queue/depth.ts'
import { depthMax, readDepths } from '../../queue/depth.ts'
import { jobQueue } from '../../store/jobs/queue-table.ts'
import { taskQueue } from '../../store/jobs/tasks.ts'
import { countWaitingDeliveries } from '../../store/webhooks/webhook-deliveries.ts'
import { countEndpointStates } from '../../store/webhooks/webhook-endpoints.ts'
import type { Reading, TimeReading } from '../../world/meter.ts'
import { deliveryBoundsMs, laneNames } from '../../world/meter.ts'
import type { World } from '../../world/world.ts'
import type { MetricFamily } from './shared-metrics.ts'

interface Family {
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

/** Every metric of the pipeline; docs/operating.md says the same in its table. */
export const pipelineFamilies = {
  posthorn_events_total: {
    help: 'Events received, by the status returned; repeated events count as repeated.',
    type: 'counter',
    labels: ['status'],
  },
  posthorn_notifications_total: {
    help: 'Notifications created: one event for one subscriber, addressed directly or through fan-out.',
    type: 'counter',
    labels: ['lane'],
  },
  posthorn_messages_total: {
    help: 'Attempts to send a message, by result; a retried message is counted once per attempt.',
    type: 'counter',
    labels: ['channel', 'provider', 'outcome'],
  },
  posthorn_time_to_deliver_seconds: {
    help: 'Time from accepting an event to the first message that a step sent, including the waits in the workflow.',
    type: 'histogram',
    labels: ['channel'],
  },
  posthorn_jobs_buried_total: {
    help: 'Jobs that were buried after repeated internal errors.',
    type: 'counter',
    labels: [],
  },
  posthorn_receipts_total: {
    help: 'Delivery receipts from providers, each counted once.',
    type: 'counter',
    labels: ['provider', 'status'],
  },
  posthorn_lease_expiries_total: {
    help: 'Jobs and tasks reclaimed because their lease expired or their node died.',
    type: 'counter',
    labels: ['queue'],
  },
  posthorn_queue_depth: {
    help: `Jobs that are due and not leased, over all environments; counted up to ${depthMax} per lane.`,
    type: 'gauge',
    labels: ['queue', 'lane'],
  },
  posthorn_queue_oldest_age_seconds: {
    help: 'How long the oldest due job has waited, over all environments.',
    type: 'gauge',
    labels: ['queue', 'lane'],
  },
  posthorn_webhook_attempts_total: {
    help: 'Attempts to send an event to a webhook endpoint, by result.',
    type: 'counter',
    labels: ['outcome'],
  },
  posthorn_webhook_deliveries_waiting: {
    help: `Events that wait to be sent or sent again to a webhook endpoint; counted up to ${depthMax}.`,
    type: 'gauge',
    labels: [],
  },
  posthorn_webhook_endpoints: {
    help: 'Webhook endpoints by state: enabled, failing (enabled, and the last attempt failed) or disabled.',
    type: 'gauge',
    labels: ['state'],
  },
  posthorn_worker_ready: {
    help: 'Whether the worker of this node is running; absent on nodes without a worker.',
    type: 'gauge',
    labels: [],
  },
} as const satisfies Readonly<Record<`posthorn_${string}`, Family>>

type FamilyName = keyof typeof pipelineFamilies

/** However often we are scraped, and by however many, the database is asked no more often. */
const depthsEveryMs = 5_000

export interface PipelineSources {
  readonly db: Sql
  readonly world: World
  readonly clock: Clock
  /** Left out where the node has no worker. */
  readonly workerIsReady?: (() => boolean) | undefined
}

export interface PipelineMetrics {
  /** What this process has done, and whether its worker works. */
  counts(): string
  /** The same as values, for processes that answer together. */
  countFamilies(): readonly MetricFamily[]
  /** What waits: the same for all nodes. */
  queues(): Promise<string>
}

/** What is queried at each scrape. */
export function createPipelineMetrics({ db, world, clock, workerIsReady }: PipelineSources): PipelineMetrics {
  const depths = createDepths(db, world, clock)
  const ready = (): Reading[] => (workerIsReady === undefined ? [] : [{ labels: [], value: workerIsReady() ? 1 : 0 }])
  return {
    counts: () => {
      const { deliveries, ...counts } = namedCounts(world, ready())
      const text = Object.entries(counts).map(([name, readings]) => family(name as CountName, readings))
      return [...text, timeFamily('posthorn_time_to_deliver_seconds', deliveries)].join('\n')
    },
    countFamilies: () => {
      const { deliveries, ...counts } = namedCounts(world, ready())
      const families = Object.entries(counts).map(([name, readings]) => familyValues(name as CountName, readings))
      return [...families, timeFamilyValues('posthorn_time_to_deliver_seconds', deliveries)]
    },
    queues: async () => {
      const { lanes, waiting, endpoints } = await depths()
      const byLane = (read: (lane: LaneDepth) => number): Reading[] =>
        lanes.map((one) => ({ labels: [one.queue, laneNames[one.lane] ?? String(one.lane)], value: read(one) }))
      return [
        family(
          'posthorn_queue_depth',
          byLane(({ depth }) => depth),
        ),
        family(
          'posthorn_queue_oldest_age_seconds',
          byLane(({ oldestMs }) => oldestMs / 1000),
        ),
        family('posthorn_webhook_deliveries_waiting', waiting === undefined ? [] : [{ labels: [], value: waiting }]),
        family(
          'posthorn_webhook_endpoints',
          Object.entries(endpoints).map(([state, value]) => ({ labels: [state], value })),
        ),
      ].join('\n')
    },
  }
}

type CountName = Exclude<keyof ReturnType<typeof namedCounts>, 'deliveries'>

function namedCounts({ meter }: World, ready: readonly Reading[]) {
  const counts = meter.read()
  return {
    posthorn_events_total: counts.events,
    posthorn_notifications_total: counts.notifications,
    posthorn_messages_total: counts.messages,
    posthorn_jobs_buried_total: counts.buried,
    posthorn_receipts_total: counts.receipts,
    posthorn_lease_expiries_total: counts.leaseExpiries,
    posthorn_webhook_attempts_total: counts.webhooks,
    posthorn_worker_ready: ready,
    deliveries: counts.deliveries,
  } as const
}

interface Depths {
  readonly lanes: readonly LaneDepth[]
  /** Undefined while it is not known. */
  readonly waiting: number | undefined
  /** By state. */
  readonly endpoints: Readonly<Record<string, number>>
}

const noDepths: Depths = { lanes: [], waiting: undefined, endpoints: {} }

/**
 * Concurrent scrapes share a result; while the database is unavailable there is none, and the counters are still
 * reported.
 */
function createDepths(db: Sql, world: World, clock: Clock): () => Promise<Depths> {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let answer: Promise<Depths> = Promise.resolve(noDepths)
  return () => {
    const nowMs = world.now().getTime()
    // A clock that was set back must not keep an old answer for good.
    if (Math.abs(nowMs - askedAtMs) < depthsEveryMs) return answer
    askedAtMs = nowMs
    const asked = Promise.all([
      readDepths(db, [jobQueue, taskQueue], clock),
      countWaitingDeliveries(db, depthMax),
      countEndpointStates(db),
    ])
    answer = asked.then(
      ([lanes, waiting, endpoints]) => ({ lanes, waiting, endpoints }),
      (error: Error) => {
        world.log.warn({ error: error.message }, 'Could not read the depth of the queues')
        return noDepths
      },
    )
    return answer
  }
}

function head(name: FamilyName): string {
  const { help, type } = pipelineFamilies[name]
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function family(name: FamilyName, readings: readonly Reading[]): string {
  const { labels } = pipelineFamilies[name]
  return head(name) + readings.map((one) => sample(name, labels, one.labels, one.value)).join('')
}

function timeFamily(name: FamilyName, readings: readonly TimeReading[]): string {
  const { labels } = pipelineFamilies[name]
  const lines = readings.flatMap(timeLines).map((one) => {
    const names = one.bound === undefined ? labels : [...labels, 'le']
    const values = one.bound === undefined ? one.labels : [...one.labels, one.bound]
    return sample(`${name}_${one.part}`, names, values, one.value)
  })
  return head(name) + lines.join('')
}

interface TimeLine {
  readonly part: 'bucket' | 'sum' | 'count'
  readonly labels: readonly string[]
  readonly bound?: string
  readonly value: number
}

function timeLines({ labels, upTo, count, sumMs }: TimeReading): TimeLine[] {
  return [
    ...upTo.map((value, place): TimeLine => {
      return { part: 'bucket', labels, bound: String((deliveryBoundsMs[place] ?? 0) / 1000), value }
    }),
    { part: 'bucket', labels, bound: '+Inf', value: count },
    { part: 'sum', labels, value: sumMs / 1000 },
    { part: 'count', labels, value: count },
  ]
}

function familyValues(name: FamilyName, readings: readonly Reading[]): MetricFamily {
  const values = readings.map((one) => ({ labels: labelled(name, one.labels), value: one.value }))
  return { name, help: pipelineFamilies[name].help, type: pipelineFamilies[name].type, aggregator: 'sum', values }
}

function timeFamilyValues(name: FamilyName, readings: readonly TimeReading[]): MetricFamily {
  const values = readings.flatMap(timeLines).map(({ part, labels, bound, value }) => {
    const all = { ...labelled(name, labels), ...(bound === undefined ? {} : { le: bound }) }
    return { labels: all, value, metricName: `${name}_${part}` }
  })
  return { name, help: pipelineFamilies[name].help, type: pipelineFamilies[name].type, aggregator: 'sum', values }
}

const labelled = (name: FamilyName, values: readonly string[]): Record<string, string> =>
  Object.fromEntries(pipelineFamilies[name].labels.map((label, place) => [label, values[place] ?? '']))

function sample(name: string, labels: readonly string[], values: readonly string[], value: number): string {
  const labelText = labels.map((label, place) => `${label}="${escaped(values[place] ?? '')}"`).join(',')
  return `${name}${labelText === '' ? '' : `{${labelText}}`} ${value}\n`
}

/** As the text format wants label values. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
