// Parses a large JSON text in pieces, and yields to others in between. The result is that of JSON.parse.
import type { JsonScan } from './json-scan.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isBlank,
  letterU,
  openBrace,
  openBracket,
  quote,
  scanJson,
} from './json-scan.ts'
import { Turn } from './turn.ts'

/** Parsed at once: a few milliseconds, whatever it holds. */
export const pieceBytes = 64 * 1024

/** The elements of the outermost value's members. */
const listDepth = 2
/** Memory for this many, and characters of such a long text, are worth a separate turn. */
const hugeListMin = 1_000_000
const hugeTextMin = 4_000_000

/** Replaces a part that has more than it may, which is not even parsed. */
export const overfull: object = Object.freeze({})

export interface ParseOptions {
  readonly piece?: number
  /** A longer list in the outermost value ends here: for callers that reject it for its length anyway. */
  readonly listMax?: number
}

/** Throws a SyntaxError where JSON.parse would. `bytes` are UTF-8 without a byte order mark, and `scan` is of them. */
export async function parseInTurns(
  bytes: Buffer,
  scan: Pick<JsonScan, 'large' | 'overfull'>,
  turn: Turn,
  { piece = pieceBytes, listMax = Number.POSITIVE_INFINITY }: ParseOptions = {},
): Promise<unknown> {
  const from = afterBlanks(bytes, 0)
  const end = scan.large.get(from)
  // A number, or something small.
  if (end === undefined) return JSON.parse(bytes.toString('utf8'))
  const parsing: Parsing = { bytes, large: scan.large, overfull: scan.overfull, turn, piece, listMax }
  const value = await largeValue(parsing, from, end, 1)
  if (afterBlanks(bytes, end + 1) < bytes.length) throw notJson()
  return value
}

/** A text that we wrote ourselves, however large: nothing in it is judged. */
export async function parseOurs(text: string): Promise<unknown> {
  const bytes = Buffer.from(text)
  const turn = new Turn()
  const limits = { depthMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY, pieceBytes }
  const scan = await scanJson(bytes, limits, turn)
  // What the scan does not understand is for the parser to read, or to refuse.
  return typeof scan === 'string' ? JSON.parse(text) : parseInTurns(bytes, scan, turn)
}

interface Parsing {
  readonly bytes: Buffer
  readonly large: ReadonlyMap<number, number>
  readonly overfull: ReadonlySet<number>
  readonly turn: Turn
  readonly piece: number
  readonly listMax: number
}

const notJson = (): SyntaxError => new SyntaxError('The body is not valid JSON')

/**
 * From its opening byte to its closing one. Large values in it have their own pieces; the rest is parsed a piece at a
 * time.
 */
async function largeValue(parsing: Parsing, from: number, end: number, depth: number): Promise<unknown> {
  const { bytes, large, turn, piece } = parsing
  if (bytes[from] === quote) return largeText(parsing, from, end)
  if (parsing.overfull.has(from)) return overfull
  const target = bytes[from] === openBrace ? new Members() : new Elements()
  const countMax = target instanceof Elements && depth === listDepth ? parsing.listMax : Number.POSITIVE_INFINITY
  /** Where the members begin that are to be parsed next, and end so far. */
  let begunAt = -1
  let endedAt = -1
  const parsePiece = async (): Promise<void> => {
    if (begunAt >= 0) target.addAll(bytes.toString('utf8', begunAt, endedAt))
    begunAt = -1
    if (turn.isOver()) await turn.next()
  }
  for (let at = afterBlanks(bytes, from + 1); at < end; ) {
    const name = target instanceof Members ? nameAt(bytes, at, end) : undefined
    const valueAt = name === undefined ? at : name.valueAt
    const valueEnd = large.get(valueAt)
    if (valueEnd === undefined) {
      if (begunAt < 0) begunAt = at
      endedAt = endOfSmall(bytes, valueAt, end)
      if (endedAt === valueAt) throw notJson()
      at = endedAt
      if (at - begunAt > piece) await parsePiece()
    } else {
      await parsePiece()
      const value = await largeValue(parsing, valueAt, valueEnd, depth + 1)
      if (target instanceof Members) target.add(JSON.parse(name?.text ?? ''), value)
      else target.add(value)
      at = afterBlanks(bytes, valueEnd + 1)
    }
    if (at >= end || target.count > countMax) break
    // A comma leads to another member: none may be the last.
    if (bytes[at] !== comma) throw notJson()
    at = afterBlanks(bytes, at + 1)
    if (at >= end) throw notJson()
  }
  await parsePiece()
  return target.value(turn)
}

/** A text in pieces, none of which ends within an escape or within a letter. */
async function largeText({ bytes, turn, piece }: Parsing, from: number, end: number): Promise<string> {
  const parts: string[] = []
  for (let at = from + 1; at < end; ) {
    const next = endOfTextPiece(bytes, at, Math.min(at + piece, end), end)
    parts.push(JSON.parse(`"${bytes.toString('utf8', at, next)}"`))
    at = next
    if (turn.isOver()) await turn.next()
  }
  if (end - from > hugeTextMin) await turn.next()
  const text = parts.join('')
  if (end - from > hugeTextMin) await turn.next()
  return text
}

function endOfTextPiece(bytes: Buffer, from: number, wanted: number, end: number): number {
  let at = from
  while (at < wanted) at += bytes[at] !== backslash ? 1 : bytes[at + 1] === letterU ? 6 : 2
  // Bytes of the form 10xxxxxx go on with a letter.
  while (at < end && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return Math.min(at, end)
}

/** Collected as they arrive, and joined at the end: an array that grows to millions is copied repeatedly. */
class Elements {
  readonly #parts: unknown[][] = []
  count = 0

  addAll(text: string): void {
    this.#addPart(JSON.parse(`[${text}]`))
  }

  add(one: unknown): void {
    this.#addPart([one])
  }

  #addPart(part: unknown[]): void {
    this.#parts.push(part)
    this.count += part.length
  }

  async value(turn: Turn): Promise<unknown[]> {
    const isHuge = this.count > hugeListMin
    if (isHuge) await turn.next()
    const all = new Array(this.count)
    if (isHuge) await turn.next()
    let at = 0
    for (const part of this.#parts) {
      for (let index = 0; index < part.length; index += 1, at += 1) all[at] = part[index]
      if (turn.isOver()) await turn.next()
    }
    return all
  }
}

class Members {
  readonly #members: Record<string, unknown> = {}
  readonly count = 0

  addAll(text: string): void {
    const members = JSON.parse(`{${text}}`) as Record<string, unknown>
    for (const name of Object.keys(members)) this.add(name, members[name])
  }

  /** The last of several with one name applies, at the position of the first. */
  add(name: string, value: unknown): void {
    if (name === '__proto__') {
      Object.defineProperty(this.#members, name, { value, enumerable: true, configurable: true, writable: true })
    } else this.#members[name] = value
  }

  async value(): Promise<Record<string, unknown>> {
    return this.#members
  }
}

/** The name of a field as it is written, including quotes, and where its value begins. */
function nameAt(bytes: Buffer, from: number, end: number): { text: string; valueAt: number } {
  if (bytes[from] !== quote) throw notJson()
  const nameEnd = endOfText(bytes, from, end)
  const colonAt = afterBlanks(bytes, nameEnd)
  if (colonAt >= end || bytes[colonAt] !== colon) throw notJson()
  const valueAt = afterBlanks(bytes, colonAt + 1)
  return {
    get text() {
      return bytes.toString('utf8', from, nameEnd)
    },
    valueAt,
  }
}

/** The place after the closing quote. */
function endOfText(bytes: Buffer, from: number, end: number): number {
  let at = from + 1
  while (at < end && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return Math.min(at + 1, end)
}

/** The place of the comma after a value that is not large, or the end of what it is in. */
function endOfSmall(bytes: Buffer, from: number, end: number): number {
  let depth = 0
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at, end) - 1
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
    else if (byte === comma && depth === 0) return at
  }
  return end
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (isBlank(bytes[at])) at += 1
  return at
}
