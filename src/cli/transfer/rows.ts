// The rows of a file, one after the other, however large it is: JSON lines, or CSV with a header.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
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
  const lines = (): AsyncIterable<string> => {
    const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 })
    stream.on('data', (text) => {
      read += Buffer.byteLength(text)
    })
    return createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
  }
  const rows = format === 'csv' ? () => csvRows(path, lines(), objectOf) : () => jsonRows(lines())
  return { path, bytes: found.size, bytesRead: () => read, rows }
}

/** From the cells of a row to a value. */
export type CsvReader = (cells: readonly string[]) => unknown

export async function* jsonRows(lines: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    if (text.length > rowLengthMax) yield { line, mistake: `The line is longer than ${rowLengthMax} characters` }
    else yield jsonRow(line, line === 1 ? text.replace(/^\uFEFF/, '') : text)
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
  let width = 0
  let [line, start, pending] = [0, 0, '']
  for await (const text of lines) {
    line += 1
    if (pending === '') start = line
    const whole = pending === '' ? (line === 1 ? text.replace(/^\uFEFF/, '') : text) : `${pending}\n${text}`
    // A quoted cell may contain line breaks: it is open while its quotes are odd.
    if ((whole.match(/"/g)?.length ?? 0) % 2 === 1 && whole.length < rowLengthMax) {
      pending = whole
      continue
    }
    pending = ''
    if (whole.trim() === '') continue
    const cells = cellsOf(whole)
    if (cells === undefined) yield { line: start, mistake: 'The quotes of this row do not fit together' }
    else if (read === undefined) {
      read = objectOf(cells)
      width = cells.length
    } else if (cells.length > width)
      yield { line: start, mistake: `The row has ${cells.length} cells, the header only ${width}` }
    else yield { line: start, value: read(cells) }
  }
  if (pending !== '') yield { line: start, mistake: 'A quote is never closed' }
  if (read === undefined) throw new UsageError(`${path} is empty: the first row must name the columns`)
}

/** Undefined if the quotes are wrong. */
export function cellsOf(row: string): string[] | undefined {
  if (!row.includes('"')) return row.split(',')
  const cells: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/gy
  for (;;) {
    const match = cell.exec(row)
    if (match === null) return undefined
    cells.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'))
    if (match[3] === '') return cells
  }
}
