// The one error the embedded PostgreSQL throws on purpose: its message tells the operator what to do next.
import { diskTroubleAt } from '../../world/disk-trouble.ts'

export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** Undefined if neither the disk nor its permissions are the problem. */
export async function unusableDirectory(
  dataDirectory: string,
  cause: unknown,
): Promise<EmbeddedPostgresError | undefined> {
  const trouble = await diskTroubleAt(dataDirectory, cause)
  if (trouble === undefined) return undefined
  return new EmbeddedPostgresError(
    `The data directory ${dataDirectory} cannot be used: ${trouble}. ` +
      'Fix the problem, choose another directory with POSTHORN_DATA_DIR, or set DATABASE_URL to a PostgreSQL server of your own.',
    { cause },
  )
}

/** The code of a system or database error (`ENOENT`, `3D000`), if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
