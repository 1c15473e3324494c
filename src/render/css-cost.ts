// What inlining CSS costs, judged before it is done: whoever writes a template chooses the selectors, and some take for ever.

/** Parts of selectors times tags, 1 to 2 µs each. Larger documents keep their <style> as it is, which most programs read. */
const matchesMax = 100_000
/** Declarations times the elements that they may go into, 4 to 10 µs each. */
const declarationsMax = 10_000
const partsMax = 5_000
const cssLengthMax = 100_000
/** `:nth-child(…)` and the like count all siblings. */
const functionWeight = 5
/** What `a ~ b` looks at for each element, by the tags of the document. */
const siblingWeight = 1 / 20

export function isCheapCss(css: string, html: string, tags: number): boolean {
  if (css.length > cssLengthMax) return false
  const words = countedWords(html)
  let parts = 0
  let declarations = 0
  const plain = withoutComments(css)
  if (plain === undefined) return false
  for (const rule of plain.split('}')) {
    const open = Math.max(rule.lastIndexOf('{'), 0)
    const selector = rule.slice(rule.lastIndexOf('{', open - 1) + 1, open)
    const weight = weightOf(selector, tags)
    if (weight === undefined) return false
    parts += weight
    declarations += rule.slice(open).split(';').length * elementsOf(selector, words, tags)
    if (parts > partsMax || declarations > declarationsMax) return false
  }
  return parts * tags <= matchesMax
}

/** Undefined where one does not end. */
function withoutComments(css: string): string | undefined {
  const pieces: string[] = []
  let from = 0
  for (let at = css.indexOf('/*'); at !== -1; at = css.indexOf('/*', from)) {
    pieces.push(css.slice(from, at))
    const end = css.indexOf('*/', at + 2)
    if (end === -1) return undefined
    from = end + 2
  }
  return [...pieces, css.slice(from)].join(' ')
}

/**
 * Undefined for selectors that look for something below or beside each element, and again for each that they find: `:has(…)`,
 * what holds several parts or another function within `:not(…)`, and `a ~ b ~ c`, which took 44 s for 1,400 elements. Nor is
 * anything known of escapes, which may spell any of these.
 */
function weightOf(selector: string, tags: number): number | undefined {
  if (selector.includes('\\')) return undefined
  let functions = 0
  const plain = selector
    .replace(/\[[^\][]*\]/g, '[')
    .replace(/:([a-z-]{1,20})\(([^()]*)\)/gi, (whole, name: string, inner: string) => {
      functions += 1
      return isBoundedFunction(name.toLowerCase(), inner) ? ':' : whole
    })
  if (/[()]/.test(plain)) return undefined
  let siblings = 0
  for (const one of plain.split(',')) {
    const count = one.split('~').length - 1
    if (count > 1) return undefined
    siblings += count
  }
  return plain.split(/[\s,>+~.#:[]+/).length + functionWeight * functions + siblings * siblingWeight * tags
}

const isBoundedFunction = (name: string, inner: string): boolean =>
  /^nth-(?:last-)?(?:child|of-type)$/.test(name)
    ? /^\s*(?:odd|even|[\dn\s+-]+)\s*$/i.test(inner)
    : /^(?:not|is|where)$/.test(name) && inner.split(',').every((one) => /^\s*[\w.#:*[-]+\s*$/.test(one))

/** How often each word occurs: an element is named by its tag or its class. */
function countedWords(html: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [word] of html.toLowerCase().matchAll(/[\w-]+/g)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** No fewer than the elements that a selector matches. */
function elementsOf(selector: string, words: ReadonlyMap<string, number>, tags: number): number {
  let elements = 0
  for (const one of selector.toLowerCase().split(',')) {
    const last =
      one
        .trim()
        .split(/[\s>+~]+/)
        .at(-1) ?? ''
    const name = /[.#]([\w-]+)/.exec(last)?.[1] ?? /^[a-z][\w-]*/.exec(last)?.[0]
    elements += name === undefined ? tags : (words.get(name) ?? 0)
  }
  return elements
}
