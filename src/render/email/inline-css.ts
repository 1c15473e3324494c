// CSS of a <style> element put into the elements it is for: several mail programs read only that.
import { createRequire } from 'node:module'
import type Juice from 'juice'
import { countOf, nestingOf, voidTags } from '../markup.ts'
import type { CssParsers } from './css-cost.ts'
import { cheapCss } from './css-cost.ts'
import type { DocumentNode } from './css-document.ts'
import { styledDocument } from './css-document.ts'

const tagsInlinedMax = 6_000
const elementsInlinedMax = 3_000
/** A selector for descendants tries every ancestor. */
const depthInlinedMax = 100
const inlinedLengthMax = 300_000

const codePattern = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g

export const hasStyle = (html: string): boolean => /<style[\s>]/i.test(html)

type Document = { root(): { get(index: number): DocumentNode }; html(): string }

interface Inliner {
  readonly juice: typeof Juice & {
    juiceDocument(document: Document, options: object): Document
    readonly utils: { parseCSS: CssParsers['rulesOf'] }
  }
  readonly cheerio: { load(html: string, options: object): Document }
  readonly parsers: CssParsers
}

let inliner: Inliner | undefined

/** Loaded with the first <style>: 24 MB that most installations never need. With the parsers that it uses itself. */
function loadInliner(): Inliner {
  // Created each time: a loader keeps what it loaded.
  const load = createRequire(import.meta.url)
  const juice = load('juice') as Inliner['juice']
  const below = createRequire(load.resolve('juice'))
  const cheerio = below('cheerio') as Inliner['cheerio']
  const select = createRequire(createRequire(below.resolve('cheerio')).resolve('cheerio-select'))
  const { parse: selectorOf } = select('css-what') as { parse: CssParsers['selectorOf'] }
  return { juice, cheerio, parsers: { rulesOf: (css) => juice.utils.parseCSS(css), selectorOf } }
}

/** The inliner keeps every selector that it ever parsed, about 1 KB each: authors choose how many. */
const selectorsKeptMax = 10_000
let selectorsKept = 0

/** The next document loads it again, without its cache: only its own files, in some milliseconds. */
function forgetInliner(): void {
  const { cache } = createRequire(import.meta.url)
  for (const path of Object.keys(cache)) {
    if (/[\\/]node_modules[\\/](?:juice|slick)[\\/]/.test(path)) delete cache[path]
  }
  inliner = undefined
  selectorsKept = 0
}

/** As the inliner reads documents, except for what it takes for template codes: these are already rendered. */
const reading = { xml: { decodeEntities: false, xmlMode: false } }

/** Never fetches anything. What cannot be inlined, or would take too long, is left as it is. */
export function inlineCss(html: string): string {
  if (!isSmall(html)) return html
  try {
    inliner ??= loadInliner()
    const { juice, cheerio, parsers } = inliner
    const document = cheerio.load(html, reading)
    const { counts, css, ownStyles } = styledDocument(document.root().get(0))
    if (counts.elements > elementsInlinedMax || counts.depth > depthInlinedMax) return html
    const verdict = cheapCss(css, ownStyles, counts, parsers)
    if (verdict === undefined) return html
    const options = {
      applyWidthAttributes: true,
      preserveImportant: true,
      inlinePseudoElements: false,
      resolveCSSVariables: verdict.resolves,
    }
    selectorsKept += verdict.selectors
    const inlined = juice.juiceDocument(document, options).html()
    if (selectorsKept > selectorsKeptMax) forgetInliner()
    return inlined
  } catch {
    // CSS that cannot be read is no reason not to send: mail programs skip what they do not understand.
    return html
  }
}

/** Before it is read at all. */
const isSmall = (html: string): boolean =>
  html.length <= inlinedLengthMax &&
  countOf(html, '<', tagsInlinedMax) <= tagsInlinedMax &&
  nestingOf(html) <= depthInlinedMax

/** The text of the <style> elements, and the document without them. */
function withoutStyles(html: string): { css: string; rest: string } {
  const css: string[] = []
  const rest: string[] = []
  const lower = html.toLowerCase()
  let from = 0
  for (let at = lower.indexOf('<style'); at !== -1; at = lower.indexOf('<style', from)) {
    const found = lower.indexOf('</style', at)
    // One without an end tag extends to the end of the document.
    const end = found === -1 ? html.length : found
    rest.push(html.slice(from, at))
    css.push(html.slice(lower.indexOf('>', at) + 1, end))
    from = end + '</style>'.length
  }
  rest.push(html.slice(from))
  return { css: css.join('\n'), rest: rest.join('') }
}

/**
 * The same done once, on the template instead of on each message: 1.5 ms less for each. Undefined if the result could
 * differ, because what the CSS refers to is only known when it is rendered.
 */
export function inlineTemplateCss(template: string): string | undefined {
  if (/\|\s*raw\b|\{%-?\s*(?:raw|comment|liquid)\b/.test(template)) return undefined
  const { css } = withoutStyles(template)
  if (/\{\{|\{%|[+~[]|:(?:first|last|nth|only|empty|not|has|is|where)/.test(css)) return undefined
  const codes: string[] = []
  const hidden = template.replace(codePattern, (code) => {
    codes.push(code)
    return `${mark}${codes.length - 1}${mark}`
  })
  if (template.includes(mark) || !codesStandApart(hidden)) return undefined
  const inlined = inlineCss(hidden)
  const before = skeletonOf(hidden)
  if (before.join() !== skeletonOf(inlined).join() || !isBalanced(before, codes)) return undefined
  return inlined.replace(markPattern, (_, index: string) => codes[Number(index)] ?? '')
}

/** Replaces a code while the CSS is inlined; a letter, so that it is text wherever it is. */
const mark = '\uE0C5'
const markPattern = /\uE0C5(\d+)\uE0C5/g

/** Whether codes are in text, or in attributes that no CSS refers to. */
function codesStandApart(hidden: string): boolean {
  const withoutSafe = hidden.replace(/\s(?:href|src|alt|title|aria-label)\s*=\s*(?:"[^"<>]*"|'[^'<>]*')/gi, '')
  return !/<[^<>]*\uE0C5/.test(withoutSafe)
}

/** Codes and tags in their order, without the <style> elements. */
function skeletonOf(html: string): string[] {
  return withoutStyles(html).rest.match(/\uE0C5\d+\uE0C5|<\/?[a-z][^\s/>]*/gi) ?? []
}

/** Whether every branch and every turn of a loop closes the elements it opens. */
function isBalanced(skeleton: readonly string[], codes: readonly string[]): boolean {
  const levels: number[] = []
  let depth = 0
  for (const part of skeleton) {
    if (part.startsWith('<')) {
      const name = part.slice(part.startsWith('</') ? 2 : 1).toLowerCase()
      if (!voidTags.has(name)) depth += part.startsWith('</') ? -1 : 1
      continue
    }
    const word = /^\{%-?\s*(\w+)/.exec(codes[Number(part.slice(1, -1))] ?? '')?.[1]
    if (word === undefined) continue
    if (['if', 'unless', 'for', 'case', 'tablerow', 'capture'].includes(word)) levels.push(depth)
    else if (/^(?:else|elsif|when)$/.test(word) && levels.at(-1) !== depth) return false
    else if (word.startsWith('end') && levels.pop() !== depth) return false
  }
  return true
}
