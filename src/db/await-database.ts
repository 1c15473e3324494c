// Waits at startup until the database responds, with back-off, and refuses one that Posthorn cannot work with.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../world/log.ts'
import type { Sql } from './sql.ts'
import { DatabaseUnavailable, sql } from './sql.ts'

export interface Wait {
  /** The name of the database in messages: never the whole URL, which contains a password. */
  readonly name: string
  readonly waitMs: number
  readonly log: Log
  readonly signal?: AbortSignal | undefined
}

/** The database cannot be used as it is; the message says why. */
export class UnusableDatabase extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UnusableDatabase'
  }
}

const firstPauseMs = 250
const pauseMsMax = 5_000
/** `nulls not distinct` came with 15. */
const versionMin = 15

/** Throws when the database stays away longer than `waitMs`, or is one we cannot use. */
export async function awaitDatabase(db: Sql, wait: Wait): Promise<void> {
  const deadline = performance.now() + wait.waitMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return refuseUnfit(await introduce(db), wait.name)
    } catch (error) {
      if (error instanceof UnusableDatabase) throw error
      const reason = reasonOf(error)
      if (reason.includes('unsupported startup parameter')) throw hiddenPooler(wait.name, reason, error)
      if (!(error instanceof DatabaseUnavailable)) {
        throw new UnusableDatabase(`The database ${wait.name} refused the connection: ${reason}`, error)
      }
      if (wait.signal?.aborted === true) {
        throw new UnusableDatabase(`Stopped while waiting for the database ${wait.name}: ${reason}`, error)
      }
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) {
        throw new UnusableDatabase(
          `The database ${wait.name} did not respond within ${wait.waitMs / 1000} s (${attempt} attempts): ${reason}. ` +
            'Is it running, and is DATABASE_URL correct?',
          error,
        )
      }
      const pauseMs = Math.min(firstPauseMs * 2 ** (attempt - 1), pauseMsMax, leftMs)
      wait.log.warn({ attempt, reason, pauseMs: Math.round(pauseMs) }, `The database ${wait.name} does not respond yet`)
      await sleep(pauseMs, undefined, wait.signal === undefined ? {} : { signal: wait.signal }).catch(() => {})
    }
  }
}

/** PgBouncer's message for what a server accepts and a pooler does not: waiting does not help. */
function hiddenPooler(name: string, reason: string, cause: unknown): UnusableDatabase {
  const advice = 'If it runs in transaction mode, set POSTHORN_DATABASE_POOLER=transaction.'
  return new UnusableDatabase(`The database ${name} is reached through a pooler (${reason}). ${advice}`, cause)
}

interface Introduction {
  readonly version: number
  readonly encoding: string
}

async function introduce(db: Sql): Promise<Introduction> {
  const row = await db.row<Introduction>(sql`
    select current_setting('server_version_num')::integer / 10000 as version,
           current_setting('server_encoding') as encoding`)
  return row ?? { version: 0, encoding: '' }
}

function refuseUnfit({ version, encoding }: Introduction, name: string): void {
  if (version < versionMin) {
    throw new UnusableDatabase(`The database ${name} is PostgreSQL ${version}; Posthorn needs ${versionMin} or later.`)
  }
  if (encoding !== 'UTF8') {
    throw new UnusableDatabase(`The database ${name} has the encoding ${encoding}; Posthorn needs UTF8.`)
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  // Node tries every address of a name and reports an error without words of its own.
  return cause.message || String((cause as NodeJS.ErrnoException).code ?? cause.name)
}
