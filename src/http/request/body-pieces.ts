// A body as it arrives, in however many pieces: what it takes of memory is what its bytes take.

/** Smaller ones are copied together: a piece of one byte takes a hundred as an object of its own. */
const smallPieceBytes = 4 * 1024
const blockBytes = 64 * 1024
/** Some writers send every word of a body by itself; for this many words no one has to wait. */
export const piecesFree = 50_000
/** Where no one pays for them. */
export const piecesUnpaidMax = 5_000
/** Beyond them. Each piece costs some microseconds, however little it holds: as much as so many bytes of a large one. */
const bytesPerPieceMin = 64
/** Smaller ones are paid for like so many bytes more. What a network cuts a body into is larger. */
const tinyPieceBytes = 256

export class BodyPieces {
  readonly #free: number
  readonly #whole: Buffer[] = []
  #block: Buffer | undefined
  #used = 0
  #count = 0
  #tiny = 0
  #bytes = 0

  constructor(free = piecesFree) {
    this.#free = free
  }

  get bytes(): number {
    return this.#bytes
  }

  /** More of them than their bytes are worth. */
  get areTooMany(): boolean {
    return this.#count > this.#free + this.#bytes / bytesPerPieceMin
  }

  /** What to pay for: a body of single bytes costs as much of the processor as one of many times its size. */
  get chargedBytes(): number {
    return this.#bytes + this.#tiny * bytesPerPieceMin
  }

  add(piece: Buffer): void {
    this.#count += 1
    if (piece.length < tinyPieceBytes) this.#tiny += 1
    this.#bytes += piece.length
    // The only one of nearly every body: not copied.
    if (piece.length >= smallPieceBytes || this.#count === 1) {
      this.#closeBlock()
      this.#whole.push(piece)
      return
    }
    if (this.#block === undefined || this.#used + piece.length > this.#block.length) {
      this.#closeBlock()
      // The first is small, as most bodies are.
      this.#block = Buffer.allocUnsafe(this.#bytes < blockBytes ? 2 * smallPieceBytes : blockBytes)
    }
    this.#used += piece.copy(this.#block, this.#used)
  }

  joined(): Buffer {
    this.#closeBlock()
    return this.#whole.length === 1 && this.#whole[0] !== undefined
      ? this.#whole[0]
      : Buffer.concat(this.#whole, this.#bytes)
  }

  /** How many buffers it holds. */
  get held(): number {
    return this.#whole.length + (this.#block === undefined ? 0 : 1)
  }

  #closeBlock(): void {
    if (this.#block !== undefined && this.#used > 0) this.#whole.push(this.#block.subarray(0, this.#used))
    // What is left of a block is used on, so that small pieces between large ones do not take one each.
    const rest = this.#block?.subarray(this.#used)
    this.#block = rest !== undefined && rest.length >= smallPieceBytes ? rest : undefined
    this.#used = 0
  }
}
