// The file the embedded PostgreSQL writes its own log to: opened for it, kept within a bound, quoted when a start fails.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'

/** Weeks of ordinary talk; a server in distress fills this in minutes, and only the end of it is of use. */
const logBytesMax = 16 * 1024 * 1024
const logBytesKept = 4 * 1024 * 1024
const quotedBytesMax = 4096
const quotedLinesMax = 12

function logFileOf(cluster: string): string {
  return join(cluster, 'server.log')
}

/** For appending: every writer lands at the end, also after the file was cut. The directory is not ours, so no link is followed. */
export function openLogFile(cluster: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants
  return open(logFileOf(cluster), O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
}

/** Cuts a log that grew too long down to its end. Lines written during the cut are lost, which beats a full disk. */
export async function boundLogFile(cluster: string, bytesMax = logBytesMax, bytesKept = logBytesKept): Promise<void> {
  const file = await openLogFile(cluster)
  try {
    const { size } = await file.stat()
    if (size <= bytesMax) return
    const end = await readEnd(file, Math.max(0, size - bytesKept), bytesKept)
    await file.truncate(0)
    await file.appendFile(end.subarray(end.indexOf('\n') + 1))
  } finally {
    await file.close()
  }
}

/** The last lines written at or after `offset`. */
export async function quoteLogFile(cluster: string, offset: number): Promise<string> {
  const file = await openLogFile(cluster)
  try {
    const { size } = await file.stat()
    const end = await readEnd(file, Math.max(offset, size - quotedBytesMax), quotedBytesMax)
    return end.toString('utf8').trimEnd().split('\n').slice(-quotedLinesMax).join('\n')
  } finally {
    await file.close()
  }
}

async function readEnd(file: FileHandle, offset: number, lengthMax: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(lengthMax), 0, lengthMax, offset)
  return buffer.subarray(0, bytesRead)
}
