// What a displayed diff hides of custom steps: header values and query values, which may be secrets.
import type { Document as Parsed, Range } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { DiffLine } from '../../domain/workflows/text-diff.ts'
import { diffLines } from '../../domain/workflows/text-diff.ts'
import type { TextFile } from './workflow-texts.ts'
import { wholeText } from './workflow-texts.ts'

type Hide = (value: string) => string

/** The two sides of a comparison: values are numbered, so that lines differ where values do. */
export function comparable(
  before: readonly TextFile[],
  after: readonly TextFile[],
): { readonly before: string; readonly after: string } {
  const numbers = new Map<string, number>()
  const hide: Hide = (value) => {
    const number = numbers.get(value) ?? numbers.size + 1
    numbers.set(value, number)
    return `[redacted #${number}]`
  }
  return { before: wholeText(withoutValues(before, hide)), after: wholeText(withoutValues(after, hide)) }
}

/** A line of a comparison as it is shown. */
export const withoutNumbers = (line: string): string => line.replaceAll(/\[redacted #\d+\]/g, '[redacted]')

/** The lines of two comparable texts that differ, as they are shown. */
export const shownLines = (before: string, after: string): DiffLine[] =>
  diffLines(before, after).map(({ sign, text }) => ({ sign, text: withoutNumbers(text) }))

/** Whether something in the files of a workflow would not be shown. */
export const holdsHidden = (files: readonly TextFile[]): boolean =>
  wholeText(withoutValues(files, () => '[redacted]')) !== wholeText(files)

/** The first file is the document; those beside it hold texts for people. */
const withoutValues = (files: readonly TextFile[], hide: Hide): TextFile[] =>
  files.map((file, place) => (place === 0 ? { ...file, text: documentWithout(file.text, hide) } : file))

/** Spliced into the text instead of rewriting it: a file written by a person keeps its format and comments. */
function documentWithout(text: string, hide: Hide): string {
  const parsed = parseDocument(text)
  if (parsed.errors.length > 0) return '[this file is not valid YAML]\n'
  let shown = text
  for (const { start, end, kind } of hiddenRanges(parsed)) {
    const source = shown.slice(start, end)
    const hidden = kind === 'header' ? hide(source) : withoutQueryValues(source, hide)
    // The text of a block ends with the line.
    const lineEnd = source.endsWith('\n') && !hidden.endsWith('\n') ? '\n' : ''
    shown = `${shown.slice(0, start)}${hidden}${lineEnd}${shown.slice(end)}`
  }
  return shown
}

interface HiddenRange {
  readonly start: number
  readonly end: number
  readonly kind: 'header' | 'url'
}

/** The last first: earlier positions stay valid. */
function hiddenRanges(parsed: Parsed): HiddenRange[] {
  const found = new Map<number, HiddenRange>()
  const add = (node: unknown, kind: HiddenRange['kind']): void => {
    const range = isScalar(node) ? (node.range as Range | null | undefined) : undefined
    if (range) found.set(range[0], { start: range[0], end: range[1], kind })
  }
  const target = (node: unknown): unknown => (isAlias(node) ? node.resolve(parsed) : node)
  const member = (node: unknown, name: string): unknown => (isMap(node) ? target(node.get(name, true)) : undefined)
  const steps = member(target(parsed.contents), 'steps')
  for (const step of isSeq(steps) ? steps.items : []) {
    const metadata = member(target(step), 'metadata')
    add(member(metadata, 'url'), 'url')
    const headers = member(metadata, 'headers')
    for (const { value } of isMap(headers) ? headers.items : []) {
      const node = target(value)
      if (isScalar(node)) add(node, 'header')
      else if (isMap(node) || isSeq(node)) visit(node, { Scalar: (_key, scalar) => add(scalar, 'header') })
    }
  }
  return [...found.values()].sort((a, b) => b.start - a.start)
}

/** A value that is a template says where it comes from, not what it is. */
function withoutQueryValues(source: string, hide: Hide): string {
  const [, address, query, quote] = /^([^?]*\?)(.*?)(["']?)$/s.exec(source) ?? []
  if (address === undefined || query === undefined) return source
  const hidden = query.split('&').map((piece) => {
    const start = piece.indexOf('=') + 1
    const value = piece.slice(start)
    return value === '' || value.includes('{') ? piece : `${piece.slice(0, start)}${hide(value)}`
  })
  return `${address}${hidden.join('&')}${quote}`
}
