// From the trigger call to the provider, 200 events a second in an open loop, against a bare server: HTTP, insert, call.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  askAt,
  createMailIntegration,
  createSubscribers,
  createWorkflow,
  emailStep,
  eventOf,
  requestText,
} from './api.ts'
import { createCallers } from './load.ts'
import { postmasterOf } from './real/contenders.ts'
import { processorSecondsOf } from './real/processes.ts'
import type { Sink } from './sink.ts'
import { clockMs, startSink } from './sink.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { median, percentile } from './statistics.ts'
import { until } from './waiting.ts'

const perSecond = 200
const rounds = 5
const secondsPerRound = scaled(4)
const subscribers = scaled(10_000)
const ratioBar = 5

export async function benchLatency(): Promise<Measured[]> {
  return withStage(async (stage) => {
    const sink = await startSink(stage)
    const service = await stage.startService({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
    const bare = await stage.startProgram('bench/baseline/bare-mail-server.ts', {
      BENCH_CONNECTION: await stage.otherDatabase('bench_bare'),
      BENCH_SINK_URL: `http://127.0.0.1:${sink.port}/mail`,
    })
    const ask = askAt(service.port)
    await createMailIntegration(ask, sink.port)
    await createWorkflow(ask, 'bench', [emailStep])
    await createSubscribers(ask, subscribers)
    const postmaster = await postmasterOf(stage.open())
    const ours: Side = { latencyMs: [], processorMs: [] }
    const theirs: Side = { latencyMs: [], processorMs: [] }
    for (let round = 0; round <= rounds; round += 1) {
      const sides = [
        [theirs, bare],
        [ours, service],
      ] as const
      for (const [side, { port, pid }] of sides) {
        const before = await processorSecondsOf([pid, postmaster])
        const latencyMs = await oneRound(port, sink)
        const spentMs = ((await processorSecondsOf([pid, postmaster])) - before) * 1000
        // The first round warms up the compilers and the plans.
        if (round === 0) continue
        side.latencyMs.push(...latencyMs)
        side.processorMs.push(spentMs / latencyMs.length)
      }
    }
    const ratio = median(ours.latencyMs) / median(theirs.latencyMs)
    const shown = ({ latencyMs }: Side, share: number) => `${percentile(latencyMs, share).toFixed(1)} ms`
    const cost = ({ processorMs }: Side) => `${median(processorMs).toFixed(2)} ms`
    return [
      { what: 'bare server, median', value: shown(theirs, 0.5) },
      { what: 'bare server, p99', value: shown(theirs, 0.99) },
      { what: `Posthorn, median of ${ours.latencyMs.length} at ${perSecond}/s`, value: shown(ours, 0.5) },
      { what: 'Posthorn, p99', value: shown(ours, 0.99) },
      { what: 'Posthorn, longest', value: shown(ours, 1) },
      { what: 'CPU per event, PostgreSQL included: bare', value: cost(theirs) },
      { what: 'CPU per event, PostgreSQL included: Posthorn', value: cost(ours) },
      { what: 'ratio of the medians', value: ratio.toFixed(2), bar: `≤ ${ratioBar}`, met: ratio <= ratioBar },
    ]
  })
}

interface Side {
  readonly latencyMs: number[]
  /** Per event, one for each round. */
  readonly processorMs: number[]
}

/** Calls go out when their time has come, whether or not earlier ones were answered. */
async function oneRound(port: number, sink: Sink): Promise<number[]> {
  const count = perSecond * secondsPerRound
  const callers = createCallers(port)
  const sentAt: number[] = []
  const answers: Promise<unknown>[] = []
  const startedAt = clockMs()
  while (sentAt.length < count) {
    const due = Math.min(count, Math.floor(((clockMs() - startedAt) * perSecond) / 1000) + 1)
    while (sentAt.length < due) {
      const index = sentAt.length
      const request = requestText('/v1/events/trigger', eventOf('bench', index, subscribers))
      const call = callers.call(request)
      sentAt.push(clockMs())
      answers.push(call)
    }
    await sleep(1)
  }
  await Promise.all(answers)
  const arrivals: [number, number][] = []
  await until(async () => {
    arrivals.push(...(await sink.take()))
    return arrivals.length >= count
  })
  callers.close()
  return arrivals.map(([number, atMs]) => atMs - (sentAt[number] ?? Number.NaN))
}
