// Disk and permission errors, in words for an operator.
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'

const user = (): string => (process.geteuid === undefined ? 'this user' : `user ${process.geteuid()}`)

const reasons: Readonly<Record<string, () => string>> = {
  EROFS: () => 'its file system is read-only',
  EACCES: () => `${user()} may not write there`,
  EPERM: () => `the system does not let ${user()} change it`,
  ENOSPC: () => 'its disk is full',
  EDQUOT: () => `the disk quota of ${user()} is used up`,
  EIO: () => 'its disk reports an input/output error',
}

/** Undefined for any other error. The system's own words follow in brackets: they name the file. */
export function diskTroubleOf(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const reason = typeof code === 'string' ? reasons[code] : undefined
  return reason === undefined ? undefined : `${reason()} (${String(message)})`
}

/** The same for something that could not be created at `path`: Node reports ENOENT if everything above is read-only. */
export async function diskTroubleAt(path: string, error: unknown): Promise<string | undefined> {
  if (codeOf(error) !== 'ENOENT') return diskTroubleOf(error)
  for (let place = path; ; place = dirname(place)) {
    const refused: unknown = await access(place, constants.W_OK).catch((reason: unknown) => reason)
    if (codeOf(refused) !== 'ENOENT' || place === dirname(place)) return diskTroubleOf(refused)
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code
