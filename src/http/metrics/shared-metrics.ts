// The metrics of several processes as one: each as plain values that travel between processes, added up, and their text.
import type { Registry } from 'prom-client'
import { AggregatorRegistry } from 'prom-client'

/** As prom-client returns it. `aggregator` says how the values of several processes are combined. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly aggregator: 'sum' | 'first' | 'omit' | 'average' | 'min' | 'max'
  readonly values: readonly MetricValue[]
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Of a histogram: `…_bucket`, `…_sum` or `…_count`. */
  readonly metricName?: string
}

/** Takes how this process's metrics are read; returns how those of all processes together are. */
export type JoinMetrics = (readOwn: () => Promise<readonly MetricFamily[]>) => () => Promise<readonly MetricFamily[]>

export const familiesOf = async (registry: Registry): Promise<readonly MetricFamily[]> =>
  (await registry.getMetricsAsJSON()) as unknown as readonly MetricFamily[]

const together = (all: readonly (readonly MetricFamily[])[]): Registry =>
  AggregatorRegistry.aggregate(all as unknown as object[])

export const addedUp = (all: readonly (readonly MetricFamily[])[]): Promise<readonly MetricFamily[]> =>
  familiesOf(together(all))

export const textOf = (families: readonly MetricFamily[]): Promise<string> => together([families]).metrics()

/** What only grows while a process lives: it must not shrink when the process ends. */
export const countsOf = (families: readonly MetricFamily[]): readonly MetricFamily[] =>
  families.filter(({ type }) => type === 'counter' || type === 'histogram')
