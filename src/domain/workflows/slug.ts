// Slugs of API v2: a name that can be read, and an id that can be found by.
import { slugOf } from '../delivery/integration.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(digits.length)
/** So many digits hold the 128 bits of any id. */
const encodedLength = 22
const idMax = 2n ** 128n - 1n

/** The id of a UUID in letters and digits, always of one length. */
function encoded(id: string): string {
  let rest = BigInt(`0x${id.replaceAll('-', '')}`)
  let text = ''
  while (text.length < encodedLength) {
    text = `${digits[Number(rest % base)]}${text}`
    rest /= base
  }
  return text
}

/** Undefined where it is no id. */
function decoded(text: string): string | undefined {
  let value = 0n
  for (const digit of text) {
    const place = digits.indexOf(digit)
    if (place === -1) return undefined
    value = value * base + BigInt(place)
  }
  if (value > idMax) return undefined
  const hex = value.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** What follows the name: `wf` for a workflow, `st` for a step. */
export type SlugKind = 'wf' | 'st'

export function slugFor(kind: SlugKind, name: string, id: string): string {
  return `${slugOf(name) || kind}_${kind}_${encoded(id)}`
}

/** The id that a slug ends with, whatever the name before it; undefined if it is not a slug. */
export function idOfSlug(kind: SlugKind, text: string): string | undefined {
  const mark = `_${kind}_`
  const at = text.length - encodedLength - mark.length
  return at >= 0 && text.startsWith(mark, at) ? decoded(text.slice(-encodedLength)) : undefined
}
