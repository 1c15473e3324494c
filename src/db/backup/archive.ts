// A backup as one file: a compressed tar archive that begins with what it is and ends with the checksums of what it holds.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { lchown, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Connection } from '../connect.ts'
import type { Identity } from '../embedded/embedded-identity.ts'
import { copyOnline } from './online-copy.ts'
import { paddingAfter, type ReadEntry, readTar, TarError, tarEnd, tarHeader, writeTo } from './tar.ts'

/** The first entry: what a restore must know before it reads the rest. */
export interface BackupHeader {
  readonly format: 1
  readonly createdAt: string
  /** The last migration of the database. */
  readonly schema: string
  readonly postgresMajor: number
  /** The sealed check value of the installation, in base64: it opens with the right encryption key only. */
  readonly keyCheck: string
}

/** The last but one: every file in its order, with size and SHA-256. The last is its seal. */
interface BackupManifest {
  readonly header: string
  readonly files: readonly (readonly [path: string, size: number, sha256: string])[]
}

/** Both with the encryption key: whoever does not have it can make no backup that opens. */
export interface BackupSeal {
  seal(text: string): Buffer
  /** Throws if it was sealed with another key, or changed. */
  open(sealed: Buffer): string
}

export type Progress = (doneBytes: number, totalBytes: number) => void

/** It cannot be restored; the message says why. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

const headerPath = 'posthorn-backup.json'
const manifestPath = 'manifest.json'
const sealPath = 'manifest.seal'
const dataFolder = 'postgres/'
/** A quarter of the time of the usual level, for a tenth more bytes. */
const compressionLevel = 2
const textBytesMax = 64 * 1024 * 1024

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Writes to a new file, readable by its owner only, and syncs it to disk. */
export async function writeBackup(
  file: string,
  connection: Connection,
  { header, seal, progress }: { header: BackupHeader; seal: BackupSeal; progress: Progress },
): Promise<void> {
  const gzip = createGzip({ level: compressionLevel })
  // `flush`: synced before it is closed.
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  const now = new Date(header.createdAt)
  const files: BackupManifest['files'][number][] = []
  const add = async (path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<string> => {
    const hash = createHash('sha256')
    await writeTo(gzip, tarHeader({ path, kind: 'file', size, mode: 0o600, modifiedAt: now }))
    for await (const chunk of content) {
      hash.update(chunk)
      await writeTo(gzip, chunk)
    }
    await writeTo(gzip, paddingAfter(size))
    return hash.digest('hex')
  }
  const addText = (path: string, bytes: Buffer): Promise<string> => add(path, bytes.length, chunksOf(bytes))
  const write = async (): Promise<void> => {
    const headerHash = await addText(headerPath, Buffer.from(JSON.stringify(header)))
    await copyOnline(connection, {
      directory: (path) =>
        writeTo(gzip, tarHeader({ path: dataFolder + path, kind: 'directory', size: 0, mode: 0o700, modifiedAt: now })),
      file: async (path, size, content) => {
        files.push([path, size, await add(dataFolder + path, size, content)])
      },
      progress,
    })
    const manifest: BackupManifest = { header: headerHash, files }
    const text = Buffer.from(JSON.stringify(manifest))
    await addText(manifestPath, text)
    await addText(sealPath, seal.seal(hashOf(text)))
    await writeTo(gzip, tarEnd())
    gzip.end()
  }
  await Promise.all([pipeline(gzip, target), write()])
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Reads no further than the first entry. */
export async function readBackupHeader(file: string): Promise<BackupHeader> {
  const stream = openArchive(file)
  try {
    for await (const entry of stream.entries) return await headerOf(entry)
    throw new BackupError('The file is empty')
  } catch (error) {
    throw asBackupError(error)
  } finally {
    stream.close()
  }
}

function openArchive(file: string): { entries: AsyncGenerator<ReadEntry>; position: () => number; close(): void } {
  const source = createReadStream(file)
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error))
  source.pipe(gunzip)
  const close = (): void => {
    source.destroy()
    gunzip.destroy()
  }
  return { entries: readTar(gunzip as Readable), position: () => source.bytesRead, close }
}

async function headerOf(entry: ReadEntry): Promise<BackupHeader> {
  if (entry.path !== headerPath) throw new BackupError('The file is no backup of Posthorn')
  const header = JSON.parse((await textOf(entry)).toString('utf8')) as BackupHeader
  if (header.format !== 1) {
    throw new BackupError(
      'The backup was made by a newer version of Posthorn. Restore it with that version or a later one.',
    )
  }
  return header
}

async function textOf(entry: ReadEntry): Promise<Buffer> {
  if (entry.size > textBytesMax) throw new BackupError('The file is damaged, or is no backup of Posthorn')
  const parts: Buffer[] = []
  for await (const part of entry.content()) parts.push(part)
  return Buffer.concat(parts)
}

/**
 * Unpacks the cluster into a directory that exists and is empty, owned by PostgreSQL's user. Resolves only if every file was there
 * as it was written, and the seal is right.
 */
export async function unpackBackup(
  file: string,
  cluster: string,
  { identity, seal, progress }: { identity: Identity; seal: BackupSeal; progress: (readBytes: number) => void },
): Promise<void> {
  const stream = openArchive(file)
  const found: BackupManifest['files'][number][] = []
  const texts = new Map<string, Buffer>()
  try {
    for await (const entry of stream.entries) {
      const path = entry.path.startsWith(dataFolder) ? entry.path.slice(dataFolder.length) : undefined
      if (path === undefined) texts.set(entry.path, await textOf(entry))
      else if (entry.kind === 'directory') await makeDirectory(join(cluster, path), identity)
      else found.push([path, entry.size, await unpackFile(entry, join(cluster, path), identity)])
      progress(stream.position())
    }
    refuseChanged(texts, found, seal)
  } catch (error) {
    throw asBackupError(error)
  } finally {
    stream.close()
  }
}

async function makeDirectory(path: string, identity: Identity): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  if (identity.switches) await lchown(path, identity.uid, identity.gid)
}

/** Its folder has come before it. Nothing that is there is overwritten. The server syncs all of them before it replays its log. */
async function unpackFile(entry: ReadEntry, path: string, identity: Identity): Promise<string> {
  const hash = createHash('sha256')
  const target = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of entry.content()) {
      hash.update(chunk)
      await target.writeFile(chunk)
    }
    if (identity.switches) await target.chown(identity.uid, identity.gid)
  } finally {
    await target.close()
  }
  return hash.digest('hex')
}

function refuseChanged(texts: ReadonlyMap<string, Buffer>, found: BackupManifest['files'], seal: BackupSeal): void {
  const [header, manifest, sealed] = [headerPath, manifestPath, sealPath].map((path) => texts.get(path))
  if (header === undefined || manifest === undefined || sealed === undefined) {
    throw new BackupError('The backup is not complete: its list of files is missing')
  }
  if (seal.open(sealed) !== hashOf(manifest)) throw new BackupError('The list of files in the backup was changed')
  const { header: headerHash, files } = JSON.parse(manifest.toString('utf8')) as BackupManifest
  const wrong = files.find(([path, size, hash], place) => {
    const [foundPath, foundSize, foundHash] = found[place] ?? []
    return foundPath !== path || foundSize !== size || foundHash !== hash
  })
  if (headerHash !== hashOf(header)) throw new BackupError('The header of the backup was changed')
  if (wrong !== undefined) throw new BackupError(`The backup is damaged: ${wrong[0]} is not as it was written`)
  if (found.length !== files.length) throw new BackupError('The backup has files that are not in its list')
}

/** Of whatever a damaged file leads to. */
function asBackupError(error: unknown): unknown {
  if (error instanceof TarError) return new BackupError(error.message)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('Z_')) return new BackupError('The file is damaged or ends too soon: the backup is not complete')
  if (error instanceof SyntaxError) return new BackupError('The file is damaged, or is no backup of Posthorn')
  return error
}

/** Makes a new name in a directory outlive a power cut. */
export async function syncFolderOf(path: string): Promise<void> {
  const handle = await open(dirname(path), 'r')
  await handle.sync().finally(() => handle.close())
}
