// The set of contexts that a call names by their keys.
import { Type } from 'typebox'
import { contextKeysOf } from '../../domain/delivery/context-key.ts'

const contextKeysMax = 20

/** A list of keys, in a query or a body. */
export const contextKeyList = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 512, pattern: '^\\P{Cc}*$' }), { maxItems: contextKeysMax, description }),
  )

/** Sorted, as they are stored; empty elements are ignored. */
export function readContextKeys(given: readonly string[] | undefined): string[] | undefined {
  return given && contextKeysOf(given)
}
