// Results of several runs added up by scene, so that a long run can be made in pieces.
import type { RecoveryTimes } from './recovery.ts'
import type { Run, SceneResult } from './results.ts'
import type { Counted } from './verdict.ts'
import { emptyCounts } from './verdict.ts'

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

/** Results of older builds lack what was not counted then. */
function sumsOf(results: readonly SceneResult[]): Record<Counted, number> {
  const sums = emptyCounts()
  for (const { verdict } of results) {
    if (verdict === undefined) continue
    for (const name of Object.keys(sums) as Counted[]) sums[name] += verdict[name] ?? 0
  }
  return sums
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
