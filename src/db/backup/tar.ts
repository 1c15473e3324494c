// The part of the tar format that a backup needs: plain files and directories, written and read as streams.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

export interface TarEntry {
  /** With slashes, relative, without `.` and `..`. */
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly size: number
  readonly mode: number
  readonly modifiedAt: Date
}

/** The archive ends too soon, or is none. */
export class TarError extends Error {
  override readonly name = 'TarError'
}

const blockBytes = 512
const nameBytesMax = 100
const prefixBytesMax = 155
/** Eleven octal digits. PostgreSQL divides its files at 1 GiB. */
const sizeMax = 0o77777777777
const magic = 'ustar\u000000'

export function tarHeader({ path, kind, size, mode, modifiedAt }: TarEntry): Buffer {
  const { name, prefix } = dividedPath(kind === 'directory' ? `${path}/` : path)
  if (size > sizeMax) throw new TarError(`${path} is too large for the archive: ${size} bytes`)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, offset: number, length: number): void =>
    void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, 'latin1')
  header.write(name, 0, 'utf8')
  octal(mode & 0o7777, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(kind === 'file' ? size : 0, 124, 12)
  octal(Math.max(0, Math.floor(modifiedAt.getTime() / 1000)), 136, 12)
  header.write(kind === 'file' ? '0' : '5', 156, 'latin1')
  header.write(magic, 257, 'latin1')
  header.write(prefix, 345, 'utf8')
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** A long path is divided at a slash; one that cannot be is refused. */
function dividedPath(path: string): { name: string; prefix: string } {
  if (!isSafePath(path)) throw new TarError(`The archive cannot hold a file called ${path}`)
  if (Buffer.byteLength(path) <= nameBytesMax) return { name: path, prefix: '' }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    const fits = Buffer.byteLength(name) <= nameBytesMax && Buffer.byteLength(prefix) <= prefixBytesMax
    if (fits && name !== '') return { name, prefix }
  }
  throw new TarError(`The path is too long for the archive: ${path}`)
}

function isSafePath(path: string): boolean {
  const parts = path.replace(/\/$/, '').split('/')
  return !path.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..')
}

/** The sum of its bytes, with the field of the sum itself as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (let at = 0; at < blockBytes; at += 1) sum += at >= 148 && at < 156 ? 0x20 : (header[at] ?? 0)
  return sum
}

export const paddingAfter = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)
export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes)

/** Writes one chunk, and waits while the reader is behind. */
export async function writeTo(stream: Writable, chunk: Uint8Array): Promise<void> {
  if (chunk.length > 0 && !stream.write(chunk)) await once(stream, 'drain')
}

export interface ReadEntry extends TarEntry {
  /** What is left unread is skipped. */
  content(): AsyncGenerator<Buffer>
}

/** Entry by entry, never more than a chunk in memory. Throws unless the archive ends as it should. */
export async function* readTar(stream: Readable): AsyncGenerator<ReadEntry> {
  const source = new Blocks(stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>)
  for (;;) {
    const header = await source.take(blockBytes)
    if (header.every((byte) => byte === 0)) return
    const entry = parseHeader(header)
    let left = entry.size
    const content = async function* (): AsyncGenerator<Buffer> {
      while (left > 0) {
        const chunk = await source.some(left)
        left -= chunk.length
        yield chunk
      }
    }
    yield { ...entry, content }
    while (left > 0) left -= (await source.some(left)).length
    await source.take(paddingAfter(entry.size).length)
  }
}

function parseHeader(header: Buffer): TarEntry {
  const text = (offset: number, length: number): string => {
    const field = header.subarray(offset, offset + length)
    const end = field.indexOf(0)
    return field.subarray(0, end === -1 ? length : end).toString('utf8')
  }
  const number = (offset: number, length: number): number => Number.parseInt(text(offset, length).trim() || '0', 8)
  const type = text(156, 1)
  const prefix = text(345, prefixBytesMax)
  const whole = prefix === '' ? text(0, nameBytesMax) : `${prefix}/${text(0, nameBytesMax)}`
  const size = number(124, 12)
  const isRight = header.subarray(257, 262).toString('latin1') === 'ustar' && number(148, 8) === checksumOf(header)
  if (!isRight || !isSafePath(whole) || !(size >= 0) || (type !== '0' && type !== '5')) {
    throw new TarError('The file is damaged, or is no backup of Posthorn')
  }
  const kind = type === '5' ? 'directory' : 'file'
  return {
    path: whole.replace(/\/$/, ''),
    kind,
    size: kind === 'directory' ? 0 : size,
    mode: number(100, 8),
    modifiedAt: new Date(number(136, 12) * 1000),
  }
}

/** Bytes in the sizes that are asked for. */
class Blocks {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source
  }

  /** At least one, at most this many. */
  async some(max: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next()
      if (done === true) throw new TarError('The file ends too soon: the backup is not complete')
      this.#rest = value
    }
    const chunk = this.#rest.subarray(0, max)
    this.#rest = this.#rest.subarray(chunk.length)
    return chunk
  }

  /** Exactly this many: a header, or padding. */
  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = count; left > 0; ) {
      const chunk = await this.some(left)
      parts.push(chunk)
      left -= chunk.length
    }
    return Buffer.concat(parts)
  }
}
