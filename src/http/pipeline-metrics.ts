// What the pipeline does and what waits for it, in the text that Prometheus reads.
import type { Clock } from '../db/clock.ts'
import type { Sql } from '../db/sql.ts'
import type { LaneDepth } from '../queue/depth.ts'
import { depthMax, readDepths } from '../queue/depth.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import { taskQueue } from '../store/tasks.ts'
import type { Reading, TimeReading } from '../world/meter.ts'
import { deliveryBoundsMs, laneNames } from '../world/meter.ts'
import type { World } from '../world/world.ts'

interface Family {
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

/** Every metric of the pipeline; docs/operating.md says the same in its table. */
export const pipelineFamilies = {
  posthorn_events_total: {
    help: 'Events that callers sent, by the status they were answered with, or repeated.',
    type: 'counter',
    labels: ['status'],
  },
  posthorn_notifications_total: {
    help: 'Notifications made: an event for one subscriber, named directly or by fan-out.',
    type: 'counter',
    labels: ['lane'],
  },
  posthorn_messages_total: {
    help: 'Goes at messages, by how they ended; retried ones come back.',
    type: 'counter',
    labels: ['channel', 'provider', 'outcome'],
  },
  posthorn_time_to_deliver_seconds: {
    help: 'From an event to the first message of a step that was sent, waits that the workflow asks for included.',
    type: 'histogram',
    labels: ['channel'],
  },
  posthorn_jobs_buried_total: {
    help: 'Jobs given up after faults of the service.',
    type: 'counter',
    labels: [],
  },
  posthorn_receipts_total: {
    help: 'What providers reported of messages, each thing once.',
    type: 'counter',
    labels: ['provider', 'status'],
  },
  posthorn_lease_expiries_total: {
    help: 'Jobs and tasks taken from whoever did not come to an end: the lease ended, or the node died.',
    type: 'counter',
    labels: ['queue'],
  },
  posthorn_queue_depth: {
    help: `What is due and in nobody's hands, over all environments; counted up to ${depthMax} a lane.`,
    type: 'gauge',
    labels: ['queue', 'lane'],
  },
  posthorn_queue_oldest_age_seconds: {
    help: 'How long the first of what is due has waited, over all environments.',
    type: 'gauge',
    labels: ['queue', 'lane'],
  },
  posthorn_worker_ready: {
    help: 'Whether the worker of this node works; left out where a node has none.',
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

/** Returns what is asked at each scrape. */
export function createPipelineMetrics({ db, world, clock, workerIsReady }: PipelineSources): () => Promise<string> {
  const depths = createDepths(db, world, clock)
  return async () => {
    const counts = world.meter.read()
    const lanes = await depths()
    const byLane = (read: (lane: LaneDepth) => number): Reading[] =>
      lanes.map((one) => ({ labels: [one.queue, laneNames[one.lane] ?? String(one.lane)], value: read(one) }))
    const ready = workerIsReady === undefined ? [] : [{ labels: [], value: workerIsReady() ? 1 : 0 }]
    return [
      family('posthorn_events_total', counts.events),
      family('posthorn_notifications_total', counts.notifications),
      family('posthorn_messages_total', counts.messages),
      timeFamily('posthorn_time_to_deliver_seconds', counts.deliveries),
      family('posthorn_jobs_buried_total', counts.buried),
      family('posthorn_receipts_total', counts.receipts),
      family('posthorn_lease_expiries_total', counts.leaseExpiries),
      family(
        'posthorn_queue_depth',
        byLane(({ depth }) => depth),
      ),
      family(
        'posthorn_queue_oldest_age_seconds',
        byLane(({ oldestMs }) => oldestMs / 1000),
      ),
      family('posthorn_worker_ready', ready),
    ].join('\n')
  }
}

/** Scrapes that come together share an answer; while the database is away there is none, and the counts are still told. */
function createDepths(db: Sql, world: World, clock: Clock): () => Promise<readonly LaneDepth[]> {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let answer: Promise<readonly LaneDepth[]> = Promise.resolve([])
  return () => {
    const nowMs = world.now().getTime()
    // A clock that was set back must not keep an old answer for good.
    if (Math.abs(nowMs - askedAtMs) < depthsEveryMs) return answer
    askedAtMs = nowMs
    answer = readDepths(db, [jobQueue, taskQueue], clock).catch((error: Error) => {
      world.log.warn({ error: error.message }, 'The depth of the queues could not be read')
      return []
    })
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
  const withBound = [...labels, 'le']
  const lines = readings.flatMap((one) => [
    ...one.upTo.map((count, place) =>
      sample(`${name}_bucket`, withBound, [...one.labels, String((deliveryBoundsMs[place] ?? 0) / 1000)], count),
    ),
    sample(`${name}_bucket`, withBound, [...one.labels, '+Inf'], one.count),
    sample(`${name}_sum`, labels, one.labels, one.sumMs / 1000),
    sample(`${name}_count`, labels, one.labels, one.count),
  ])
  return head(name) + lines.join('')
}

function sample(name: string, labels: readonly string[], values: readonly string[], value: number): string {
  const told = labels.map((label, place) => `${label}="${escaped(values[place] ?? '')}"`).join(',')
  return `${name}${told === '' ? '' : `{${told}}`} ${value}\n`
}

/** As the text format wants label values. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
