// The value at a step's key: what digests and throttles distinguish events by.
import { hash } from 'node:crypto'
import { canonicalJson } from '../domain/canonical-json.ts'
import { payloadValueAt } from '../domain/path.ts'

/** Longer values are distinguished by their hash: the text is stored with every job. */
const keyValueLengthMax = 1024

/** Undefined without a key. Events that have nothing at the key share a window with each other. */
export function keyValueOf(key: string | undefined, payload: Readonly<Record<string, unknown>>): string | undefined {
  if (key === undefined || key === '') return undefined
  const value = payloadValueAt(payload, key)
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'object' ? (canonicalJson(value) ?? '') : String(value)
  return text.length <= keyValueLengthMax ? text : `sha256:${hash('sha256', text)}`
}
