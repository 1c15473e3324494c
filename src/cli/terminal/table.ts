// Tables for a terminal: columns of equal width, the last one wrapped if the terminal is too narrow for it.
import { visible } from './visible-text.ts'

const gap = '  '
/** A narrower last column is not broken: it would be a ladder of words. */
const lastWidthMin = 24
/** A column but the last is cut beyond it. */
const columnWidthMax = 60

/** `width` is the terminal's; without one no line is wrapped. Empty input gives no lines. */
export function tableLines(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { width, indent = '' }: { width?: number | undefined; indent?: string } = {},
): string[] {
  if (rows.length === 0) return []
  const last = titles.length - 1
  const shown = [titles, ...rows].map((row) => titles.map((_, place) => cellOf(row[place] ?? '', place < last)))
  const widths = titles.map((_, place) => Math.max(...shown.map((row) => widthOf(row[place] ?? ''))))
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + gap.length, indent.length)
  const left = width === undefined ? undefined : Math.max(width - before, lastWidthMin)
  return shown.flatMap((row) => {
    const head = row.slice(0, last).map((cell, place) => `${padded(cell, widths[place] ?? 0)}${gap}`)
    const [first = '', ...more] = wrapped(row[last] ?? '', left)
    const blank = ' '.repeat(before - indent.length)
    return [`${head.join('')}${first}`, ...more.map((line) => `${blank}${line}`)].map((line) =>
      `${indent}${line}`.trimEnd(),
    )
  })
}

function cellOf(text: string, isCut: boolean): string {
  const cell = visible(text.replaceAll(/\s+/g, ' ').trim())
  if (!isCut || widthOf(cell) <= columnWidthMax) return cell
  return `${[...cell].slice(0, columnWidthMax - 1).join('')}…`
}

/** Wrapped between words; a word that is longer than a line is not split. */
export function wrapped(text: string, width: number | undefined): string[] {
  if (width === undefined) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

const nothing = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]$/u

/** How many columns it takes in a terminal: ideographs and emojis take two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += nothing.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}
