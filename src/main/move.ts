// Moves the embedded database to a PostgreSQL server, while the service is stopped.
import type { Config } from '../config.ts'
import { awaitDatabase } from '../db/await-database.ts'
import type { MovedTable, MoveProgress } from '../db/backup/move-rows.ts'
import { MoveError, moveRows, UnknownMove } from '../db/backup/move-rows.ts'
import { connect } from '../db/connect.ts'
import { migrate, migrationTimeoutMs, readMigrations } from '../db/migrate.ts'
import type { Sql } from '../db/sql.ts'
import { ensureInstallation } from '../manage/operate/first-start.ts'
import { reopenInboxes } from '../store/messages/inbox-changes.ts'
import { findAuditEntry, findAuditHead } from '../store/operate/audit-log.ts'
import { hasForeignTables, isInstalled, listAllEnvironments } from '../store/operate/installation.ts'
import {
  hasMovedAway,
  heldByMoveAlone,
  holdMovedAway,
  holdsOfRestores,
  undoMovedAway,
} from '../store/operate/sending-holds.ts'
import type { Log } from '../world/log.ts'
import type { Store } from './store.ts'
import { migrateStore, openStore } from './store.ts'

/**
 * The schema by the migrations, then every row. Before the first of them the embedded database is held, as a whole: from then on
 * it sends nothing, however this ends, so that nothing is sent by both. Where the move fails for certain, it is as it was.
 * Undefined where everything is there from an earlier call.
 */
export async function moveTo(
  config: Config,
  log: Log,
  url: string,
  progress: MoveProgress,
): Promise<MovedTable[] | undefined> {
  const timeouts = { statementTimeoutMs: migrationTimeoutMs, lockTimeoutMs: migrationTimeoutMs }
  const target = connect({ url }, { ...timeouts, poolSize: 1, log })
  try {
    const name = new URL(url).pathname.slice(1)
    await awaitDatabase(target, { name, waitMs: config.databaseWaitMs, log })
    if (await hasForeignTables(target)) {
      throw new MoveError(
        `The database ${name} has tables that are not Posthorn's. Create a database for Posthorn alone.`,
      )
    }
    const isTaken = await isInstalled(target)
    // Alone on the data directory: a service that runs is named, and nothing is touched.
    const store = await openStore(config, log, { embedded: 'hold', mustExist: true })
    try {
      await migrateStore(store)
      if (isTaken) {
        if (await wasMoved(store.db, target)) return undefined
        throw new MoveError(
          `The database ${name} contains a Posthorn installation already. This command moved nothing.`,
        )
      }
      await ensureInstallation(store.db, store.world)
      return await whileHeld(store, async () => {
        await migrate(target, await readMigrations())
        return moveRows(store.connection, { url }, { progress, staysBehind: ownHolds, last })
      })
    } finally {
      await store.close()
    }
  } finally {
    await target.close()
  }
}

/** The target sends what this database does not send any more; what a restore holds is held there too. */
const ownHolds = { sending_holds: heldByMoveAlone.text }
const last = [reopenInboxes.text, holdsOfRestores.text]

/**
 * The ids of environments are random: another database has those of this one from here. If it is from an earlier move, which was
 * followed by a release, then the audit log of here has an entry about that, and the other has not.
 */
async function wasMoved(source: Sql, target: Sql): Promise<boolean> {
  if (!(await hasMovedAway(source))) return false
  const there = new Set((await listAllEnvironments(target)).map(({ id }) => id))
  for (const environment of await listAllEnvironments(source)) {
    if (!there.has(environment.id)) return false
    const { seq, hash } = await findAuditHead(source, environment)
    if (seq > 0 && (await findAuditEntry(target, environment, seq))?.hash !== hash) return false
  }
  return true
}

async function whileHeld<Result>({ db, world }: Store, work: () => Promise<Result>): Promise<Result> {
  const moving = await db.transaction((tx) => holdMovedAway(tx, world.now()))
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UnknownMove)) {
      // Not what had moved before: that may be elsewhere.
      await db.transaction((tx) => undoMovedAway(tx, moving))
      throw error
    }
    throw new MoveError(
      `The connection to the target ended at the last step (${error.message}), so it has everything or nothing. Repeat the command: it says that all of it was moved, or moves it. Until that is known, the embedded database sends nothing; \`posthorn release\` would let it.`,
    )
  }
}
