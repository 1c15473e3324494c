// The two Liquid engines: one whose output goes into HTML, one for plain text. Neither reaches files, clocks or prototypes.
import type { Context, Emitter, Operators, Template } from 'liquidjs'
import { CaptureTag, CaseTag, defaultOperators, evalToken, Liquid, Tag, toValue } from 'liquidjs'
import type { FilterHandler, FilterThis } from './filters.ts'
import { budgetOf, htmlFilters, ourFilters } from './filters.ts'
import type { Budget } from './limits.ts'
import { escapeHtml, paid, print, SafeText, weightOf } from './values.ts'

export type Mode = 'html' | 'plain'

/** Holds a range's ends where counting up still moves: beyond 2⁵³ adding one changes nothing and a range never ends. */
export const rangeEndFilter = 'range_end'

/** Text that comes out, counted as it grows. */
export class CountedEmitter implements Emitter {
  buffer = ''
  readonly #budget: Budget

  constructor(budget: Budget) {
    this.#budget = budget
  }

  write(value: unknown): void {
    const text = typeof value === 'string' ? value : print(value, this.#budget)
    this.#budget.write(text.length)
    this.buffer += text
  }
}

const budgetIn = (context: Context): Budget => context.memoryLimit as unknown as Budget

/** What was captured is escaped already where output is; printing it again must not escape it twice. */
class SafeCapture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new CountedEmitter(budgetIn(context))
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    const bottom = context.bottom() as Record<string, unknown>
    bottom[this.variable] = new SafeText(emitter.buffer)
  }
}

interface CaseBranch {
  readonly values: Parameters<typeof evalToken>[0][]
  readonly templates: Template[]
}

/** As LiquidJS' own, with every comparison counted. */
class CountedCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { renderer } = this.liquid
    const target = toValue(yield this.value.value(context, false))
    let hit = false
    for (const branch of this.branches as CaseBranch[]) {
      for (const token of branch.values) {
        const value = yield evalToken(token, context)
        if (yield operators['==']?.(target, value, context)) {
          yield renderer.renderTemplates(branch.templates, context, emitter)
          hit = true
          break
        }
      }
    }
    if (!hit) yield renderer.renderTemplates(this.elseTemplates, context, emitter)
  }
}

function absentTag(name: string) {
  return class extends Tag {
    constructor(...args: ConstructorParameters<typeof Tag>) {
      super(...args)
      throw new Error(`the tag "${name}" is not available: a template cannot bring in others`)
    }

    render(): void {}
  }
}

/** LiquidJS compares members by generators: 0.5 µs each. */
const comparisonWeight = 10

type Operator = (left: unknown, right: unknown, context: Context) => unknown

/** Every comparison is a step, and pays for what it looks through. */
const operators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => {
    if (name === 'not') {
      return [name, (value: unknown, context: Context) => (operator as Operator)(value, context, context)]
    }
    const counted = (left: unknown, right: unknown, context: Context) => {
      const budget = budgetIn(context)
      budget.check()
      const whole: unknown = toValue(left)
      const part: unknown = toValue(right)
      if (name === 'contains' && typeof whole === 'string' && typeof part === 'string') budget.search(whole, part)
      else if (Array.isArray(whole)) budget.use(comparisonWeight * weightOf(whole))
      return (operator as Operator)(left, right, context)
    }
    return [name, counted]
  }),
) as Operators

/** They read their argument as a template of its own, past every check. */
const absentFilters = ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp']
const absentTags = ['include', 'render', 'layout', 'block']
/** The second argument is looked for in the first. */
const searchingFilters = new Set([
  'split',
  'remove',
  'remove_first',
  'remove_last',
  'replace',
  'replace_first',
  'replace_last',
])

function counted(name: string, handler: FilterHandler): FilterHandler {
  return function (value, ...args) {
    const budget = budgetOf(this)
    budget.check()
    if (searchingFilters.has(name)) budget.search(print(value, budget), print(args[0], budget))
    return paid(handler.call(this, value, ...args), budget)
  }
}

const rangeEnd: FilterHandler = (value) => {
  const end = Number(toValue(value))
  if (Number.isNaN(end)) return 0
  if (!Number.isSafeInteger(Math.trunc(end))) throw new Error('a range ends beyond what can be counted')
  return Math.trunc(end)
}

function createEngine(mode: Mode): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictVariables: false,
    // Unknown filters are found by our own walk over what was parsed, which also sees those that are made later.
    strictFilters: false,
    relativeReference: false,
    templates: {},
    operators,
    outputEscape: (mode === 'html' ? printHtml : printPlain) as (value: unknown) => string,
  })
  for (const name of absentFilters) engine.unregisterFilter(name)
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (typeof filter === 'function') engine.registerFilter(name, counted(name, filter as FilterHandler))
  }
  const own = mode === 'html' ? { ...ourFilters, ...htmlFilters } : ourFilters
  for (const [name, filter] of Object.entries(own)) engine.registerFilter(name, counted(name, filter))
  engine.registerFilter(rangeEndFilter, rangeEnd)
  for (const name of absentTags) engine.registerTag(name, absentTag(name))
  engine.registerTag('capture', SafeCapture)
  engine.registerTag('case', CountedCase)
  return engine
}

function printHtml(this: FilterThis, value: unknown): string {
  if (value instanceof SafeText) return value.text
  return escapeHtml(print(value, budgetOf(this)))
}

function printPlain(this: FilterThis, value: unknown): string {
  return print(value, budgetOf(this))
}

export const engines: Readonly<Record<Mode, Liquid>> = { html: createEngine('html'), plain: createEngine('plain') }
