// How values are read for comparison: as a number, a timestamp, a boolean or text; and how they are shown afterwards.
import { canonicalJson } from '../canonical-json.ts'
import { timestampOfText } from '../time/iso-timestamp.ts'

const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/

/** Undefined when the value cannot be read as a number; so it is with the others. */
export function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && numberForm.test(value.trim())
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Milliseconds: of an ISO 8601 text, or given as such. */
export function dateOf(value: unknown): number | undefined {
  const timestamp = typeof value === 'string' ? timestampOfText(value.trim()) : undefined
  return timestamp === undefined ? numberOf(value) : timestamp.at.getTime()
}

export function booleanOf(value: unknown): number | undefined {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value
  if (word === true || word === 'true' || word === 1 || word === '1') return 1
  return word === false || word === 'false' || word === 0 || word === '0' ? 0 : undefined
}

/** Undefined for what is missing, which null is too. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object') return canonicalJson(value)
  return String(value)
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Enough to see what was compared; the whole value may be half a megabyte. */
const shownLengthMax = 256

/** A value as it appears in a detail. */
export function shown(value: unknown): string {
  const text = textOf(value) ?? (value === null ? 'null' : 'undefined')
  // A cut may go through a pair of surrogates, and no JSON column holds the half of one.
  return (text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax - 1)}…`).toWellFormed()
}
