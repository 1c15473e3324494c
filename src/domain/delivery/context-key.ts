// The keys by which calls name contexts, `type:id`: those of a query or a body, as events hold them.
import { invalidField } from '../problem.ts'

/** Each once, sorted; empty elements are ignored. Throws the 422 for one that is none: it would match nothing, in silence. */
export function contextKeysOf(given: readonly string[]): string[] {
  return [...new Set(given.filter((key) => key !== '').map(contextKey))].sort()
}

function contextKey(key: string): string {
  if (!/^[^:]+:./u.test(key)) {
    throw invalidField('contextKeys', 'contextKeys must each be a type and an id separated by a colon: `type:id`', key)
  }
  return key
}
