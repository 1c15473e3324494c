// The text part of a template, read once from the HTML around its values, whatever its loops and conditions do.

import { Parser } from 'htmlparser2'
import type { Template as Parsed } from 'liquidjs'
import { hasFewTags } from '../markup.ts'
import { parserOptions } from './html-to-text.ts'
import type { Met } from './plan-recorder.ts'
import { PlanRecorder } from './plan-recorder.ts'
import type { Outline, Piece } from './template-outline.ts'
import { holdsMark, mark, outlineOf } from './template-outline.ts'
import type { Place, TextOp } from './text-run.ts'
import { takenForLessThan } from './text-run.ts'

export interface TextPlan {
  /** What a fixed text of the template does to the text part. */
  readonly ops: ReadonlyMap<Parsed, readonly TextOp[]>
  readonly places: ReadonlyMap<Parsed, Place>
  /** What the end of the document does. */
  readonly end: readonly TextOp[]
  /** All that the template writes besides its values, each branch once. */
  readonly html: string
}

/**
 * Undefined if the meaning of a text or a value depends on more than its position: if a block leaves open what it
 * opens, or closes what it did not; if a value is in the name of a tag, in an attribute without quotes or in a comment,
 * or right after what may be half a tag or half an entity. Everywhere else, what is open at a position is the same
 * whatever came before it, so that reading all branches one after the other shows what each of them does.
 */
export function textPlanOf(templates: readonly Parsed[]): TextPlan | undefined {
  const outline = outlineOf(templates)
  if (outline === undefined) return undefined
  const { pieces } = outline
  const html = pieces
    .map((piece, index) => `${piece.kind === 'fixed' ? piece.text : ''}${mark}${index}${mark}`)
    .join('')
  if (!isReadable(pieces) || !hasFewTags(html)) return undefined
  const recorder = new PlanRecorder(pieces.length)
  const parser = new Parser(recorder.handler, parserOptions)
  parser.write(html)
  parser.end()
  const { marks } = recorder
  if (marks === undefined || !areBlocksNeutral(outline, marks)) return undefined
  const ops = new Map<Parsed, readonly TextOp[]>()
  const places = new Map<Parsed, Place>()
  for (const [index, piece] of pieces.entries()) {
    const met = marks[index] as Met
    if (piece.kind === 'fixed') {
      if (isHalfOpen(piece.text, met) && index < pieces.length - 1) return undefined
      ops.set(piece.template, met.ops)
    } else if (piece.kind === 'value') places.set(piece.template, met.place)
  }
  return { ops, places, end: recorder.end, html }
}

/** In foreign elements other rules hold for tags that end themselves. */
const isReadable = (pieces: readonly Piece[]): boolean =>
  pieces.every(
    (piece) =>
      piece.kind !== 'fixed' ||
      !(holdsMark(piece.text) || piece.text.includes(takenForLessThan) || /<(?:svg|math)/i.test(piece.text)),
  )

/** Whether what follows could become part of a tag, or of an entity. */
function isHalfOpen(text: string, { within }: Met): boolean {
  if (/&[a-z\d#]*$/i.test(text)) return true
  return within === '' && text.lastIndexOf('<') > text.lastIndexOf('>')
}

/** Whether each block leaves open what was open before it, no more and no less, and stays in its attribute. */
function areBlocksNeutral({ blocks }: Outline, marks: readonly Met[]): boolean {
  return blocks.every((edges) => {
    const from = edges[0] as number
    const to = edges.at(-1) as number
    const { depth, within } = marks[from] as Met
    const isSame = edges.every((edge) => marks[edge]?.depth === depth && marks[edge]?.within === within)
    return isSame && marks.slice(from + 1, to + 1).every(({ depthMin }) => depthMin >= depth)
  })
}
