// The patterns of one schema: those at positions where the validator reads one, and no others.
import type { LinearPattern } from './linear-pattern.ts'
import { linearPattern, patternSizeMax } from './linear-pattern.ts'

/** What all patterns of a schema become, in instructions. */
const patternsSizeMax = 20_000

interface FoundPattern {
  readonly pattern: string
  linear: LinearPattern | undefined
}

export class SchemaPatterns {
  /** What the linear engine cannot read is matched as ever, within the time of a check. */
  readonly slow = new Set<string>()
  readonly #found: FoundPattern[] = []

  /** As the validator asks for one. Until `compile` is over none may be used. */
  readonly regExp = Object.assign((pattern: string, flags: string) => this.#patternOf(pattern, flags), {
    code: 'pattern',
  })

  #patternOf(pattern: string, flags: string): RegExp {
    // Invalid patterns are reported as such.
    const plain = new RegExp(pattern, flags)
    const matchesPlain = plain.test.bind(plain)
    const found: FoundPattern = { pattern, linear: undefined }
    this.#found.push(found)
    const test = (text: string): boolean => (found.linear === undefined ? matchesPlain(text) : found.linear.test(text))
    return Object.assign(plain, { test })
  }

  /** One after the other: each takes some milliseconds at the most. */
  *compile(): Generator<undefined> {
    let sizeLeft = patternsSizeMax
    for (const found of this.#found) {
      const sizeMax = Math.min(patternSizeMax, sizeLeft)
      found.linear = linearPattern(found.pattern, sizeMax)
      sizeLeft -= found.linear?.size ?? 0
      if (found.linear === undefined) {
        this.slow.add(found.pattern)
        // One did not fit: how large others are is not found out either, which takes as long as to compile them.
        if (sizeMax < patternSizeMax) break
      }
      yield
    }
    for (const { pattern, linear } of this.#found) if (linear === undefined) this.slow.add(pattern)
  }
}
