// External texts, made fit to be stored: without characters a database rejects, and no longer than a detail may be.

/** What an execution detail holds of a provider's words. */
export const detailBytesMax = 16 * 1024
/** The longest ids vendors give are below 200 bytes. */
export const providerMessageIdBytesMax = 1_000

/** Without NUL and half a surrogate pair, either of which would fail the whole batch that stores it. */
export function storable(words: string, bytesMax: number): string {
  const clean = words.replaceAll('\u0000', '').toWellFormed()
  // A UTF-16 unit is at most three bytes: only what may be too long is measured.
  if (clean.length * 3 <= bytesMax || Buffer.byteLength(clean) <= bytesMax) return clean
  // Half a character at the cut is removed.
  return Buffer.from(clean)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
}

/** A value whose texts and names can all be stored, however long they are. */
export function storableValue<Value>(value: Value): Value {
  return cleaned(value, 0) as Value
}

/** Deeper than any report of a vendor; a database refuses what is nested without end. */
const depthMax = 50

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed()
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth >= depthMax) return null
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [cleaned(name, depth), cleaned(one, depth + 1)]))
}
