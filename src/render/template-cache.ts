// Compiled templates by key: the ones used last, bounded by their number and by the text they were made of.
import type { StepTemplate } from '../domain/workflows/workflow.ts'

/** Steps in use at a time; a busy environment has some hundred. */
const cachedMax = 5_000
/** A compiled template takes some seventy times its text, so this is at most about a hundred megabytes. */
const cachedLengthMax = 1_500_000

export class TemplateCache<Compiled extends { readonly sourceLength: number }, Source = StepTemplate> {
  readonly #compile: (source: Source) => Compiled
  readonly #kept = new Map<string, Compiled>()
  readonly #limits: { readonly count: number; readonly length: number }
  #length = 0
  /** The key of the last in the map. */
  #newest: string | undefined

  constructor(
    compile: (source: Source) => Compiled,
    limits: { count: number; length: number } = { count: cachedMax, length: cachedLengthMax },
  ) {
    this.#compile = compile
    this.#limits = limits
  }

  get count(): number {
    return this.#kept.size
  }

  /** The key names the template for good: a template that changed has another. */
  of(key: string, source: Source): Compiled {
    const known = this.#kept.get(key)
    if (known !== undefined) {
      // Last in the map is the most recently used; a batch mostly uses one.
      if (key !== this.#newest) {
        this.#kept.delete(key)
        this.#kept.set(key, known)
        this.#newest = key
      }
      return known
    }
    const compiled = this.#compile(source)
    this.#kept.set(key, compiled)
    this.#newest = key
    this.#length += compiled.sourceLength
    for (const [oldest, { sourceLength }] of this.#kept) {
      const fits = this.#kept.size <= this.#limits.count && this.#length <= this.#limits.length
      if (fits || oldest === key) break
      this.#kept.delete(oldest)
      this.#length -= sourceLength
    }
    return compiled
  }
}
