// npm run bench -- real: the realistic middle, both sides in turns: two steps, rich templates, recipients inline, a call per mail.
import { readOptions, type SideName } from '../options.ts'
import { startProcess, withDataDirectory } from '../service.ts'
import type { Sink } from '../sink.ts'
import { startSink } from '../sink.ts'
import { scaled } from '../sizes.ts'
import type { Measured } from '../statistics.ts'
import type { Contender } from './contenders.ts'
import { startContender } from './contenders.ts'
import { compared, type Measure, rowOf } from './table.ts'
import type { Numbers, Shape } from './workloads.ts'
import { burst, fillFeeds, pages, steady } from './workloads.ts'

export const measures: Readonly<Record<string, Measure>> = {
  'bulk-accept': { title: 'bulk accept, 100 per call, 8 connections', unit: '/s', better: 'higher', bar: 1, goal: 3 },
  'single-accept': { title: 'single accept, 64 clients', unit: '/s', better: 'higher', bar: 3, goal: 6 },
  'end-to-end': { title: 'end to end, provider at once', unit: '/s', better: 'higher', bar: 4, goal: 10 },
  'end-to-end-200': { title: 'end to end, provider 200 ms', unit: '/s', better: 'higher', bar: 3, goal: 8 },
  'trigger-p50': { title: 'trigger to provider at 200/s, p50', unit: 'ms', better: 'lower', bar: 1, goal: 0.7 },
  'trigger-p99': { title: 'trigger to provider at 200/s, p99', unit: 'ms', better: 'lower', bar: 1, goal: 0.7 },
  'accept-p50': { title: 'accept at 200/s, p50', unit: 'ms', better: 'lower', bar: 1, goal: 0.7 },
  'accept-p99': { title: 'accept at 200/s, p99', unit: 'ms', better: 'lower', bar: 1, goal: 0.7 },
  'feed-p50': { title: 'feed page of 10, 8 clients, p50', unit: 'ms', better: 'lower', bar: 0.8, goal: 0.5 },
  'feed-p99': { title: 'feed page of 10, 8 clients, p99', unit: 'ms', better: 'lower' },
  'activity-p50': { title: 'activity page of 10, 8 clients, p50', unit: 'ms', better: 'lower', bar: 0.8, goal: 0.5 },
  'activity-p99': { title: 'activity page of 10, 8 clients, p99', unit: 'ms', better: 'lower' },
  'cpu-burst': { title: 'CPU per notification, burst', unit: 'ms', better: 'lower', bar: 0.3, goal: 0.15 },
  'cpu-200ms': { title: 'CPU per notification, provider 200 ms', unit: 'ms', better: 'lower' },
  'cpu-steady': { title: 'CPU per notification at 200/s', unit: 'ms', better: 'lower', bar: 0.4, goal: 0.15 },
  'wal-burst': { title: 'WAL per notification, burst', unit: 'bytes', better: 'lower' },
  'wal-steady': { title: 'WAL per notification at 200/s', unit: 'bytes', better: 'lower' },
  memory: { title: 'memory of all processes after the load (Pss)', unit: 'MB', better: 'lower', bar: 1.1, goal: 0.6 },
}

interface Tools {
  readonly sink: Sink
  readonly shape: Shape
  /** Smaller in the round that only warms up. */
  readonly share: number
}

interface Workload {
  /** Ids of the measures it gives. */
  readonly gives: readonly string[]
  /** Its numbers after all rounds: runs once, at the end. */
  readonly last?: true
  run(contender: Contender, tools: Tools): Promise<Numbers>
}

const bulk = { eventsPerCall: 100 }
const atLeast = (count: number, share: number): number => Math.max(100, Math.round(scaled(count) * share))

const workloads: Readonly<Record<string, Workload>> = {
  burst: {
    gives: ['bulk-accept', 'end-to-end', 'cpu-burst', 'wal-burst'],
    run: async (contender, { sink, shape, share }) => {
      const load = { events: atLeast(8_000, share), connections: 8 }
      const numbers = await burst(contender, sink, { ...shape, ...bulk }, load)
      return {
        'bulk-accept': numbers['accepted'] ?? Number.NaN,
        'end-to-end': numbers['completed'] ?? Number.NaN,
        'cpu-burst': numbers['processorMs'] ?? Number.NaN,
        'wal-burst': numbers['walBytes'] ?? Number.NaN,
      }
    },
  },
  'burst-200': {
    gives: ['end-to-end-200', 'cpu-200ms'],
    run: async (contender, { sink, shape, share }) => {
      const load = { events: atLeast(5_000, share), connections: 8 }
      const numbers = await burst(contender, sink, { ...shape, ...bulk, latencyMs: 200 }, load)
      return {
        'end-to-end-200': numbers['completed'] ?? Number.NaN,
        'cpu-200ms': numbers['processorMs'] ?? Number.NaN,
      }
    },
  },
  single: {
    gives: ['single-accept'],
    run: async (contender, { sink, shape, share }) => {
      const load = { events: atLeast(3_000, share), connections: 64 }
      const numbers = await burst(contender, sink, { ...shape, eventsPerCall: 1 }, load)
      return { 'single-accept': numbers['accepted'] ?? Number.NaN }
    },
  },
  steady: {
    gives: ['trigger-p50', 'trigger-p99', 'accept-p50', 'accept-p99', 'cpu-steady', 'wal-steady'],
    run: async (contender, { sink, shape, share }) => {
      const numbers = await steady(contender, sink, shape, { perSecond: 200, seconds: atLeast(2_000, share) / 200 })
      return {
        'trigger-p50': numbers['triggerP50'] ?? Number.NaN,
        'trigger-p99': numbers['triggerP99'] ?? Number.NaN,
        'accept-p50': numbers['acceptP50'] ?? Number.NaN,
        'accept-p99': numbers['acceptP99'] ?? Number.NaN,
        'cpu-steady': numbers['processorMs'] ?? Number.NaN,
        'wal-steady': numbers['walBytes'] ?? Number.NaN,
      }
    },
  },
  feed: { gives: ['feed-p50', 'feed-p99'], run: (contender, tools) => pageNumbers(contender, 'feed', tools) },
  activity: {
    gives: ['activity-p50', 'activity-p99'],
    run: (contender, tools) => pageNumbers(contender, 'activity', tools),
  },
  memory: {
    gives: ['memory'],
    last: true,
    run: async (contender) => ({ memory: await contender.memoryMegabytes() }),
  },
}

async function pageNumbers(contender: Contender, page: 'feed' | 'activity', { sink, share }: Tools): Promise<Numbers> {
  await fillFeeds(contender, sink)
  const { p50, p99 } = await pages(contender, page, { count: atLeast(2_000, share), clients: 8 })
  return { [`${page}-p50`]: p50 ?? Number.NaN, [`${page}-p99`]: p99 ?? Number.NaN }
}

const warmUpShare = 0.25
const roundsUsual = 3

export async function benchReal(): Promise<Measured[]> {
  const options = readOptions(process.argv.slice(2))
  const wanted = wantedWorkloads(options.only)
  return withDataDirectory(async (directory) => {
    const stopping: (() => Promise<void>)[] = []
    try {
      const startProgram = async (file: string) => {
        const one = await startProcess(['--import', 'tsx', file], {})
        stopping.push(() => one.stop())
        return one
      }
      const sink = await startSink({ startProgram })
      const contenders: Contender[] = []
      const setting = { directory, sinkPort: sink.port, processes: options.processes, manyPerCall: false }
      for (const side of options.sides) {
        const contender = await startContender(side, setting)
        contenders.push(contender)
        stopping.push(() => contender.stop())
      }
      const shape: Shape = {
        eventsPerCall: 1,
        template: 'rich',
        recipients: 'inline',
        latencyMs: options.latencyMs ?? 0,
      }
      const results = await inTurns(wanted, contenders, sink, shape, options.rounds ?? roundsUsual)
      return tableOf(results, wanted, options.only)
    } finally {
      for (const stop of stopping.reverse()) await stop()
    }
  })
}

function wantedWorkloads(only: readonly string[]): Workload[] {
  const unknown = only.filter((id) => !(id in workloads) && !(id in measures))
  if (unknown.length > 0) {
    const known = [...new Set([...Object.keys(workloads), ...Object.keys(measures)])]
    throw new Error(`There is no measure ${unknown.join(', ')}; there are ${known.join(', ')}`)
  }
  return Object.entries(workloads).flatMap(([id, workload]) => {
    const isWanted = only.length === 0 || only.includes(id) || workload.gives.some((measure) => only.includes(measure))
    return isWanted ? [workload] : []
  })
}

type Results = Map<SideName, Map<string, number[]>>

async function inTurns(
  wanted: readonly Workload[],
  contenders: readonly Contender[],
  sink: Sink,
  shape: Shape,
  rounds: number,
): Promise<Results> {
  const results: Results = new Map(contenders.map(({ name }) => [name, new Map()]))
  const keep = (contender: Contender, numbers: Numbers): void => {
    const kept = results.get(contender.name)
    for (const [id, value] of Object.entries(numbers)) kept?.set(id, [...(kept.get(id) ?? []), value])
  }
  for (let round = 0; round <= rounds; round += 1) {
    const isWarmUp = round === 0
    // Whoever went first goes second in the next round.
    const order = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const workload of wanted.filter(({ last }) => last !== true)) {
      for (const contender of order) {
        const numbers = await workload.run(contender, { sink, shape, share: isWarmUp ? warmUpShare : 1 })
        if (isWarmUp) continue
        keep(contender, numbers)
        const told = Object.entries(numbers).map(([id, value]) => `${id} ${value.toFixed(2)}`)
        process.stderr.write(`  round ${round}, ${contender.name}: ${told.join(', ')}\n`)
      }
    }
  }
  for (const workload of wanted.filter(({ last }) => last === true)) {
    for (const contender of contenders) keep(contender, await workload.run(contender, { sink, shape, share: 1 }))
  }
  return results
}

function tableOf(results: Results, wanted: readonly Workload[], only: readonly string[]): Measured[] {
  const given = new Set(wanted.flatMap(({ gives }) => gives))
  const asked = only.filter((id) => id in measures)
  return Object.entries(measures).flatMap(([id, measure]) => {
    if (!given.has(id) || (asked.length > 0 && asked.length === only.length && !asked.includes(id))) return []
    return [rowOf(measure, compared(results.get('handmade')?.get(id), results.get('posthorn')?.get(id)))]
  })
}
