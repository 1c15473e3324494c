// What /metrics reports of the pipeline, as numbers by metric and labels.
import assert from 'node:assert/strict'
import type { TestApp } from './app.ts'

export type Metrics = Readonly<Record<string, number>>

/** `posthorn_messages_total{channel="email",…}` and its value, for all of ours but those of requests and connections. */
export async function metricsOf(app: TestApp): Promise<Metrics> {
  const { status, text } = await app.call('GET', '/metrics', { key: null })
  assert.equal(status, 200, text)
  const lines = text.split('\n').filter((line) => /^posthorn_(?!http_|database_)/.test(line))
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^(\S+) (\S+)$/.exec(line) ?? assert.fail(`"${line}" is no sample`)
      return [name, Number(value)]
    }),
  )
}

/** What a piece of work adds to the counts; buckets of times and what waits in the queue are left out. */
export async function counted(app: TestApp, work: () => Promise<unknown>): Promise<Metrics> {
  const before = await metricsOf(app)
  await work()
  const after = await metricsOf(app)
  const changes = Object.entries(after).map(([name, value]): [string, number] => [name, value - (before[name] ?? 0)])
  return Object.fromEntries(changes.filter(([name, change]) => change !== 0 && !/_bucket|_sum|_queue_/.test(name)))
}

export const messages = (channel: string, provider: string, outcome: string): string =>
  `posthorn_messages_total{channel="${channel}",provider="${provider}",outcome="${outcome}"}`
export const events = (status: string): string => `posthorn_events_total{status="${status}"}`
export const notifications = (lane: string): string => `posthorn_notifications_total{lane="${lane}"}`
export const delivered = (channel: string): string => `posthorn_time_to_deliver_seconds_count{channel="${channel}"}`
