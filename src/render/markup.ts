// How much markup there is: parsers of HTML look for an unmatched end among all that is open.
import { RenderError } from '../domain/rendering.ts'
import { markupDepthMax, markupMax } from './limits.ts'

/** So few can do no harm, however they are nested, and are not looked at: nearly every message. */
export const harmlessMax = 1_000

/** Whether it can be read without a closer look. */
export const hasFewTags = (html: string): boolean => countOf(html, '<', harmlessMax) <= harmlessMax

export function demandFewTags(field: string, html: string): void {
  const count = countOf(html, '<', markupMax)
  if (count <= harmlessMax) return
  if (count > markupMax) throw new RenderError(field, `comes out with more than ${markupMax} tags`)
  if (nestingOf(html) > markupDepthMax) {
    throw new RenderError(field, `comes out with more than ${markupDepthMax} elements that are open at once`)
  }
}

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
