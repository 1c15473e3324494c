// Whether the documents made from code are what the code would write now.
import type { Sources } from './sources.ts'

export interface Generated {
  readonly path: string
  readonly text: string
}

/** The documents that are missing or say something else, each with what to do. */
export function staleDocuments(generated: readonly Generated[], found: Sources): string[] {
  return generated.flatMap(({ path, text }) => {
    const now = found.get(path)
    if (now === text) return []
    return [`${path} is ${now === undefined ? 'missing' : 'stale'}: run npm run docs`]
  })
}
