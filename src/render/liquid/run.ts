// One rendering of a compiled template: its variables, its output so far, and its remaining budget.
import { Drop } from 'liquidjs'
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import type { Budget } from '../limits.ts'
import type { TextRun } from '../text/text-run.ts'
import { print } from '../values.ts'

type Scope = Record<string, unknown>

/** Options of LiquidJS that its own filters ask for. */
const filterOptions = { jsTruthy: false, ownPropertyOnly: true, strictVariables: false } as const

/** Replaces LiquidJS' Context for filters. */
export class Run {
  out = ''
  /** Set by break and continue; every block stops where one is set, and the loop around it resets them. */
  isBroken = false
  isContinued = false
  environments: TemplateScope
  /** The first holds what the template assigns, the others what the loops around it define. */
  readonly scopes: Scope[] = [Object.create(null) as Scope]
  readonly memoryLimit: Budget
  readonly opts = filterOptions
  readonly ownPropertyOnly = true
  /** Texts of translations that are being filled in, one within the other. */
  translating = 0
  /** What filters are called on. */
  readonly self: { readonly context: Run } = { context: this }
  /** The text part that is written beside, where the template has a plan for it. */
  readonly text: TextRun | undefined
  #ownsEnvironment = false
  #continuations: Map<string, unknown> | undefined
  #cycles: Map<string, Map<string, number>> | undefined

  constructor(scope: TemplateScope, budget: Budget, text?: TextRun) {
    this.environments = scope
    this.memoryLimit = budget
    this.text = text
  }

  write(text: string): void {
    this.memoryLimit.write(text.length)
    this.out += text
  }

  /** What an action writes, instead of writing it. */
  captured(action: (run: Run) => void): string {
    const before = this.out
    this.out = ''
    try {
      action(this)
      return this.out
    } finally {
      this.out = before
    }
  }

  /** Where a variable of this name is. */
  scopeOf(name: string): Scope {
    for (let index = this.scopes.length - 1; index >= 0; index -= 1) {
      const scope = this.scopes[index] as Scope
      if (name in scope) return scope
    }
    return this.environments
  }

  assign(name: string, value: unknown): void {
    const [bottom] = this.scopes
    if (bottom !== undefined) bottom[name] = value
  }

  /** `increment` and `decrement` write beside the variables they were given; the caller's stay as they are. */
  count(name: string, step: 1 | -1): number {
    if (!this.#ownsEnvironment) {
      this.environments = Object.assign(Object.create(null), this.environments)
      this.#ownsEnvironment = true
    }
    const counters = this.environments as Scope
    const before = typeof counters[name] === 'number' ? counters[name] : 0
    counters[name] = before + step
    return step === 1 ? before : before + step
  }

  /** Where a loop with `offset: continue` continues. */
  get continuations(): Map<string, unknown> {
    this.#continuations ??= new Map()
    return this.#continuations
  }

  /** By group: the position in the cycle of these values. */
  cyclesOf(values: string): Map<string, number> {
    this.#cycles ??= new Map()
    const known = this.#cycles.get(values) ?? new Map<string, number>()
    this.#cycles.set(values, known)
    return known
  }

  print(value: unknown): string {
    return print(value, this.memoryLimit)
  }
}

export function emptyScope(): Scope {
  return Object.create(null) as Scope
}

const nameLengthMax = 255

/** What a template sees as `forloop`: fields and methods as LiquidJS has them, which prints them as JSON. */
export class ForLoop extends Drop {
  i = 0
  readonly length: number
  readonly name: string

  constructor(length: number, name: string) {
    super()
    this.length = length
    // Printing or comparing the loop converts it to text.
    this.name = name.slice(0, nameLengthMax)
  }

  next(): void {
    this.i += 1
  }

  index0(): number {
    return this.i
  }

  index(): number {
    return this.i + 1
  }

  first(): boolean {
    return this.i === 0
  }

  last(): boolean {
    return this.i === this.length - 1
  }

  rindex(): number {
    return this.length - this.i
  }

  rindex0(): number {
    return this.length - this.i - 1
  }

  override valueOf(): string {
    return JSON.stringify(this)
  }
}

/** What a template sees as `tablerowloop`. */
export class TableRowLoop extends ForLoop {
  readonly cols: number

  constructor(length: number, cols: number, name: string) {
    super(length, name)
    this.cols = cols
  }

  row(): number {
    return Math.floor(this.i / this.cols) + 1
  }

  col0(): number {
    return this.i % this.cols
  }

  col(): number {
    return this.col0() + 1
  }

  col_first(): boolean {
    return this.col0() === 0
  }

  col_last(): boolean {
    return this.col() === this.cols
  }
}
