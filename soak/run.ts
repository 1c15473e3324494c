// One scene from its first process to its verdict.
import { join } from 'node:path'
import { Ledger, readLedger } from './ledger.ts'
import { Load } from './load.ts'
import { mixtureOf } from './mixture.ts'
import type { SoakOptions } from './options.ts'
import { planCalls } from './plan.ts'
import type { SceneResult } from './results.ts'
import type { Scene } from './scene.ts'
import { setUpService } from './setup.ts'
import { Stage } from './stage.ts'
import { isClean } from './verdict.ts'
import { settle, verify } from './verify.ts'

const defaultKills = 16
const defaultEvents = 2_000
const defaultSettleMs = 180_000
/** When the faults are over, every call is answered soon. */
const lastCallsMs = 120_000
const fetchEveryMs = 200
const progressEveryMs = 60_000

export async function runScene(scene: Scene, options: SoakOptions): Promise<SceneResult> {
  const startedAt = new Date()
  const bound = {
    kills: options.kills ?? scene.kills ?? defaultKills,
    events: options.events ?? scene.events ?? defaultEvents,
  }
  const about = {
    ...{ scene: scene.name, what: scene.what, seed: options.seed, startedAt: startedAt.toISOString() },
    intervalSeconds: [options.intervalMs[0] / 1000, options.intervalMs[1] / 1000] as const,
  }
  const skipped = scene.unavailable?.()
  if (skipped !== undefined) return { ...about, seconds: 0, build: '', nodes: 0, kills: 0, skipped }
  const stage = await Stage.open(options, bound.kills)
  if (options.keep) process.stdout.write(`  kept in ${stage.directory}\n`)
  const closing = onSignal(() => stage.close())
  const outcome = { ...about, build: stage.installation.build }
  try {
    const result = await play(scene, stage, bound.events)
    return { ...outcome, seconds: secondsSince(startedAt), nodes: stage.nodes.length, ...result }
  } catch (error) {
    stage.keeps = true
    process.stdout.write(`  broke off; what there was is kept in ${stage.directory}\n`)
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const counts = { seconds: secondsSince(startedAt), nodes: stage.nodes.length, kills: stage.pace.count }
    return { ...outcome, ...counts, error: words, remarks: [...stage.remarks, ...(await stage.lastWords())] }
  } finally {
    closing.off()
    await stage.close()
  }
}

const secondsSince = (start: Date): number => Math.round((Date.now() - start.getTime()) / 1000)

type Played = Omit<
  SceneResult,
  'scene' | 'what' | 'seed' | 'startedAt' | 'seconds' | 'build' | 'intervalSeconds' | 'nodes'
>

async function play(scene: Scene, stage: Stage, events: number): Promise<Played> {
  await scene.prepare(stage)
  await setUpService(stage.baseUrls[0] ?? '', stage.providers)
  const ledger = await Ledger.open(join(stage.directory, 'ledger.jsonl'))
  const { seed } = stage.options
  const calls = planCalls(seed, events)
  const load = new Load({
    ...{ seed, calls, ledger, baseUrls: stage.baseUrls },
    onAcknowledged: (list, acknowledgedAt) => stage.recovery.acknowledged(list, acknowledgedAt),
  })
  const ticks = [
    setInterval(() => load.release(stage.pace.share()), 20),
    setInterval(() => tellProgress(stage, load.counts.acknowledged), progressEveryMs),
    setInterval(async () => stage.recovery.received(await stage.sinks.fetch().catch(() => [])), fetchEveryMs),
  ]
  try {
    const loading = load.run()
    await Promise.race([scene.faults(stage), onlyRejected(loading)])
    load.release(1)
    const late = setTimeout(() => load.stop(), lastCallsMs)
    await loading
    clearTimeout(late)
    const settledMs = await settle(stage, stage.options.settleMs ?? scene.settleMs ?? defaultSettleMs)
    stage.recovery.received(await stage.sinks.fetch())
    const { verdict } = await verify(stage, await readLedger(ledger.path))
    if (verdict.events < events) stage.remarks.push(`${events - verdict.events} events were never acknowledged`)
    if (scene.nodesStayUp && verdict.mailsTwiceMarked > 0) {
      stage.remarks.push(`${verdict.mailsTwiceMarked} e-mails came twice (marked) though no node was killed`)
    }
    stage.remarks.push(...(await stage.internalErrors()))
    if (!isClean(verdict)) {
      stage.remarks.push('not clean: see the examples of the verdict', ...(await stage.lastWords()))
    }
    return {
      ...{ kills: stage.pace.count, mixture: mixtureOf(calls), load: load.counts },
      ...{ verdict, recovery: stage.recovery.times() },
      ...(settledMs === undefined ? {} : { settledMs }),
      ...{
        startMs: stage.startMs,
        failedStarts: stage.failedStarts,
        endedAlone: stage.endedAlone,
        remarks: stage.remarks,
      },
    }
  } finally {
    load.stop()
    for (const tick of ticks) clearInterval(tick)
    await ledger.close()
  }
}

function tellProgress({ pace }: Stage, acknowledged: number): void {
  process.stdout.write(`  ${pace.count} faults, ${acknowledged} events acknowledged\n`)
}

/** Fails with it, and never resolves. */
const onlyRejected = (work: Promise<unknown>): Promise<never> => work.then(() => new Promise<never>(() => {}))

function onSignal(close: () => Promise<void>): { off(): void } {
  const end = () => void close().finally(() => process.exit(130))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  return {
    off: () => {
      process.off('SIGINT', end)
      process.off('SIGTERM', end)
    },
  }
}
