// Regular expressions in an engine whose time is linear in the text: patterns come from customers, texts from anyone.
import { createRequire } from 'node:module'
import type { RE2JS as Engine } from 're2js'
import { translated } from './pattern-translation.ts'

/** A thousand characters that are each spelled out: the cost of compiling and matching grows with it. */
export const patternSizeMax = 2_000

/** Loaded with the first pattern: most installations have none. */
const load = createRequire(import.meta.url)
let engine: typeof Engine | undefined

/** To be called where nothing can interrupt it. */
export function loadLinearEngine(): void {
  engine ??= (load('re2js') as { RE2JS: typeof Engine }).RE2JS
}

export interface LinearPattern {
  readonly size: number
  test(text: string): boolean
}

/**
 * Undefined if it needs what no such engine has: lookahead, lookbehind, or backreferences. Or if it becomes larger than
 * `sizeMax`.
 */
export function linearPattern(pattern: string, sizeMax = patternSizeMax): LinearPattern | undefined {
  loadLinearEngine()
  const translation = translated(pattern, sizeMax)
  if (translation === undefined) return undefined
  const compile = () => engine?.compile(translation.text)
  try {
    let compiled = compile()
    let isMatching = false
    return {
      size: translation.size,
      test(text) {
        // A match that was ended halfway may have left anything behind.
        if (isMatching) compiled = compile()
        isMatching = true
        const isMatch = compiled?.test(text) === true
        isMatching = false
        return isMatch
      },
    }
  } catch {
    return undefined
  }
}
