// Regular expressions in an engine whose time grows with the text alone: patterns are a customer's, texts are anybody's.
import { createRequire } from 'node:module'
import type { RE2JS as Engine } from 're2js'

/** Loaded with the first pattern: most installations have none. */
const load = createRequire(import.meta.url)
let engine: typeof Engine | undefined

/** Undefined where it needs what no such engine has: looking ahead or behind, or repeating what a group matched. */
export function linearPattern(pattern: string): { test(text: string): boolean } | undefined {
  engine ??= (load('re2js') as { RE2JS: typeof Engine }).RE2JS
  try {
    const compiled = engine.compile(engine.translateRegExp(pattern))
    return { test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}
