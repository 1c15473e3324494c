// The stages of an import from Novu: what each is given, and what it leaves behind.
import type { Terminal } from '../command.ts'
import type { NovuSource } from './novu-source.ts'
import type { Checkpoint } from './progress.ts'
import type { Report } from './report.ts'
import type { Target } from './target.ts'

export const stages = [
  'integrations',
  'layouts',
  'workflows',
  'translations',
  'subscribers',
  'topics',
  'preferences',
] as const
export type Stage = (typeof stages)[number]

export type Counts = Readonly<Record<string, number>>

export interface NovuState {
  readonly done: readonly Stage[]
  /** Where the subscribers, or their preferences, are to go on. */
  readonly cursor?: string
  readonly counts: Counts
  /** How many of them are different now. */
  readonly changed: Counts
}

export interface NovuImport {
  readonly terminal: Terminal
  readonly source: NovuSource
  readonly target: Target
  readonly report: Report
  readonly checkpoint: Checkpoint<NovuState>
  readonly leavesOut: ReadonlySet<Stage>
}

export type StageResult = Pick<NovuState, 'counts' | 'changed'>
export type StageStep = (run: NovuImport, state: NovuState) => Promise<StageResult>
