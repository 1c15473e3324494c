// Results: one file per run; a report adds up those of a build by scene.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from './install.ts'
import type { LoadCounts } from './load.ts'
import type { RecoveryTimes } from './recovery.ts'
import type { Verdict } from './verdict.ts'

export interface SceneResult {
  readonly scene: string
  readonly what: string
  readonly seed: string
  readonly startedAt: string
  readonly seconds: number
  readonly build: string
  readonly intervalSeconds: readonly [number, number]
  readonly nodes: number
  /** Set where the scene could not run; nothing else says anything then. */
  readonly skipped?: string
  /** Set where the scene broke off: a failure as well. */
  readonly error?: string
  readonly kills: number
  /** How much of everything was planned. */
  readonly mixture?: Readonly<Record<string, number>>
  readonly load?: LoadCounts
  readonly verdict?: Verdict
  readonly recovery?: RecoveryTimes
  /** From the last fault until nothing was unfinished; absent when something stayed so. */
  readonly settledMs?: number
  readonly startMs?: readonly number[]
  readonly failedStarts?: number
  readonly endedAlone?: number
  readonly remarks?: readonly string[]
}

export interface Run {
  readonly startedAt: string
  readonly seed: string
  readonly build: string
  readonly commit: string
  readonly machine: string
  readonly versions: Readonly<Record<string, string>>
  readonly results: readonly SceneResult[]
}

export function describeRun(seed: string, build: string, results: readonly SceneResult[]): Run {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    startedAt: results[0]?.startedAt ?? new Date().toISOString(),
    seed,
    build,
    commit: firstLineOf('git', ['rev-parse', '--short=12', 'HEAD']),
    machine: `${cpus().length} cores (${cpu?.model.trim()}), ${memory} GB, ${process.platform}-${process.arch}`,
    versions: { node: process.versions.node },
    results,
  }
}

function firstLineOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      cwd: projectRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}

export async function writeRun(folder: string, run: Run): Promise<void> {
  await mkdir(folder, { recursive: true })
  const text = `${JSON.stringify(run, undefined, 2)}\n`
  const name = `${run.startedAt.replaceAll(/[:.]/g, '-')}-${run.seed}.json`
  await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'latest.json'), text)
}

/** All runs, oldest first. */
export async function readRuns(folder: string): Promise<Run[]> {
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => name.endsWith('.json') && name !== 'latest.json').sort()
  return Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Run))
}
