// Results of several runs added up by scene, so that a long run can be made in pieces.
import type { Verdict } from './judge.ts'
import type { RecoveryTimes } from './recovery.ts'
import type { Run, SceneResult } from './results.ts'

export interface MergedScene {
  readonly scene: string
  readonly what: string
  readonly runs: number
  readonly seeds: readonly string[]
  /** Runs that broke off before their verdict. */
  readonly errors: readonly string[]
  /** Set where the scene never ran. */
  readonly skipped?: string
  readonly nodes: readonly number[]
  readonly kills: number
  readonly sums: Readonly<Record<Counted, number>>
  readonly recovery: RecoveryTimes
  readonly startMs: readonly number[]
  readonly settledMs: readonly number[]
}

export type Counted = Exclude<keyof Verdict, 'examples'>

export function mergeRuns(runs: readonly Run[], order: readonly string[]): MergedScene[] {
  const results = runs.flatMap((run) => run.results)
  const names = [...new Set([...order, ...results.map(({ scene }) => scene)])]
  return names.flatMap((name) => {
    const own = results.filter(({ scene }) => scene === name)
    return own.length === 0 ? [] : [mergeScene(own)]
  })
}

function mergeScene(all: readonly SceneResult[]): MergedScene {
  const played = all.filter(({ skipped }) => skipped === undefined)
  const last = all.at(-1) as SceneResult
  return {
    scene: last.scene,
    what: last.what,
    runs: played.length,
    seeds: [...new Set(played.map(({ seed }) => seed))],
    errors: played.flatMap(({ error }) => (error === undefined ? [] : [error.split('\n')[0] ?? ''])),
    ...(played.length === 0 && last.skipped !== undefined ? { skipped: last.skipped } : {}),
    nodes: [...new Set(played.map(({ nodes }) => nodes))],
    kills: played.reduce((sum, { kills }) => sum + kills, 0),
    sums: sumsOf(played),
    recovery: recoveryOf(played),
    startMs: played.flatMap(({ startMs }) => startMs ?? []),
    settledMs: played.flatMap(({ settledMs }) => (settledMs === undefined ? [] : [settledMs])),
  }
}

function sumsOf(results: readonly SceneResult[]): Record<Counted, number> {
  const sums: Partial<Record<Counted, number>> = {}
  for (const { verdict } of results) {
    if (verdict === undefined) continue
    const { examples: _examples, ...counts } = verdict
    for (const [name, count] of Object.entries(counts)) sums[name as Counted] = (sums[name as Counted] ?? 0) + count
  }
  return sums as Record<Counted, number>
}

function recoveryOf(results: readonly SceneResult[]): RecoveryTimes {
  const all = results.flatMap(({ recovery }) => (recovery === undefined ? [] : [recovery]))
  return {
    lives: all.reduce((sum, { lives }) => sum + lives, 0),
    firstMs: all.flatMap(({ firstMs }) => firstMs),
    neverResumed: all.reduce((sum, { neverResumed }) => sum + neverResumed, 0),
    lastMs: all.flatMap(({ lastMs }) => lastMs),
    neverFinished: all.reduce((sum, { neverFinished }) => sum + neverFinished, 0),
  }
}
