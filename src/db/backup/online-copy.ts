// Reads a consistent copy of the embedded PostgreSQL while it serves others: its files as they are found, and the log that
// makes them whole. https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Connection } from '../connect.ts'
import { connectionSettings } from '../connect.ts'
import { EmbeddedPostgresError } from '../embedded/embedded-error.ts'
import { controlFile, listClusterFiles, listLogFiles, unlessGone } from './cluster-files.ts'

/** Where the copy goes. A file's content is given as it is read, and has exactly the size that was announced. */
export interface CopySink {
  directory(path: string): Promise<void>
  file(path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>
  /** How many of so many bytes have been read; the log comes on top. */
  progress(doneBytes: number, totalBytes: number): void
}

const chunkBytes = 256 * 1024
/** The start waits for a checkpoint, which may have much to write. */
const answerMsMax = 30 * 60_000
const controlTriesMax = 20

/**
 * One session for all of it: if it ends, so does the backup, and the server lets go of the log that was kept for it (the slot
 * is temporary). What a file was while it was read need not be consistent; the log since the start is replayed over it.
 */
export async function copyOnline(connection: Connection, sink: CopySink): Promise<void> {
  const client = new pg.Client({
    ...connectionSettings(connection),
    query_timeout: answerMsMax,
    statement_timeout: answerMsMax,
    application_name: 'posthorn backup',
  })
  // The statement in progress, or the next one, fails as well.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const cluster = await one(client, `select current_setting('data_directory') as value`)
    // Without it, a checkpoint may remove segments that are still needed.
    await client.query(`select pg_create_physical_replication_slot('posthorn_backup_' || pg_backend_pid(), true, true)`)
    const first = await one(client, `select pg_walfile_name(pg_backup_start('posthorn', true)) as value`)
    await copyFiles(cluster, sink)
    const { rows } = await client.query<{ label: string; last: string }>(
      `select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)`,
    )
    const [stop] = rows
    if (stop === undefined) throw new Error('PostgreSQL did not end the backup')
    for (const path of await listLogFiles(cluster, first, stop.last)) await copyFile(cluster, path, sink)
    await copyText('backup_label', Buffer.from(stop.label), sink)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function one(client: pg.Client, statement: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>(statement)
  return rows[0]?.value ?? ''
}

async function copyFiles(cluster: string, sink: CopySink): Promise<void> {
  const files = await listClusterFiles(cluster)
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0)
  let doneBytes = 0
  for (const { path, kind, size } of files) {
    if (kind === 'directory') await sink.directory(path)
    else await copyFile(cluster, path, sink)
    doneBytes += size
    sink.progress(doneBytes, totalBytes)
  }
  await copyText(controlFile(), await readControlFile(cluster), sink)
}

async function copyFile(cluster: string, path: string, sink: CopySink): Promise<void> {
  const file = await open(join(cluster, path), 'r').catch(unlessGone(undefined))
  if (file === undefined) return
  try {
    const { size } = await file.stat()
    await sink.file(path, size, contentOf(file, size))
  } finally {
    await file.close()
  }
}

const copyText = (path: string, content: Buffer, sink: CopySink): Promise<void> =>
  sink.file(
    path,
    content.length,
    (async function* () {
      yield content
    })(),
  )

/**
 * As much as was announced. A file that grew meanwhile is cut: the log has the rest. One that was cut is filled with zeros: the
 * log cuts it again.
 */
async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(chunkBytes, size - at)), 0, undefined, at)
    const chunk = bytesRead === 0 ? buffer.fill(0) : buffer.subarray(0, bytesRead)
    at += chunk.length
    yield chunk
  }
}

/** The server writes it in one piece, but a reader may see half of that: two readings that agree are whole. */
async function readControlFile(cluster: string): Promise<Buffer> {
  let before = await readWhole(join(cluster, controlFile()))
  for (let tries = 0; tries < controlTriesMax; tries += 1) {
    const now = await readWhole(join(cluster, controlFile()))
    if (now.equals(before)) return now
    before = now
  }
  throw new EmbeddedPostgresError('PostgreSQL keeps changing its control file. Run the backup again.')
}

async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  return file.readFile().finally(() => file.close())
}
