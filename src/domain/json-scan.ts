// Scans the bytes of a JSON text before it is parsed: its depth, its number of values, and which parts of it are large.
import type { Turn } from './turn.ts'

export const quote = 0x22
export const comma = 0x2c
export const colon = 0x3a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
export const letterU = 0x75
export const openBrace = 0x7b
export const closeBrace = 0x7d

const capitalE = 0x45
const underscore = 0x5f
const letterC = 0x63
const letterE = 0x65

/** A number below the largest that there is has at most 309 digits, unless it has an exponent. */
const digitStride = 256

export interface JsonScan {
  readonly depth: number
  /** Objects, arrays and texts, names of members included. Numbers take hardly more memory than their digits. */
  readonly values: number
  /** Where objects, arrays and texts larger than a piece begin and end: the position of the closing byte. */
  readonly large: ReadonlyMap<number, number>
  /** Those among them with more values or names than a part may have: where they begin. */
  readonly overfull: ReadonlySet<number>
  /**
   * The size of the largest element of an array in the outermost value, such as one of many events; 0 if there is none.
   */
  readonly elementBytes: number
  /** Whether something in it has to be judged: an escape by number, a name that could change a prototype, a number too large. */
  readonly isSuspicious: boolean
}

export interface ScanLimits {
  readonly depthMax: number
  readonly valuesMax: number
  /** Commas outside of texts: members and elements of any kind, numbers included. */
  readonly commasMax?: number
  /**
   * Names of one object: whatever goes through it lists them all at once, and copying it takes even longer. Such an element
   * is reported if parts are judged alone; anywhere else it ends the scan.
   */
  readonly namesMax?: number
  /** A part with more bytes is reported. */
  readonly pieceBytes: number
  /** A part: an object in the outermost value, or anything in an array there, such as one of many events. */
  readonly partValuesMax?: number
}

/** The outermost value, what is in it, and the elements of that. */
const memberDepth = 2
const elementDepth = 3

/** What ended the scan: a limit, or unbalanced brackets. */
export type ScanRefusal =
  | 'too deep'
  | 'too many values'
  | 'too many names'
  | 'too much whitespace'
  | 'too long a number'
  | 'too many fields'
  | 'not JSON'

/** Bytes between two looks at the clock: some 100 µs. */
const strideBytes = 64 * 1024
/** Of one number, or of anything else outside of texts: the parser reads it at once, however long it is. */
export const wordBytesMax = strideBytes
/** Blanks in a row: whatever skips them does so at once. */
export const blankBytesMax = 1024 * 1024

/** One pass, in turns. Whether the text is JSON is for the parser to say; here only brackets and quotes are understood. */
export async function scanJson(bytes: Buffer, limits: ScanLimits, turn: Turn): Promise<JsonScan | ScanRefusal> {
  const scan = new Scan(bytes, limits)
  for (let from = 0; from < bytes.length; ) {
    from = scan.goOn(from, Math.min(from + strideBytes, bytes.length))
    if (scan.refusal !== undefined) return scan.refusal
    if (turn.isOver()) await turn.next()
  }
  return scan.isWhole() ? scan : 'not JSON'
}

class Scan implements JsonScan {
  depth = 0
  values = 0
  readonly large = new Map<number, number>()
  readonly overfull = new Set<number>()
  elementBytes = 0
  isSuspicious = false
  refusal: ScanRefusal | undefined
  readonly #bytes: Buffer
  readonly #limits: ScanLimits
  readonly #open: number[] = []
  /** How many names each of those that are open has so far. */
  readonly #names: number[] = []
  /** How many values there were before the part that is open. */
  readonly #valuesBefore = [0, 0, 0, 0]
  #isInText = false
  #textAt = 0
  #blanks = 0
  #commas = 0

  constructor(bytes: Buffer, limits: ScanLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  isWhole(): boolean {
    return this.#open.length === 0 && !this.#isInText
  }

  /** Returns where the next stride begins: an escape may extend beyond the end of this one. */
  goOn(from: number, end: number): number {
    this.#countBlanks(from, end)
    this.#lookForLongWord(from, end)
    const bytes = this.#bytes
    const { pieceBytes } = this.#limits
    let isInText = this.#isInText
    let textAt = this.#textAt
    let commas = 0
    let at = from
    for (; at < end; at += 1) {
      const byte = bytes[at]
      if (isInText) {
        if (byte === backslash) {
          at += 1
          if (bytes[at] === letterU) this.isSuspicious = true
        } else if (byte === quote) {
          isInText = false
          const length = at - textAt - 1
          if (length === 9 || length === 11) this.#lookAtName(textAt + 1, at)
          else if (length >= pieceBytes) this.large.set(textAt, at)
        }
      } else if (byte === quote) {
        isInText = true
        textAt = at
        this.values += 1
      } else if (byte === comma) commas += 1
      else if (byte === colon) this.#countName()
      else if (byte === openBrace || byte === openBracket) this.#begin(at)
      else if (byte === closeBrace || byte === closeBracket) this.#end(at)
      // Of a number with an exponent: the others that have one are true and false.
      else if ((byte === letterE || byte === capitalE) && isDigit(bytes[at - 1])) this.isSuspicious = true
    }
    this.#lookForLongNumber(from, end)
    this.#isInText = isInText
    this.#textAt = textAt
    this.#commas += commas
    if (this.#commas > (this.#limits.commasMax ?? Number.POSITIVE_INFINITY)) this.refusal ??= 'too many fields'
    if (this.values > this.#limits.valuesMax) this.refusal ??= 'too many values'
    return at
  }

  #countName(): void {
    const depth = this.#open.length
    this.#names[depth] = (this.#names[depth] ?? 0) + 1
  }

  /** Only those that fill a stride are worth counting. */
  #countBlanks(from: number, end: number): void {
    let at = from
    while (at < end && isBlank(this.#bytes[at])) at += 1
    this.#blanks = at === end && !this.#isInText ? this.#blanks + at - from : 0
    if (this.#blanks > blankBytesMax) this.refusal ??= 'too much whitespace'
  }

  /** Whatever is twice as long as it may be fills a stride. */
  #lookForLongWord(from: number, end: number): void {
    if (this.#isInText || end - from < strideBytes - 1) return
    let at = from
    while (at < end && isOfWord(this.#bytes[at])) at += 1
    if (at === end) this.refusal ??= 'too long a number'
  }

  #lookAtName(from: number, end: number): void {
    const first = this.#bytes[from]
    if (first !== underscore && first !== letterC) return
    const name = this.#bytes.toString('latin1', from, end)
    if (name === '__proto__' || name === 'constructor') this.isSuspicious = true
  }

  /** One of so many digits stands on one of these places at least. */
  #lookForLongNumber(from: number, end: number): void {
    for (let at = from - (from % digitStride); at < end; at += digitStride) {
      if (!isDigit(this.#bytes[at])) continue
      let first = at
      let last = at
      while (at - first < digitStride && isDigit(this.#bytes[first - 1])) first -= 1
      while (last - at < digitStride && isDigit(this.#bytes[last + 1])) last += 1
      if (last - first >= digitStride) this.isSuspicious = true
    }
  }

  #begin(at: number): void {
    this.values += 1
    // No longer than is allowed, and one: the rest of this stride is not worth remembering.
    if (this.#open.length > this.#limits.depthMax) return
    this.#open.push(at)
    this.#names[this.#open.length] = 0
    if (this.#open.length <= elementDepth) this.#valuesBefore[this.#open.length] = this.values
    if (this.#open.length > this.depth) this.depth = this.#open.length
    if (this.depth > this.#limits.depthMax) this.refusal = 'too deep'
  }

  #end(at: number): void {
    const depth = this.#open.length
    const begunAt = this.#open.pop()
    // An opening byte and its closing byte are two apart.
    if (begunAt === undefined || (this.#bytes[begunAt] ?? 0) + 2 !== this.#bytes[at]) {
      this.refusal ??= 'not JSON'
      return
    }
    if (depth === elementDepth && at - begunAt >= this.elementBytes) this.elementBytes = at - begunAt + 1
    if (at - begunAt <= this.#limits.pieceBytes) return
    this.large.set(begunAt, at)
    if ((this.#names[depth] ?? 0) > (this.#limits.namesMax ?? Number.POSITIVE_INFINITY))
      this.#refuseNames(begunAt, depth)
    const isPart = depth === elementDepth || (depth === memberDepth && this.#bytes[begunAt] === openBrace)
    if (!isPart || this.#limits.partValuesMax === undefined) return
    if (this.values - (this.#valuesBefore[depth] ?? 0) > this.#limits.partValuesMax) this.overfull.add(begunAt)
  }

  #refuseNames(begunAt: number, depth: number): void {
    if (this.#limits.partValuesMax === undefined || depth < elementDepth) this.refusal ??= 'too many names'
    else this.overfull.add(this.#open[elementDepth - 1] ?? begunAt)
  }
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** Neither blank nor a byte that the scan understands. */
const isOfWord = (byte: number | undefined): boolean =>
  byte !== comma &&
  byte !== quote &&
  byte !== colon &&
  byte !== openBrace &&
  byte !== closeBrace &&
  byte !== openBracket &&
  byte !== closeBracket &&
  !isBlank(byte)

export const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
