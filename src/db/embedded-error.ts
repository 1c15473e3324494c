// The one error the embedded PostgreSQL throws on purpose: its message tells an operator what to do next.
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** The code of a system or database error (`ENOENT`, `3D000`), if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
