// The set of contexts that a call names by their keys.
import { Type } from 'typebox'
import { invalidField } from '../../domain/problem.ts'

const contextKeysMax = 20

/** A list of keys, in a query or a body. */
export const contextKeyList = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 512, pattern: '^\\P{Cc}*$' }), { maxItems: contextKeysMax, description }),
  )

/** Sorted, as they are stored; empty elements are ignored. */
export function readContextKeys(given: readonly string[] | undefined): string[] | undefined {
  return given && [...new Set(given.filter((key) => key !== '').map(contextKey))].sort()
}

function contextKey(key: string): string {
  if (!/^[^:]+:./u.test(key)) {
    throw invalidField('contextKeys', 'contextKeys must each be a type and an id separated by a colon: `type:id`', key)
  }
  return key
}
