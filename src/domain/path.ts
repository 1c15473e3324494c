// Dotted paths into what callers sent: `order.items.0.price`.

/** Longer ones refer to nothing that a person wrote. */
export const pathLengthMax = 255

/** The value at a path; undefined if there is none. Own fields only, so that no path reaches a prototype. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

/** The value at a path that may name the payload itself first: `payload.order.id` and `order.id` are the same. */
export function payloadValueAt(payload: Readonly<Record<string, unknown>>, path: string): unknown {
  const found = valueAt(payload, path)
  return found === undefined && path.startsWith('payload.') ? valueAt(payload, path.slice('payload.'.length)) : found
}

export function isPath(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= pathLengthMax &&
    text.split('.').every((name) => name !== '' && name === name.trim())
  )
}
