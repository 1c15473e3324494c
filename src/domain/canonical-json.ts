// JSON that is the same text for the same value, whatever the order of its fields.

/** Undefined when the value cannot be written as JSON: it is a function, goes in a circle, or is nested too deep. */
export function canonicalJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, member: unknown) => (isPlain(member) ? sorted(member) : member))
  } catch {
    return undefined
  }
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sorted = (value: object): object =>
  Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
