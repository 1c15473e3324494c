// The loads of the realistic bench. Each run of one returns numbers by name, for one side.
import { setTimeout as sleep } from 'node:timers/promises'
import { askAt, requestText } from '../api.ts'
import { type Callers, createCallers, runLoad } from '../load.ts'
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
  /** Every call has an idempotency key, as those of the public client have. */
  readonly areKeyed?: true
}

/** Numbers of events go on from run to run: recipients that are new stay new. */
let nextNumber = 0

/** Looks at the sink cost neither side's database anything. */
const looksMs = 20

function requestsOf(events: number, { eventsPerCall, template, recipients, areKeyed }: Shape): string[] {
  const event = () => eventOf(nextNumber++, template, recipients)
  const more = (): Record<string, string> => (areKeyed ? { 'idempotency-key': `call-${nextNumber}` } : {})
  return Array.from({ length: Math.max(1, Math.round(events / eventsPerCall)) }, () =>
    eventsPerCall === 1
      ? requestText('/v1/events/trigger', event(), more())
      : requestText('/v1/events/trigger/bulk', { events: Array.from({ length: eventsPerCall }, event) }, more()),
  )
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

/** Resolves with what arrived, once all of it is sent and recorded. A bench that lost or doubled something measured something else. */
async function untilArrived(contender: Contender, sink: Sink, count: number) {
  await until(async () => (await sink.count()) >= count, looksMs)
  await contender.untilSettled()
  const settledAt = performance.now()
  const arrivals = await sink.take()
  expectCount(`${contender.name}: e-mails`, arrivals.length, count)
  expectCount(`${contender.name}: different e-mails`, new Set(arrivals.map(([number]) => number)).size, count)
  return { arrivals, settledAt }
}

export interface Burst {
  /** Events a second accepted, while the pipeline was at work. */
  readonly acceptedPerSecond: number
  /** Notifications a second, from the first call until everything was sent and recorded. */
  readonly completedPerSecond: number
  readonly processorMs: number
  readonly walBytes: number
}

/** As fast as they are answered, on so many connections, until everything is sent and recorded. */
export async function burst(
  contender: Contender,
  sink: Sink,
  shape: Shape,
  { events, connections }: { events: number; connections: number },
): Promise<Burst> {
  await sink.setLatency(shape.latencyMs)
  const requests = requestsOf(events, shape)
  const count = requests.length * shape.eventsPerCall
  const before = await costsOf(contender)
  const startedAt = performance.now()
  const load = { port: contender.port, clients: connections, requests: requests.length }
  const { perSecond } = await runLoad({ ...load, requestOf: (index) => requests[index] ?? '' })
  const { settledAt } = await untilArrived(contender, sink, count)
  return {
    acceptedPerSecond: perSecond * shape.eventsPerCall,
    completedPerSecond: (count * 1000) / (settledAt - startedAt),
    ...costsBetween(before, await costsOf(contender), count),
  }
}

/** An open loop: calls go out when their time has come, whether or not earlier ones were answered. Resolves with how long each took. */
async function openLoop(
  callers: Callers,
  perSecond: number,
  requestOf: (index: number, atMs: number) => string | undefined,
): Promise<number[]> {
  const answers: Promise<number>[] = []
  const startedAt = clockMs()
  for (let isOver = false; !isOver; ) {
    const due = Math.floor(((clockMs() - startedAt) * perSecond) / 1000) + 1
    while (answers.length < due && !isOver) {
      const atMs = clockMs()
      const request = requestOf(answers.length, atMs)
      if (request === undefined) isOver = true
      else answers.push(callers.call(request).then(() => clockMs() - atMs))
    }
    await sleep(1)
  }
  const tookMs = await Promise.all(answers)
  callers.close()
  return tookMs
}

export interface Steady {
  /** From the call to the provider. */
  readonly triggerMs: readonly number[]
  readonly acceptMs: readonly number[]
  readonly processorMs: number
  readonly walBytes: number
}

export async function steady(
  contender: Contender,
  sink: Sink,
  shape: Shape,
  { perSecond, events }: { perSecond: number; events: number },
): Promise<Steady> {
  await sink.setLatency(shape.latencyMs)
  const first = nextNumber
  const requests = requestsOf(events, shape)
  const count = requests.length * shape.eventsPerCall
  const sentAt: number[] = []
  const before = await costsOf(contender)
  const acceptMs = await openLoop(createCallers(contender.port), perSecond / shape.eventsPerCall, (index, atMs) => {
    sentAt.push(atMs)
    return requests[index]
  })
  const { arrivals } = await untilArrived(contender, sink, count)
  const callOf = (number: number) => Math.floor((number - first) / shape.eventsPerCall)
  return {
    triggerMs: arrivals.map(([number, atMs]) => atMs - (sentAt[callOf(number)] ?? Number.NaN)),
    acceptMs,
    ...costsBetween(before, await costsOf(contender), count),
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
): Promise<{ p50: number; p99: number }> {
  await expectFullPage(contender, page)
  const load = { port: contender.port, clients, requests: count }
  const { latenciesMs } = await runLoad({ ...load, requestOf: (index) => getText(pathOf(page, index)) })
  return { p50: median(latenciesMs), p99: percentile(latenciesMs, 0.99) }
}

/** Pages at a fixed rate while other work runs: a side that answers sooner is not asked more often for it. */
export async function pagesWhile<Result>(
  contender: Contender,
  perSecond: Readonly<Record<PageName, number>>,
  work: () => Promise<Result>,
): Promise<{ result: Result; feedMs: number[]; activityMs: number[] }> {
  let isOver = false
  const reading = (page: PageName): Promise<number[]> =>
    openLoop(createCallers(contender.port, { repeats: true }), perSecond[page], (index) =>
      isOver ? undefined : getText(pathOf(page, index)),
    )
  const working = work().finally(() => {
    isOver = true
  })
  const [result, feedMs, activityMs] = await Promise.all([working, reading('feed'), reading('activity')])
  return { result, feedMs, activityMs }
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
