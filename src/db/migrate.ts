// Forward-only migrations: numbered SQL files, each applied once, in a transaction of its own, under one lock, with a checksum.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './sql.ts'
import { DatabaseUnavailable, sql } from './sql.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
}

/** The database and the code do not match; the message says what to do. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MigrationError'
  }
}

/** Any number; every node asks for the same advisory lock, so one migrates and the others wait. */
const migrationLock = 7_071_955

/** Long enough for an index over a large table, which the service's own statement timeout is not. */
export const migrationTimeoutMs = 3_600_000

/** How a migration waits for a table that others use. */
export interface LockWaits {
  readonly lockWaitMs: number
  readonly triesMax: number
  readonly pauseMs: number
  sleep(ms: number): Promise<unknown>
}

/**
 * Whoever uses a table queues behind a migration that waits for it: less than the lock timeout of the nodes that run
 * meanwhile, and long enough in between for what has queued to be done.
 */
const usualWaits: LockWaits = { lockWaitMs: 2_000, triesMax: 30, pauseMs: 3_000, sleep }

/** Named from one folder up: it is the same place whether this stands in src/db or in the one file of dist/cli. */
const migrationsBeside = new URL('../db/migrations/', import.meta.url)

export async function readMigrations(directory: URL = migrationsBeside): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  const migrations = await Promise.all(
    files.map(async (file) => {
      const match = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)
      if (match === null) throw new MigrationError(`Migration file ${file} is not named NNNN-what-it-does.sql`)
      const text = await readFile(new URL(file, directory), 'utf8')
      return { number: Number(match[1]), name: file, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
  for (const [index, migration] of migrations.entries()) {
    const next = migrations[index + 1]
    if (next?.number === migration.number) {
      throw new MigrationError(`Two migrations have the same number: ${migration.name} and ${next.name}`)
    }
  }
  return migrations
}

/** Applies what is missing and returns the names of what it applied. Of several nodes, each migration is applied by one. */
export async function migrate(
  db: Db,
  migrations: readonly Migration[],
  waits: Partial<LockWaits> = {},
): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const { names, isLast } = await migrateNext(db, migrations, { ...usualWaits, ...waits })
    applied.push(...names)
    if (isLast) return applied
  }
}

/** Until it has the locks that it needs. */
async function migrateNext(db: Db, migrations: readonly Migration[], waits: LockWaits): Promise<Applied> {
  const { lockWaitMs, triesMax, pauseMs, sleep } = waits
  for (let attempt = 1; ; attempt += 1) {
    const progress: Progress = { begun: undefined }
    try {
      return await migrateOnce(db, migrations, lockWaitMs, progress)
    } catch (error) {
      const { begun } = progress
      if (begun === undefined || !isLocked(error)) throw error
      if (attempt >= triesMax) throw new MigrationError(lockedWords(begun, attempt, lockWaitMs))
    }
    await sleep(pauseMs)
  }
}

/** The migration that was begun last: before the first one, waiting is for another node that migrates. */
interface Progress {
  begun: Migration | undefined
}

interface Applied {
  readonly names: readonly string[]
  readonly isLast: boolean
}

const isLocked = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && (error.cause as { code?: unknown } | null)?.code === '55P03'

const lockedWords = ({ name }: Migration, tries: number, lockWaitMs: number): string =>
  `Migration ${name} did not get the lock that it needs in ${tries} tries of ${lockWaitMs / 1000} s: a transaction that is open ` +
  'for long, such as a backup, uses the table. It changed nothing; those before it stay applied. Find the transaction in ' +
  'pg_stat_activity by xact_start, let it end, and start again.'

/** The next one alone: the nodes that run meanwhile do not wait for its tables until later ones have built their indexes. */
async function migrateOnce(
  db: Db,
  migrations: readonly Migration[],
  lockWaitMs: number,
  progress: Progress,
): Promise<Applied> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select set_config('statement_timeout', ${String(migrationTimeoutMs)}, true),
                            set_config('lock_timeout', ${String(migrationTimeoutMs)}, true)`)
    await tx.run(sql`select pg_advisory_xact_lock(${migrationLock})`)
    await tx.run(sql`create table if not exists schema_migrations (
      number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`)
    const applied = await tx.rows<{ number: number; name: string; checksum: string }>(
      sql`select number, name, checksum from schema_migrations order by number`,
    )
    const missing = missingMigrations(migrations, applied)
    await tx.run(sql`select set_config('lock_timeout', ${String(lockWaitMs)}, true)`)
    // An empty database has no one who waits: all at once is quicker, and complete or not there.
    const next = applied.length === 0 ? missing : missing.slice(0, 1)
    for (const migration of next) {
      progress.begun = migration
      await tx.run({ text: migration.text, values: [] })
      await tx.run(sql`insert into schema_migrations (number, name, checksum)
                       values (${migration.number}, ${migration.name}, ${migration.checksum})`)
    }
    return { names: next.map((migration) => migration.name), isLast: next.length === missing.length }
  })
}

function missingMigrations(
  known: readonly Migration[],
  applied: readonly { number: number; name: string; checksum: string }[],
): Migration[] {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]))
  for (const done of applied) {
    const migration = byNumber.get(done.number)
    if (migration === undefined) {
      throw new MigrationError(
        `The database was migrated by a newer version of Posthorn (${done.name} is unknown to this one). Start that version or a later one.`,
      )
    }
    if (migration.checksum !== done.checksum) {
      throw new MigrationError(
        `Migration ${migration.name} was changed after it was applied to this database. Restore the file; write a new migration for the change.`,
      )
    }
  }
  const done = new Set(applied.map((row) => row.number))
  const missing = known.filter((migration) => !done.has(migration.number))
  const last = applied.at(-1)
  const late = missing.find((migration) => last !== undefined && migration.number < last.number)
  if (last !== undefined && late !== undefined) {
    throw new MigrationError(
      `Migration ${late.name} was never applied, though the later ${last.name} was. Give it a number after that one.`,
    )
  }
  return missing
}
