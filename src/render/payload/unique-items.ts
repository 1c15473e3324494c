// The keyword `uniqueItems` in linear time: the validator's own compares every two items of a list, 20,000 in seconds.
import type { FuncKeywordDefinition } from 'ajv'

export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isUnique: boolean, items: readonly unknown[]) => !isUnique || areDifferent(items),
  error: { message: 'must NOT have duplicate items' },
}

function areDifferent(items: readonly unknown[]): boolean {
  const seen = new Set<unknown>()
  const keys = new Set<string>()
  for (const item of items) {
    const known: Set<unknown> = typeof item === 'object' && item !== null ? keys : seen
    const key = known === keys ? keyOf(item) : item
    if (known.has(key)) return false
    known.add(key)
  }
  return true
}

/** The same for two values that are equal: the order of members does not count, that of items does. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (isMembers(one) ? sorted(one) : one))
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As pairs: an object would not keep the order of names that are numbers. */
const sorted = (members: Members): unknown =>
  Object.keys(members).length === 0
    ? {}
    : {
        members: Object.keys(members)
          .sort()
          .map((name) => [name, members[name]]),
      }
