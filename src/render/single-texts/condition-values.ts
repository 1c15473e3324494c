// The values of conditions, which are templates. All that are rendered for a job share one small budget, whether the conditions are
// of its step, of a variant or of an integration: they are rendered on the main thread.
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import { Budget, conditionsShare, parsedPerStep, shortValueShare, stepsMax } from '../limits.ts'
import { TemplateCache } from '../template-cache.ts'
import { compileValue } from './value.ts'

interface JobValues {
  /** What is left for values that were not rendered yet, of what a message may cost. */
  left: number
  /** These may be rendered again for free: as often as the job is decided, which is seldom. */
  readonly paid: Set<string>
  /** These failed, and would again. */
  readonly failed: Map<string, unknown>
}

/** Compiled values are kept by their text. They are short: this is about ten megabytes. */
const keptMax = { count: 5_000, length: 150_000 }

/** The budget is kept with the scope, of which each job has its own. */
export function createConditionValues(now: () => Date): (scope: TemplateScope) => (text: string) => string {
  const templates = new TemplateCache((text: string) => compileValue(text), keptMax)
  const jobs = new WeakMap<TemplateScope, JobValues>()
  // Of the last job: its conditions are evaluated several times in a row. Of all jobs it would be too much.
  let last: { readonly scope: TemplateScope; readonly rendered: Map<string, string> } | undefined

  function render(text: string, scope: TemplateScope, job: JobValues): string {
    const isPaid = job.paid.has(text)
    if (job.failed.has(text)) throw job.failed.get(text)
    // A short one always has enough: it may be a condition of another integration, which has nothing to do with the costly ones.
    const budget = new Budget(now, isPaid ? conditionsShare : Math.max(job.left, shortValueShare))
    try {
      // Whether or not it is cached: the same conditions always end the same way.
      budget.steps(text.length / parsedPerStep)
      const value = templates.of(text, text).render(scope, budget)
      job.paid.add(text)
      return value
    } catch (error) {
      const failure = budget.isTooSmall ? new RenderError('value', tooCostly) : error
      job.failed.set(text, failure)
      throw failure
    } finally {
      if (!isPaid) job.left -= budget.usedShare
    }
  }

  return (scope) => (text) => {
    if (!text.includes('{')) return text
    if (last?.scope !== scope) last = { scope, rendered: new Map() }
    const known = last.rendered.get(text)
    if (known !== undefined) return known
    const job = jobs.get(scope) ?? { left: conditionsShare, paid: new Set(), failed: new Map() }
    jobs.set(scope, job)
    const value = render(text, scope, job)
    last.rendered.set(text, value)
    return value
  }
}

const tooCostly =
  `takes too long: the values of all conditions of a step and of its integrations ` +
  `may take ${stepsMax * conditionsShare} steps together`
