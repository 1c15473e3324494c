// The rows of a file, one after the other, however large it is: JSON lines, or CSV with a header.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { UsageError } from '../command.ts'

export interface Row {
  /** Of the file, counted from one. */
  readonly line: number
  readonly value?: unknown
  /** Why it is no row. */
  readonly mistake?: string
}

export interface RowFile {
  readonly path: string
  readonly bytes: number
  /** How much of it was read. */
  bytesRead(): number
  rows(): AsyncGenerator<Row>
}

const formats: Readonly<Record<string, 'csv' | 'jsonl'>> = { '.csv': 'csv', '.jsonl': 'jsonl', '.ndjson': 'jsonl' }
/** A longer row is no row of people. */
const rowLengthMax = 1024 * 1024

export async function openRows(path: string, objectOf: (header: readonly string[]) => CsvReader): Promise<RowFile> {
  const format = formats[extname(path).toLowerCase()]
  if (format === undefined) throw new UsageError(`${path} must be a file of CSV (.csv) or of JSON lines (.jsonl)`)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code})`)
  })
  if (!found.isFile()) throw new UsageError(`${path} is not a file`)
  let read = 0
  const lines = (): AsyncGenerator<string> => {
    const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 })
    stream.on('data', (text) => {
      read += Buffer.byteLength(text)
    })
    return textLines(stream, rowLengthMax)
  }
  const rows = format === 'csv' ? () => csvRows(path, lines(), objectOf) : () => jsonRows(lines(), rowLengthMax)
  return { path, bytes: found.size, bytesRead: () => read, rows }
}

/**
 * Lines without their ends, and without the mark that some editors write first. Of a line that is longer only so much is
 * kept that its reader sees it. (Node's own reader of lines keeps all of it, and also splits at U+2028, which JSON allows.)
 */
export async function* textLines(chunks: AsyncIterable<unknown>, lengthMax: number): AsyncGenerator<string> {
  let [open, isFirst] = ['', true]
  const ended = (line: string): string => {
    const text = isFirst ? line.replace(/^\uFEFF/, '') : line
    isFirst = false
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  for await (const chunk of chunks) {
    const [first = '', ...more] = String(chunk).split('\n')
    if (open.length <= lengthMax) open += first
    for (const line of more) {
      yield ended(open)
      open = line
    }
  }
  if (open !== '') yield ended(open)
}

/** From the cells of a row to a value. */
export type CsvReader = (cells: readonly string[]) => unknown

const tooLong = (lengthMax: number): string => `The line is longer than ${lengthMax} characters`

export async function* jsonRows(
  lines: AsyncIterable<string>,
  lengthMax: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row> {
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.length > lengthMax) yield { line, mistake: tooLong(lengthMax) }
    else if (text.trim() !== '') yield jsonRow(line, text)
  }
}

function jsonRow(line: number, text: string): Row {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { line, value }
  } catch (error) {
    return { line, mistake: `Not valid JSON: ${(error as Error).message}` }
  }
  return { line, mistake: 'Not a JSON object' }
}

async function* csvRows(
  path: string,
  lines: AsyncIterable<string>,
  objectOf: (header: readonly string[]) => CsvReader,
): AsyncGenerator<Row> {
  let read: CsvReader | undefined
  let [line, start, width, separator] = [0, 0, 0, ',']
  let open: OpenRow | undefined
  for await (const text of lines) {
    line += 1
    if (open === undefined) start = line
    if (open === undefined && text.trim() === '') continue
    if (read === undefined && open === undefined) separator = separatorIn(text)
    const isLong = text.length + (open?.length ?? 0) > rowLengthMax
    const found: CsvLine = isLong ? { mistake: tooLong(rowLengthMax) } : csvLine(text, open, separator)
    open = found.open
    if (open !== undefined) continue
    const { cells, mistake } = found
    if (cells === undefined) yield { line: start, mistake: mistake ?? '' }
    else if (read === undefined) {
      read = objectOf(cells)
      width = cells.length
    } else if (cells.length > width)
      yield { line: start, mistake: `The row has ${cells.length} cells, the header only ${width}` }
    else yield { line: start, value: read(cells) }
  }
  if (open !== undefined) yield { line: start, mistake: 'A quote is never closed' }
  if (read === undefined) throw new UsageError(`${path} is empty: the first row must name the columns`)
}

/** Spreadsheets in many languages write semicolons; names of columns have none of them. */
const separatorIn = (header: string): string => [',', ';', '\t'].find((one) => header.includes(one)) ?? ','

/** A row whose quoted cell goes on in the next line. */
interface OpenRow {
  readonly cells: string[]
  readonly parts: string[]
  readonly length: number
}

interface CsvLine {
  readonly cells?: readonly string[]
  readonly open?: OpenRow
  readonly mistake?: string
}

/** A quote opens a cell only at its beginning; a quote anywhere else in a plain cell is a mistake. */
function csvLine(text: string, before?: OpenRow, separator = ','): CsvLine {
  if (before === undefined && !text.includes('"')) return { cells: text.split(separator) }
  const cells = before?.cells ?? []
  let [at, parts]: [number, string[] | undefined] = [0, before?.parts]
  for (;;) {
    if (parts === undefined && text[at] === '"') {
      parts = []
      at += 1
    }
    const isQuoted = parts !== undefined
    const found = text.indexOf(isQuoted ? '"' : separator, at)
    const end = found === -1 ? text.length : found
    const part = text.slice(at, end)
    at = end + 1
    if (parts === undefined) {
      if (part.includes('"')) return { mistake: 'The quotes of this row do not fit together' }
      cells.push(part)
      if (found === -1) return { cells }
      continue
    }
    parts.push(part)
    if (found === -1) {
      parts.push('\n')
      return { open: { cells, parts, length: (before?.length ?? 0) + text.length + 1 } }
    }
    if (text[at] === '"') {
      parts.push('"')
      at += 1
      continue
    }
    cells.push(parts.join(''))
    parts = undefined
    if (at >= text.length) return { cells }
    if (text[at] !== separator) return { mistake: 'The quotes of this row do not fit together' }
    at += 1
  }
}
