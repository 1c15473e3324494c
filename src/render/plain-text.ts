// Short plain texts that templates produce: one line, no control characters, a link that is safe to follow.
import { RenderError } from '../domain/workflows/rendering.ts'
import { addressLengthMax } from './limits.ts'

/** ASCII words with single blanks between them, as most subjects are: nothing below would change it. */
const plainLine = /^[!-~]+(?: [!-~]+)*$/

/** Line breaks and other control characters become blanks: in a header they would begin another. */
export function oneLine(text: string, lengthMax: number): string {
  if (text.length <= lengthMax && plainLine.test(text)) return text
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return cut(line, lengthMax)
}

/**
 * Without what can be neither stored nor sent: halves of characters, as `{{ name | split: '' | first }}` makes of an emoji, and NUL.
 * Most texts have neither, and are looked at only.
 */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes('\u0000') ? whole.replaceAll('\u0000', '') : whole
}

/** At most this many whole characters, the last a sign that there was more. */
export function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

const safeSchemes = new Set(['http', 'https', 'mailto', 'tel'])

/** The address of a link; undefined when the template gave nothing. Never one that runs a script. */
export function safeAddress(field: string, given: string): string | undefined {
  const address = given.trim()
  if (address === '') return undefined
  if (address.length > addressLengthMax) {
    throw new RenderError(
      field,
      `the address is ${address.length} characters long; at most ${addressLengthMax} are allowed`,
    )
  }
  // Browsers skip these, so `java\nscript:` would be a script.
  if (/\p{Cc}/u.test(address)) throw new RenderError(field, 'the address contains a line break or a control character')
  const scheme = /^([^/?#:]*):/.exec(address)?.[1]
  if (scheme !== undefined && !safeSchemes.has(scheme.toLowerCase())) {
    throw new RenderError(
      field,
      `the address begins with "${cut(scheme, 30)}:"; it must begin with http, https, mailto or tel, or be relative`,
    )
  }
  return address.toWellFormed().replaceAll(' ', '%20')
}
