// What inlining CSS costs, estimated before it is done: the author of a template chooses the selectors, and some take
// forever. Styles are parsed by the parsers that the inliner itself uses, so that nothing means one thing here and
// another there.
import type { ElementCounts } from './css-document.ts'

/** Elements that are looked at, about 1 µs each. Larger documents keep their <style> as it is, which most programs read. */
const matchesMax = 100_000
/** The cost of a selector per element; of a class or an attribute; and of everything else. */
const visitWeight = 1.5
const attributeWeight = 1.5
const partWeightEach = 0.5
/** Declarations times the elements that they may go into, and those that elements have already: 4 to 10 µs each. */
const declarationsMax = 15_000
const partsMax = 5_000
const cssLengthMax = 100_000
/** No one writes longer ones, and parsing them can take cubic time. */
const selectorLengthMax = 300
/** What counts siblings, by how many there are. */
const siblingWeight = 1 / 20
/** Each selector compares what is outermost with each other: so many pairs in the time of one match. */
const pairsPerMatch = 320
/** Selectors that the inliner uses itself. */
const ownSelectors = 6
/** Each is looked for among its siblings, and removed from them. */
const sheetsMax = 100
/** Characters of an attribute that are searched in the time of one match. */
const charactersPerMatch = 200
/** With longer values, looking for functions in them takes longer than all else: it grows with the square. */
const valueLengthPerUnit = 32

/** As mensch returns it. */
export interface CssDeclaration {
  readonly name: string
  readonly value: string
}

export type CssRule = readonly [selector: string, declarations: readonly CssDeclaration[]]

/** As css-what returns it. */
export interface SelectorPart {
  readonly type: string
  readonly name?: string
  readonly value?: string
  readonly action?: string
  readonly data?: readonly (readonly SelectorPart[])[] | string | null
}

export interface CssParsers {
  /** As the inliner reads a style sheet: one entry for each selector. */
  rulesOf(css: string): readonly CssRule[]
  /** Throws if it is invalid; the inliner skips such rules. */
  selectorOf(text: string): readonly (readonly SelectorPart[])[]
}

/** Undefined where it would take too long. */
export interface CssVerdict {
  /** Whether variables may be substituted. */
  readonly resolves: boolean
  readonly selectors: number
}

export function cheapCss(
  css: string,
  ownStyles: readonly string[],
  counts: ElementCounts,
  parsers: CssParsers,
): CssVerdict | undefined {
  if (counts.sheets > sheetsMax) return undefined
  if (css.length > cssLengthMax || [css, ...ownStyles].some(hasOpenComment)) return undefined
  const rules = parsers.rulesOf(css)
  const own = ownStyles.flatMap(ownDeclarations)
  const all = [...new Set(rules.flatMap(([, declarations]) => declarations)), ...own]
  // Looking for the end of a value takes time quadratic in its blanks.
  if (all.some(({ value }) => /\s{50}/.test(value))) return undefined
  const resolves = hasPlainVariables(all)
  const weightOf = ({ value }: CssDeclaration): number => (resolves ? 1 + (value.length / valueLengthPerUnit) ** 2 : 1)
  const sum = (declarations: readonly CssDeclaration[]): number =>
    declarations.reduce((total, declaration) => total + weightOf(declaration), 0)
  const comparing = counts.outermost ** 2 / pairsPerMatch
  let matches = ownSelectors * comparing
  let parts = 0
  let declared = sum(own)
  for (const [text, declarations] of rules) {
    const cost = selectorCost(text, counts, parsers)
    if (cost === undefined) return undefined
    parts += cost.parts
    matches += cost.matches + comparing
    declared += cost.elements * sum(declarations)
    if (parts > partsMax || matches > matchesMax || declared > declarationsMax) return undefined
  }
  return { resolves, selectors: rules.length }
}

/** No fewer and no shorter than they are. */
const ownDeclarations = (style: string): CssDeclaration[] =>
  style.split(';').map((text) => {
    const colon = text.indexOf(':')
    return { name: text.slice(0, colon), value: text.slice(colon + 1) }
  })

/** What follows the last end is looked for again from every beginning. */
const hasOpenComment = (css: string): boolean => css.lastIndexOf('/*') > css.lastIndexOf('*/')

/** A variable that stands for others can double with each, or stand for itself. */
function hasPlainVariables(declarations: readonly CssDeclaration[]): boolean {
  const using = declarations.filter(({ value }) => /var\s*\(/i.test(value))
  const isNested = using.some(({ name, value }) => name.includes('--') || /--[^;]*:/.test(value))
  const isBlank = declarations.some(({ value }) => value.includes('(') && /\s{10}/.test(value))
  return using.length > 0 && !isNested && !isBlank
}

interface SelectorCost {
  readonly parts: number
  readonly matches: number
  /** No fewer than it matches. */
  readonly elements: number
}

const nothing: SelectorCost = { parts: 1, matches: 0, elements: 0 }

/**
 * Undefined for selectors that search below or beside each element, and again for each match: `:has(…)`, several parts
 * or another function within `:not(…)`, and `a ~ b ~ c`, which took 44 s for 1,400 elements.
 */
function selectorCost(text: string, counts: ElementCounts, { selectorOf }: CssParsers): SelectorCost | undefined {
  if (text.length > selectorLengthMax || !hasClosedFunctions(text)) return undefined
  // Those that are checked again, rewritten without these two.
  if (/:(?:before|after)/i.test(text) && !/^[\w\s.#:>*-]*$/.test(text)) return undefined
  let alternatives: readonly (readonly SelectorPart[])[]
  try {
    alternatives = selectorOf(text)
  } catch {
    return nothing
  }
  let [parts, matches, elements] = [0, 0, 0]
  for (const one of alternatives) {
    const weights = one.map((part, index) => partWeight(part, one.slice(0, index), counts))
    if (weights.includes(undefined)) return undefined
    parts += one.length
    matches += weights.reduce<number>((total, weight) => total + (weight ?? 0), counts.elements * visitWeight)
    elements += elementsOf(one, counts)
  }
  return { parts, matches, elements }
}

/** The parser of selectors takes twice as long for each further character of an unclosed one. */
const hasClosedFunctions = (text: string): boolean => !/[()\\]/.test(text.replace(/:[\w-]{1,30}\([^()"'\\]*\)/g, ':'))

/** Found by scanning what precedes it; each may follow anything that does not do the same. */
const combinators: ReadonlySet<string> = new Set(['descendant', 'child', 'adjacent', 'sibling'])

function partWeight(part: SelectorPart, before: readonly SelectorPart[], counts: ElementCounts): number | undefined {
  const { elements, siblings } = counts
  const beside = elements * (1 + siblings * siblingWeight)
  if (part.type === 'attribute') return elements * attributeWeight + searchedIn(part, counts) / charactersPerMatch
  if (part.type === 'sibling') return before.every(isPlainPart) ? beside : undefined
  if (part.type === 'pseudo') return pseudoWeight(part, elements, beside)
  // Unknown to the selector engine: its rule is skipped.
  if (part.type === 'pseudo-element') return 0
  return combinators.has(part.type) || part.type === 'tag' || part.type === 'universal'
    ? elements * partWeightEach
    : undefined
}

/** Each element behind it is compared with every one before: nothing there may look any further. */
const isPlainPart = ({ type }: SelectorPart): boolean =>
  ['tag', 'universal', 'attribute', 'descendant', 'child'].includes(type)

const searchedIn = ({ name, action }: SelectorPart, { nameLength, attributesLength }: ElementCounts): number =>
  name === 'class' || name === 'id' ? nameLength : action === 'exists' ? 0 : attributesLength

const nthPattern = /^nth-(?:last-)?(?:child|of-type)$/
const typePattern = /^(?:first|last|only)-of-type$/
/** Their places among all that was found, and what is looked for in texts. */
const searching = /^(?:first|last|even|odd|parent|contains|icontains|has|scope)$/

function pseudoWeight({ name = '', data }: SelectorPart, elements: number, beside: number): number | undefined {
  if (typeof data === 'string') {
    return nthPattern.test(name) && /^\s*(?:odd|even|[\dn\s+-]{1,20})\s*$/i.test(data) ? beside : undefined
  }
  if (data === null || data === undefined) {
    return searching.test(name) ? undefined : typePattern.test(name) || name === 'only-child' ? beside : elements
  }
  if (!/^(?:not|is|where|matches)$/.test(name)) return undefined
  const inner = data.flat()
  const isBounded = data.every((one) => one.every(isInnerPart))
  return isBounded ? elements * (1 + inner.length) : undefined
}

const isInnerPart = ({ type, data }: SelectorPart): boolean =>
  ['tag', 'universal', 'attribute'].includes(type) || (type === 'pseudo' && (data === null || data === undefined))

/** After the last combinator, the name that the fewest elements have. Zero if a name has no elements. */
function elementsOf(selector: readonly SelectorPart[], { elements, names }: ElementCounts): number {
  const countOf = (part: SelectorPart): number =>
    names.get(nameOf(part) ?? '') ?? (nameOf(part) === undefined ? elements : 0)
  if (selector.some((part) => countOf(part) === 0)) return 0
  const from = selector.findLastIndex(({ type }) => combinators.has(type))
  return Math.min(elements, ...selector.slice(from + 1).map(countOf))
}

function nameOf({ type, name, action, value = '' }: SelectorPart): string | undefined {
  if (type === 'tag') return name?.toLowerCase()
  if (type !== 'attribute') return undefined
  if (name === 'class' && action === 'element') return `.${value.toLowerCase()}`
  return name === 'id' && action === 'equals' ? `#${value.toLowerCase()}` : undefined
}
