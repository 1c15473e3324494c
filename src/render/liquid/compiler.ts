// What the parts of a compiled template are given, and what they become.
import type { Template as Parsed } from 'liquidjs'
import type { Mode } from '../engine.ts'
import type { TextPlan } from '../text/text-plan.ts'
import type { Filters } from './expressions.ts'
import type { Run } from './run.ts'

/** Writes its output. */
export type Program = (run: Run) => void

/** What compiling needs besides the parsed template. */
export interface Compiler {
  readonly mode: Mode
  readonly filters: Filters
  /** Where the text part is written beside the HTML. */
  readonly plan: TextPlan | undefined
  readonly block: (templates: readonly Parsed[]) => Program
  /** Output that is not written in place. */
  readonly blockApart: (templates: readonly Parsed[]) => Program
}
