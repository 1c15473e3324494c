// A change of the configuration as two texts, and as the lines in which they differ: for people.
import type { ConfigurationChange } from '../../domain/workflows/configuration.ts'
import type { DiffLine } from '../../domain/workflows/text-diff.ts'
import { flatTexts } from '../../domain/workflows/translation.ts'
import type { Document } from '../../domain/workflows/workflow-document.ts'
import { comparable, shownLines } from './hidden-values.ts'
import { filesOf } from './workflow-texts.ts'

export interface Sides {
  readonly before: string
  readonly after: string
}

/** Without what may be secret in custom steps. */
export function comparableSides({ kind, before, after }: ConfigurationChange): Sides {
  const filesOfSide = (side: Document | null) => (side === null ? [] : filesOf(side))
  return kind === 'workflow'
    ? comparable(filesOfSide(before), filesOfSide(after))
    : { before: textOf(before), after: textOf(after) }
}

export function changedLines(change: ConfigurationChange): DiffLine[] {
  const { before, after } = comparableSides(change)
  return shownLines(before, after)
}

/** A line for each member, and for each text. */
function textOf(document: Document | null): string {
  if (document === null) return ''
  const { identifier: _, locale: __, texts, content, ...members } = document
  const lines = Object.entries(members).map(([name, value]) => `${name}: ${String(value)}`)
  const flat = typeof texts === 'object' && texts !== null ? flatTexts(texts as Document).texts : new Map()
  const ofTexts = [...flat].sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, text]) => `${key}: ${text}`)
  return [...lines, ...ofTexts, ...(typeof content === 'string' ? [content] : [])].join('\n')
}
