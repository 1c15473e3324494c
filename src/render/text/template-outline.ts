// A template as one line of HTML: its texts in their order, with a mark for every value and every edge of a block.
import type { Template as Parsed } from 'liquidjs'
import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  ContinueTag,
  CycleTag,
  DecrementTag,
  EchoTag,
  ForTag,
  IfTag,
  IncrementTag,
  InlineCommentTag,
  LiquidTag,
  Output,
  RawTag,
  TypeGuards,
  UnlessTag,
} from 'liquidjs'

/** Delimits a mark's number: a character that no one writes, in one byte, so that nothing derived from it takes two. */
export const mark = '\u0001'
/** As it is, or as the entity that becomes it. */
export const holdsMark = (text: string): boolean => text.includes(mark) || /&#(?:0*1(?!\d)|x0*1(?![\da-f]))/i.test(text)

/** Each is followed by a mark with its number in the outline. */
export type Piece =
  | { readonly kind: 'fixed'; readonly template: Parsed; readonly text: string }
  | { readonly kind: 'value'; readonly template: Parsed }
  | { readonly kind: 'edge' }

export interface Outline {
  readonly pieces: readonly Piece[]
  /** The edges of each block: its begin, the ends of its branches, and where it is left. */
  readonly blocks: readonly (readonly number[])[]
}

/** Undefined for a template whose tags write markup of their own, or that ends in the middle. */
export function outlineOf(templates: readonly Parsed[]): Outline | undefined {
  const pieces: Piece[] = []
  const blocks: number[][] = []
  const edge = (): number => pieces.push({ kind: 'edge' }) - 1
  const visitAll = (inner: readonly Parsed[], loop: number[] | undefined): boolean =>
    inner.every((template) => visit(template, loop))
  const visit = (template: Parsed, loop: number[] | undefined): boolean => {
    const text = fixedTextOf(template)
    if (text !== undefined) pieces.push({ kind: 'fixed', template, text })
    else if (isValue(template)) pieces.push({ kind: 'value', template })
    else if (isSilent(template)) edge()
    // It leaves its loop from its position, which has to be like the loop's own end.
    else if (isJump(template)) return loop !== undefined && loop.push(edge()) > 0
    else {
      const branches = branchesOf(template)
      if (branches === undefined) return false
      const edges = [edge()]
      blocks.push(edges)
      for (const branch of branches) {
        const isBody = template instanceof ForTag && branch === template.templates
        if (!visitAll(branch, isBody ? edges : loop)) return false
        edges.push(edge())
      }
    }
    return true
  }
  return visitAll(templates, undefined) ? { pieces, blocks } : undefined
}

function fixedTextOf(template: Parsed): string | undefined {
  if (TypeGuards.isHTMLToken(template.token)) return template.token.getContent()
  return template instanceof RawTag ? template.render() : undefined
}

const isValue = (template: Parsed): boolean =>
  [Output, EchoTag, CycleTag, IncrementTag, DecrementTag].some((type) => template instanceof type)

/** What is captured is written where it is printed. */
const isSilent = (template: Parsed): boolean =>
  [AssignTag, CaptureTag, CommentTag, InlineCommentTag].some((type) => template instanceof type)

const isJump = (template: Parsed): boolean => template instanceof BreakTag || template instanceof ContinueTag

/** What may be rendered in its place, any number of times. */
function branchesOf(template: Parsed): readonly (readonly Parsed[])[] | undefined {
  if (template instanceof IfTag || template instanceof UnlessTag || template instanceof CaseTag) {
    const branches = template.branches as readonly { readonly templates: readonly Parsed[] }[]
    return [...branches.map(({ templates }) => templates), template.elseTemplates ?? []]
  }
  if (template instanceof ForTag) return [template.templates, template.elseTemplates]
  return template instanceof LiquidTag ? [template.templates] : undefined
}
