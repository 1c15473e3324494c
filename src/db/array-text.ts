// Arrays as PostgreSQL reads them. The driver's own way checks every element three times and writes dates in local
// time.

/** One array, for one parameter or for an element of an array of arrays. */
export function arrayText(values: readonly unknown[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ','
    text += elementText(values[index])
  }
  return `${text}}`
}

function elementText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'string') return quoted(value)
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`
  return String(value)
}

function quoted(text: string): string {
  if (!text.includes('"') && !text.includes('\\')) return `"${text}"`
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
