// COPY from one PostgreSQL straight into another: the driver knows the messages, and leaves what to do with them to its caller.
// https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY
import type { Writable } from 'node:stream'
import type pg from 'pg'

/** The part of the driver's connection that COPY needs. */
interface Wire {
  readonly stream: Writable & { pause(): void; resume(): void }
  query(text: string): void
  sendCopyFromChunk(chunk: Uint8Array): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** The server sends a message for each row: they go on in pieces of about this size. */
const pieceBytes = 64 * 1024

/** How many rows the statement was about, by the server's own count: `COPY 42`. */
const countIn = (command: string): number => Number(/^COPY (\d+)$/.exec(command)?.[1] ?? Number.NaN)

/** What the driver calls while a statement of ours is the active one. */
abstract class Copy {
  readonly ended: Promise<number>
  readonly #text: string
  #command = ''
  #error: Error | undefined
  #resolve: (count: number) => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(text: string) {
    this.#text = text
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: unknown): void {
    ;(connection as Wire).query(this.#text)
  }

  handleCommandComplete(message: { text: string }): void {
    this.#command = message.text
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#resolve(countIn(this.#command))
    else this.#reject(this.#error)
  }

  handleError(error: Error): void {
    this.#error = error
    this.#reject(error)
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(_connection: unknown): void {}
  handleCopyData(_message: { chunk: Uint8Array }, _connection: unknown): void {}
}

class CopyIn extends Copy {
  readonly isReady: Promise<Wire>
  #ready: (wire: Wire) => void = () => {}

  constructor(text: string) {
    super(text)
    this.isReady = new Promise((resolve) => {
      this.#ready = resolve
    })
  }

  override handleCopyInResponse(connection: unknown): void {
    this.#ready(connection as Wire)
  }
}

class CopyOut extends Copy {
  readonly #take: (chunk: Uint8Array, wire: Wire) => void

  constructor(text: string, take: (chunk: Uint8Array, wire: Wire) => void) {
    super(text)
    this.#take = take
  }

  override handleCopyData({ chunk }: { chunk: Uint8Array }, connection: unknown): void {
    this.#take(chunk, connection as Wire)
  }
}

/** How many rows arrived. Rejects if either side fails; the clients are then of no further use. */
export async function copyBetween(
  source: pg.Client,
  target: pg.Client,
  { from, into, onRow }: { from: string; into: string; onRow: () => void },
): Promise<number> {
  const writing = new CopyIn(into)
  target.query(writing as unknown as pg.Submittable)
  const wire = await Promise.race([writing.isReady, writing.ended.then(() => undefined)])
  if (wire === undefined) throw new Error(`PostgreSQL did not take rows: ${into}`)
  let pieces: Uint8Array[] = []
  let bytes = 0
  const send = (): void => {
    if (bytes > 0) wire.sendCopyFromChunk(Buffer.concat(pieces))
    pieces = []
    bytes = 0
  }
  const reading = new CopyOut(from, (chunk, { stream }) => {
    onRow()
    // The driver uses its buffer again for what follows.
    pieces.push(Buffer.from(chunk))
    bytes += chunk.length
    if (bytes < pieceBytes) return
    send()
    if (!wire.stream.writableNeedDrain) return
    stream.pause()
    wire.stream.once('drain', () => stream.resume())
  })
  source.query(reading as unknown as pg.Submittable)
  // Whichever fails first; a target that refuses a row says so while the source is still sending.
  const read = await Promise.race([reading.ended, writing.ended.then(() => reading.ended)])
  send()
  wire.endCopyFrom()
  const written = await writing.ended
  if (written !== read) throw new Error(`${read} rows were read and ${written} written: ${into}`)
  return written
}
