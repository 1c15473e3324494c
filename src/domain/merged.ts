// Merges one object over another: what callers add to a message or a request.

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Objects are merged, all else replaces. Bodies are bounded in depth when they are read. */
export function merged(under: Fields, over: Fields): Fields {
  const entries = Object.entries(over).map(([name, value]): [string, unknown] => {
    const before = Object.hasOwn(under, name) ? under[name] : undefined
    return [name, isFields(before) && isFields(value) ? merged(before, value) : value]
  })
  // Not by assignment: a field called __proto__ would change the prototype.
  return Object.fromEntries([...Object.entries(under), ...entries])
}
