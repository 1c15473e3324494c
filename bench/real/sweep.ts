// The sweep: one factor at a time from a realistic middle, every row with both services freshly started.
import type { Options } from '../options.ts'
import { scaled } from '../sizes.ts'
import { median, percentile } from '../statistics.ts'
import type { Measure, MeasuredRow } from './table.ts'
import { inTurns, roundsUsual, rowsOf, type Tools, type Workload, withContenders } from './turns.ts'
import { burst, fillFeeds, pagesWhile, type Shape, steady } from './workloads.ts'

interface Conditions extends Shape {
  /** The provider takes many messages in a call. */
  readonly manyPerCall: boolean
  /** POSTHORN_PROCESSES; undefined leaves the default. */
  readonly processes: string | undefined
  readonly history: number
  /** Feed and activity are read at the same time. */
  readonly reads: boolean
}

const middle: Conditions = {
  eventsPerCall: 10,
  recipients: 'inline',
  latencyMs: 20,
  manyPerCall: false,
  template: 'rich',
  reads: false,
  processes: undefined,
  history: 0,
}

export interface SweepRow {
  readonly id: string
  readonly title: string
  readonly differs: Partial<Conditions>
}

/** Only what differs from the middle. */
export const sweepRows: readonly SweepRow[] = [
  { id: 'middle', title: 'the middle', differs: {} },
  { id: 'calls-1', title: '1 event per call', differs: { eventsPerCall: 1 } },
  { id: 'keys', title: '1 event per call, with a key', differs: { eventsPerCall: 1, areKeyed: true } },
  { id: 'calls-100', title: '100 events per call', differs: { eventsPerCall: 100 } },
  { id: 'known', title: 'recipients known', differs: { recipients: 'known' } },
  { id: 'latency-0', title: 'provider answers at once', differs: { latencyMs: 0 } },
  { id: 'latency-200', title: 'provider answers after 200 ms', differs: { latencyMs: 200 } },
  { id: 'many-per-call', title: 'provider takes many messages per call', differs: { manyPerCall: true } },
  { id: 'plain', title: 'plain templates', differs: { template: 'plain' } },
  { id: 'long', title: 'long templates', differs: { template: 'long' } },
  { id: 'reads', title: 'reads while writing', differs: { reads: true } },
  { id: 'processes-2', title: '2 processes', differs: { processes: '2' } },
  { id: 'processes-4', title: '4 processes', differs: { processes: '4' } },
  { id: 'history-1m', title: 'history of 1,000,000', differs: { history: 1_000_000 } },
  { id: 'history-5m', title: 'history of 5,000,000', differs: { history: 5_000_000 } },
]

export const sweepMeasures: Readonly<Record<string, Measure>> = {
  accepted: { title: 'accepted', unit: '/s', better: 'higher' },
  rate: { title: 'rate, end to end', unit: '/s', better: 'higher' },
  p50: { title: 'trigger to provider at 200/s, p50', unit: 'ms', better: 'lower' },
  p99: { title: 'trigger to provider at 200/s, p99', unit: 'ms', better: 'lower' },
  cpu: { title: 'CPU per notification', unit: 'ms', better: 'lower' },
  wal: { title: 'WAL per notification', unit: 'bytes', better: 'lower' },
  memory: { title: 'memory (Pss)', unit: 'MB', better: 'lower' },
  'feed-p50': { title: 'feed page meanwhile, p50', unit: 'ms', better: 'lower' },
  'feed-p99': { title: 'feed page meanwhile, p99', unit: 'ms', better: 'lower' },
  'activity-p50': { title: 'activity page meanwhile, p50', unit: 'ms', better: 'lower' },
  'activity-p99': { title: 'activity page meanwhile, p99', unit: 'ms', better: 'lower' },
}

const perSecond = 200
const readsPerSecond = { feed: 50, activity: 10 }
/** So many calls at once, unless there are a hundred events in each. */
const connectionsOf = ({ eventsPerCall }: Conditions): number => (eventsPerCall === 1 ? 64 : 8)

function workloadsFor(conditions: Conditions): Workload[] {
  const load = (tools: Tools) => ({ events: tools.count(4_000), connections: connectionsOf(conditions) })
  return [
    {
      gives: ['accepted', 'rate', 'cpu', 'wal'],
      run: async (contender, tools) => {
        const run = () => burst(contender, tools.sink, conditions, load(tools))
        if (!conditions.reads) return numbersOf(await run())
        await fillFeeds(contender, tools.sink)
        const { result, feedMs, activityMs } = await pagesWhile(contender, readsPerSecond, run)
        return {
          ...numbersOf(result),
          'feed-p50': median(feedMs),
          'feed-p99': percentile(feedMs, 0.99),
          'activity-p50': median(activityMs),
          'activity-p99': percentile(activityMs, 0.99),
        }
      },
    },
    {
      gives: ['p50', 'p99'],
      run: async (contender, tools) => {
        const run = () => steady(contender, tools.sink, conditions, { perSecond, events: tools.count(1_000) })
        const { triggerMs } = conditions.reads ? (await pagesWhile(contender, readsPerSecond, run)).result : await run()
        return { p50: median(triggerMs), p99: percentile(triggerMs, 0.99) }
      },
    },
    { gives: ['memory'], last: true, run: async (contender) => ({ memory: await contender.memoryMegabytes() }) },
  ]
}

const numbersOf = (result: Awaited<ReturnType<typeof burst>>) => ({
  accepted: result.acceptedPerSecond,
  rate: result.completedPerSecond,
  cpu: result.processorMs,
  wal: result.walBytes,
})

export async function measureSweepRow({ differs }: SweepRow, options: Options): Promise<MeasuredRow[]> {
  const conditions: Conditions = {
    ...middle,
    ...(options.latencyMs === undefined ? {} : { latencyMs: options.latencyMs }),
    ...(options.processes === undefined ? {} : { processes: options.processes }),
    ...differs,
  }
  const { processes, manyPerCall } = conditions
  const history = conditions.history === 0 ? 0 : scaled(conditions.history)
  const results = await withContenders(options.sides, { processes, manyPerCall, history }, (contenders, sink) =>
    inTurns(workloadsFor(conditions), contenders, sink, options.rounds ?? roundsUsual),
  )
  return rowsOf(sweepMeasures, results)
}
