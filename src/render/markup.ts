// How much markup there is: parsers of HTML look for an unmatched end among all that is open.
import { RenderError } from '../domain/workflows/rendering.ts'
import { markupDepthMax, markupMax } from './limits.ts'

/** So few can do no harm, however they are nested, and are not checked: nearly every message. */
export const harmlessMax = 1_000

/** Whether it can be read without a closer look. */
export const hasFewTags = (html: string): boolean => countOf(html, '<', harmlessMax) <= harmlessMax

/** `most` is what the reader has time for. */
export function demandFewTags(field: string, html: string, most = markupMax): void {
  const count = countOf(html, '<', most)
  if (count <= harmlessMax && html.length <= harmlessLength) return
  if (count > most) throw new RenderError(field, `renders to more than ${most} tags`)
  const attributes = attributesIn(html, most / attributeWeight) * attributeWeight
  if (count + attributes + countOf(html, '&', 2 * most) / 2 > most) {
    throw new RenderError(field, `renders to more than ${most} tags, attributes and escapes`)
  }
  if (nestingOf(html) > markupDepthMax) {
    throw new RenderError(field, `renders to more than ${markupDepthMax} nested elements`)
  }
}

/** So short a text cannot contain too much. */
const harmlessLength = 20_000

/** As HTML parsers read them: what is in quotes is one value, however many words it has. */
const attributePattern = /[\s/]*[^\s/>][^\s/>=]*(?:\s*=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s>]*))?/y

/** The attributes of all tags, counted only up to a limit. */
function attributesIn(html: string, most: number): number {
  let count = 0
  for (const { index, 0: name } of html.matchAll(/<[a-z][^\s/>]*/gi)) {
    for (let at = index + name.length; at < html.length && html[at] !== '>'; count += 1) {
      attributePattern.lastIndex = at
      const length = attributePattern.exec(html)?.[0].length ?? 0
      if (length === 0 || count > most) break
      at += length
    }
    if (count > most) break
  }
  return count
}

/** One is read in half the time of a tag. */
const attributeWeight = 0.5

/** How often a character occurs, counted only up to a limit. */
export function countOf(text: string, character: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= most; at = text.indexOf(character, at + 1)) count += 1
  return count
}

export const voidTags: ReadonlySet<string> = new Set([
  ...['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr'],
])

/** The most elements that are open at once, assuming that every end tag closes something. */
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
