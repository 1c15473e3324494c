// npm run bench -- real: the realistic middle, both sides in turns: two steps, rich templates, recipients inline, a call per mail.
import type { Options } from '../options.ts'
import { median, percentile } from '../statistics.ts'
import type { Contender } from './contenders.ts'
import type { Measure, MeasuredRow } from './table.ts'
import { inTurns, roundsUsual, rowsOf, type Tools, type Workload, withContenders } from './turns.ts'
import { burst, fillFeeds, type PageName, pages, type Shape, steady } from './workloads.ts'

export const measures: Readonly<Record<string, Measure>> = {
  'bulk-accept': { title: 'bulk accept, 100 per call, 8 connections', unit: '/s', better: 'higher', bar: 1 },
  'single-accept': { title: 'single accept, 64 clients', unit: '/s', better: 'higher', bar: 3 },
  'end-to-end': { title: 'end to end, provider answers at once', unit: '/s', better: 'higher', bar: 4 },
  'end-to-end-200': { title: 'end to end, provider answers after 200 ms', unit: '/s', better: 'higher', bar: 3 },
  'trigger-p50': { title: 'trigger to provider at 200/s, p50', unit: 'ms', better: 'lower', bar: 1 },
  'trigger-p99': { title: 'trigger to provider at 200/s, p99', unit: 'ms', better: 'lower', bar: 1 },
  'accept-p50': { title: 'accept at 200/s, p50', unit: 'ms', better: 'lower', bar: 1 },
  'accept-p99': { title: 'accept at 200/s, p99', unit: 'ms', better: 'lower', bar: 1 },
  'feed-p50': { title: 'feed page of 10, 8 clients, p50', unit: 'ms', better: 'lower', bar: 0.8 },
  'feed-p99': { title: 'feed page of 10, 8 clients, p99', unit: 'ms', better: 'lower' },
  'activity-p50': { title: 'activity page of 10, 8 clients, p50', unit: 'ms', better: 'lower', bar: 0.8 },
  'activity-p99': { title: 'activity page of 10, 8 clients, p99', unit: 'ms', better: 'lower' },
  'cpu-burst': { title: 'CPU per notification, burst', unit: 'ms', better: 'lower', bar: 0.3 },
  'cpu-burst-200': { title: 'CPU per notification, burst, provider after 200 ms', unit: 'ms', better: 'lower' },
  'cpu-steady': { title: 'CPU per notification at 200/s', unit: 'ms', better: 'lower', bar: 0.4 },
  'wal-burst': { title: 'WAL per notification, burst', unit: 'bytes', better: 'lower' },
  'wal-steady': { title: 'WAL per notification at 200/s', unit: 'bytes', better: 'lower' },
  memory: { title: 'memory of all processes after the load (Pss)', unit: 'MB', better: 'lower', bar: 1.1 },
}

const perSecond = 200

export const workloadsFor = (shape: Shape): Readonly<Record<string, Workload>> => ({
  burst: {
    gives: ['bulk-accept', 'end-to-end', 'cpu-burst', 'wal-burst'],
    run: async (contender, { sink, count }) => {
      const load = { events: count(8_000), connections: 8 }
      const result = await burst(contender, sink, { ...shape, eventsPerCall: 100 }, load)
      return {
        'bulk-accept': result.acceptedPerSecond,
        'end-to-end': result.completedPerSecond,
        'cpu-burst': result.processorMs,
        'wal-burst': result.walBytes,
      }
    },
  },
  'burst-200': {
    gives: ['end-to-end-200', 'cpu-burst-200'],
    run: async (contender, { sink, count }) => {
      const load = { events: count(5_000), connections: 8 }
      const result = await burst(contender, sink, { ...shape, eventsPerCall: 100, latencyMs: 200 }, load)
      return { 'end-to-end-200': result.completedPerSecond, 'cpu-burst-200': result.processorMs }
    },
  },
  single: {
    gives: ['single-accept'],
    run: async (contender, { sink, count }) => {
      const result = await burst(contender, sink, shape, { events: count(3_000), connections: 64 })
      return { 'single-accept': result.acceptedPerSecond }
    },
  },
  steady: {
    gives: ['trigger-p50', 'trigger-p99', 'accept-p50', 'accept-p99', 'cpu-steady', 'wal-steady'],
    run: async (contender, { sink, count }) => {
      const result = await steady(contender, sink, shape, { perSecond, events: count(2_000) })
      return {
        'trigger-p50': median(result.triggerMs),
        'trigger-p99': percentile(result.triggerMs, 0.99),
        'accept-p50': median(result.acceptMs),
        'accept-p99': percentile(result.acceptMs, 0.99),
        'cpu-steady': result.processorMs,
        'wal-steady': result.walBytes,
      }
    },
  },
  feed: { gives: ['feed-p50', 'feed-p99'], run: (contender, tools) => readPages(contender, 'feed', tools) },
  activity: {
    gives: ['activity-p50', 'activity-p99'],
    run: (contender, tools) => readPages(contender, 'activity', tools),
  },
  memory: {
    gives: ['memory'],
    last: true,
    run: async (contender) => ({ memory: await contender.memoryMegabytes() }),
  },
})

async function readPages(contender: Contender, page: PageName, { sink, count }: Tools) {
  await fillFeeds(contender, sink)
  const { p50, p99 } = await pages(contender, page, { count: count(2_000), clients: 8 })
  return { [`${page}-p50`]: p50, [`${page}-p99`]: p99 }
}

/** All measures, or those of `only`: ids of measures or of the loads that give several. */
export async function measureReal(options: Options): Promise<MeasuredRow[]> {
  const shape: Shape = {
    eventsPerCall: 1,
    template: 'rich',
    recipients: 'inline',
    latencyMs: options.latencyMs ?? 0,
  }
  const workloads = workloadsFor(shape)
  const wanted = wantedMeasures(workloads, options.only)
  const chosen = Object.values(workloads).filter(({ gives }) => gives.some((id) => wanted.has(id)))
  const setting = { processes: options.processes, manyPerCall: false, history: 0 }
  const results = await withContenders(options.sides, setting, (contenders, sink) =>
    inTurns(chosen, contenders, sink, options.rounds ?? roundsUsual),
  )
  return rowsOf(measures, results).filter(({ id }) => wanted.has(id))
}

function wantedMeasures(workloads: Readonly<Record<string, Workload>>, only: readonly string[]): ReadonlySet<string> {
  if (only.length === 0) return new Set(Object.keys(measures))
  const ids = only.flatMap((name) => workloads[name]?.gives ?? (name in measures ? [name] : []))
  const unknown = only.filter((name) => !(name in workloads) && !(name in measures))
  if (unknown.length === 0) return new Set(ids)
  const known = [...new Set([...Object.keys(workloads), ...Object.keys(measures)])]
  throw new Error(`There is no measure ${unknown.join(', ')}; there are ${known.join(', ')}`)
}
