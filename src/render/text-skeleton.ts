// The text part of an e-mail whose variables are plain words: read from the HTML around them once, and filled in.
import { htmlToText, textLengthMax } from './html-to-text.ts'
import { hasStyle } from './inline-css.ts'
import { hasFewTags } from './markup.ts'

/** A text with gaps: what stands before, between and after the values that are shown, and which these are. */
export interface TextSkeleton {
  readonly pieces: readonly string[]
  /** By gap: the place of its value. Values in what is not shown have none. */
  readonly gaps: readonly number[]
  /** The longest that the text was while it was written, without the values. */
  readonly length: number
}

/**
 * What nobody writes stands for the values: a control character, the value's place, and the character again. Not one of
 * private use: what comes of a text with such a one takes two bytes a character for ever, and thrice the time to send.
 */
const mark = '\u0001'
const valuesMax = 1_000

/**
 * Undefined where the text depends on the values in another way than by holding them: one within a tag, a link (which is
 * told apart from its address) or a comment, or right after what may be half a tag or half an entity. And for documents
 * that are looked at closely whenever they come out: with many tags, or with styles that have to be put in place.
 */
export function textSkeletonOf(fixed: readonly string[]): TextSkeleton | undefined {
  const count = fixed.length - 1
  if (count > valuesMax || fixed.some((text) => holdsMark(text) || text.includes(takenForLessThan))) return undefined
  if (fixed.slice(0, count).some(isHalfOpen)) return undefined
  const html = fixed.map((text, index) => (index < count ? `${text}${mark}${index}${mark}` : text)).join('')
  if (!hasFewTags(html) || hasStyle(html)) return undefined
  let length = 0
  let met = 0
  let isLinked = false
  const text = htmlToText(html, (between, place) => {
    length = Math.max(length, place.before)
    const own = placesIn(between).length
    met += own
    isLinked ||= own > 0 && place.isLinked
  })
  if (met !== count || isLinked) return undefined
  const gaps = placesIn(text)
  // Each is written once at most, and as it is; were it not so, nothing here would hold.
  if (new Set(gaps).size !== gaps.length || gaps.some((index) => !(index < count))) return undefined
  const pieces = text.split(mark).filter((_, index) => index % 2 === 0)
  return { pieces, gaps, length: Math.max(length, text.length) }
}

/** The values that stand in a text, by their marks. */
const placesIn = (text: string): number[] =>
  text.split(mark).flatMap((part, index) => (index % 2 === 1 ? [Number(part)] : []))

/** As it is, or as the entity that becomes it. */
const holdsMark = (text: string): boolean => text.includes(mark) || /&#(?:0*1(?!\d)|x0*1(?![\da-f]))/i.test(text)

/** The parser's comparison without capitals lets this one pass for `<` where it looks for the end of a title. */
const takenForLessThan = '\u001c'

/** Whether what follows could become part of a tag, or of an entity. */
const isHalfOpen = (text: string): boolean => text.lastIndexOf('<') > text.lastIndexOf('>') || /&[a-z\d#]*$/i.test(text)

/**
 * Words with one blank between them: neither tags nor entities begin in them, and no white space is there that would run
 * together with what stands beside it, or be cut off.
 */
const plainWords = /^[^\s\p{Cc}<>&"']+(?: [^\s\p{Cc}<>&"']+)*$/u

/** What `htmlToText` makes of the HTML with these values in it; undefined where only that can tell. */
export function filledText({ pieces, gaps, length }: TextSkeleton, values: readonly string[]): string | undefined {
  let longest = length
  for (const value of values) {
    longest += value.length
    if (longest >= textLengthMax || !plainWords.test(value)) return undefined
  }
  let text = pieces[0] ?? ''
  for (let gap = 0; gap < gaps.length; gap += 1) text += (values[gaps[gap] ?? 0] ?? '') + (pieces[gap + 1] ?? '')
  return text
}
