// The loads of the realistic bench. Each run of one returns its numbers by the id of the measure.
import { setTimeout as sleep } from 'node:timers/promises'
import { askAt, requestText } from '../api.ts'
import { createCallers, runLoad } from '../load.ts'
import { benchKey } from '../service.ts'
import { clockMs, type Sink } from '../sink.ts'
import { median, percentile } from '../statistics.ts'
import { expectCount, until } from '../waiting.ts'
import type { Contender } from './contenders.ts'
import { eventOf, pageSize, type Recipients, readerCount, readerOf, type TemplateName } from './content.ts'

export interface Shape {
  readonly eventsPerCall: number
  readonly template: TemplateName
  readonly recipients: Recipients
  readonly latencyMs: number
}

export type Numbers = Readonly<Record<string, number>>

/** Numbers of events go on from run to run: recipients that are new stay new. */
let nextNumber = 0

/** Looks at the sink cost neither side's database anything. */
const looksMs = 20

function requestsOf(calls: number, { eventsPerCall, template, recipients }: Shape): string[] {
  const event = () => eventOf(nextNumber++, template, recipients)
  return Array.from({ length: calls }, () =>
    eventsPerCall === 1
      ? requestText('/v1/events/trigger', event())
      : requestText('/v1/events/trigger/bulk', { events: Array.from({ length: eventsPerCall }, event) }),
  )
}

/** As fast as they are answered, on so many connections, until everything is sent and recorded. */
export async function burst(
  contender: Contender,
  sink: Sink,
  shape: Shape,
  { events, connections }: { events: number; connections: number },
): Promise<Numbers> {
  await sink.setLatency(shape.latencyMs)
  const requests = requestsOf(Math.max(1, Math.round(events / shape.eventsPerCall)), shape)
  const count = requests.length * shape.eventsPerCall
  const before = await costsOf(contender)
  const startedAt = performance.now()
  const load = { port: contender.port, clients: connections, requests: requests.length }
  const { perSecond, latenciesMs } = await runLoad({ ...load, requestOf: (index) => requests[index] ?? '' })
  await until(async () => (await sink.count()) >= count, looksMs)
  await contender.untilSettled()
  const seconds = (performance.now() - startedAt) / 1000
  const costs = costsBetween(before, await costsOf(contender), count)
  const arrivals = await sink.take()
  expectCount(`${contender.name}: e-mails`, arrivals.length, count)
  expectCount(`${contender.name}: different e-mails`, new Set(arrivals.map(([number]) => number)).size, count)
  return {
    accepted: perSecond * shape.eventsPerCall,
    completed: count / seconds,
    p50: median(latenciesMs),
    p99: percentile(latenciesMs, 0.99),
    ...costs,
  }
}

interface Costs {
  readonly processorSeconds: number
  readonly walBytes: number
}

const costsOf = async (contender: Contender): Promise<Costs> => ({
  processorSeconds: await contender.processorSeconds(),
  walBytes: await contender.walBytes(),
})

const costsBetween = (before: Costs, after: Costs, notifications: number) => ({
  processorMs: ((after.processorSeconds - before.processorSeconds) * 1000) / notifications,
  walBytes: (after.walBytes - before.walBytes) / notifications,
})

/** Single events in an open loop: calls go out when their time has come, whether or not earlier ones were answered. */
export async function steady(
  contender: Contender,
  sink: Sink,
  shape: Shape,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Numbers> {
  await sink.setLatency(shape.latencyMs)
  const first = nextNumber
  const requests = requestsOf(Math.max(1, Math.round(perSecond * seconds)), { ...shape, eventsPerCall: 1 })
  const callers = createCallers(contender.port)
  const sentAt: number[] = []
  const answers: Promise<number>[] = []
  const before = await costsOf(contender)
  const startedAt = clockMs()
  while (sentAt.length < requests.length) {
    const due = Math.min(requests.length, Math.floor(((clockMs() - startedAt) * perSecond) / 1000) + 1)
    while (sentAt.length < due) {
      const at = clockMs()
      const request = requests[sentAt.length] ?? ''
      sentAt.push(at)
      answers.push(callers.call(request).then(() => clockMs() - at))
    }
    await sleep(1)
  }
  const acceptedMs = await Promise.all(answers)
  await until(async () => (await sink.count()) >= requests.length, looksMs)
  await contender.untilSettled()
  const costs = costsBetween(before, await costsOf(contender), requests.length)
  callers.close()
  const arrivals = await sink.take()
  expectCount(`${contender.name}: e-mails`, arrivals.length, requests.length)
  const arrivedMs = arrivals.map(([number, atMs]) => atMs - (sentAt[number - first] ?? Number.NaN))
  return {
    triggerP50: median(arrivedMs),
    triggerP99: percentile(arrivedMs, 0.99),
    acceptP50: median(acceptedMs),
    acceptP99: percentile(acceptedMs, 0.99),
    ...costs,
  }
}

export type PageName = 'feed' | 'activity'

const filled = new WeakSet<Contender>()

/** Every feed that is read has more than a page. */
export async function fillFeeds(contender: Contender, sink: Sink): Promise<void> {
  if (filled.has(contender)) return
  filled.add(contender)
  const shape: Shape = { eventsPerCall: 100, template: 'rich', recipients: 'readers', latencyMs: 0 }
  await burst(contender, sink, shape, { events: readerCount * (pageSize + 2), connections: 8 })
}

/** First pages, one after the other on each connection. */
export async function pages(
  contender: Contender,
  page: PageName,
  { count, clients }: { count: number; clients: number },
): Promise<Numbers> {
  await expectFullPage(contender, page)
  const load = { port: contender.port, clients, requests: count }
  const { latenciesMs, perSecond } = await runLoad({ ...load, requestOf: (index) => getText(pathOf(page, index)) })
  return { perSecond, p50: median(latenciesMs), p99: percentile(latenciesMs, 0.99) }
}

const pathOf = (page: PageName, index: number): string =>
  page === 'feed'
    ? `/v1/subscribers/${readerOf(index).subscriberId}/notifications/feed?page=0&limit=${pageSize}`
    : `/v1/notifications?page=0&limit=${pageSize}`

const getText = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ApiKey ${benchKey}\r\n\r\n`

/** A page that is not full measures something else. */
async function expectFullPage(contender: Contender, page: PageName): Promise<void> {
  const { data } = (await askAt(contender.port)('GET', pathOf(page, 1))) as { data: unknown[] }
  expectCount(`${contender.name}: rows of a ${page} page`, data.length, pageSize)
}
