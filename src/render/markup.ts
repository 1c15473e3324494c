// How much markup there is: parsers of HTML look for an unmatched end among all that is open.
import { RenderError } from '../domain/rendering.ts'
import { markupDepthMax, markupMax } from './limits.ts'

/** So few can do no harm, however they are nested, and are not looked at: nearly every message. */
export const harmlessMax = 1_000

/** Whether it can be read without a closer look. */
export const hasFewTags = (html: string): boolean => countOf(html, '<', harmlessMax) <= harmlessMax

/** `most` is what whoever reads it has time for. */
export function demandFewTags(field: string, html: string, most = markupMax): void {
  const count = countOf(html, '<', most)
  if (count <= harmlessMax && html.length <= harmlessLength) return
  if (count > most) throw new RenderError(field, `comes out with more than ${most} tags`)
  if (count + attributesIn(html) + countOf(html, '&', 2 * most) / 2 > most) {
    throw new RenderError(field, `comes out with more than ${most} tags, attributes and escapes`)
  }
  if (nestingOf(html) > markupDepthMax) {
    throw new RenderError(field, `comes out with more than ${markupDepthMax} elements that are open at once`)
  }
}

/** In so short a text there is not enough of anything. */
const harmlessLength = 20_000

/** The words within tags, beside their names. */
function attributesIn(html: string): number {
  let count = 0
  let end = -1
  for (let at = html.indexOf('<'); at !== -1; ) {
    const next = html.indexOf('<', at + 1)
    if (end < at) end = endAfter(html, html.indexOf('>', at))
    const words = html.slice(at, Math.min(end, endAfter(html, next))).split(/[\s"'/]+/).length
    if (words > attributesFree) count += words
    at = next
  }
  return count
}

const endAfter = (html: string, found: number): number => (found === -1 ? html.length : found)

/** What ordinary tags have counts as part of them. */
const attributesFree = 12

/** How often a character occurs, counted no further than asked for. */
export function countOf(text: string, character: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= most; at = text.indexOf(character, at + 1)) count += 1
  return count
}

export const voidTags: ReadonlySet<string> = new Set([
  ...['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr'],
])

/** The most elements that are open at once, taking every end for the end of something. */
export function nestingOf(html: string): number {
  let deepest = 0
  let depth = 0
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][^\s/>]{0,20})/gi)) {
    if (end === '/') depth = Math.max(0, depth - 1)
    else if (!voidTags.has(name.toLowerCase())) depth += 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}
