// Moves the embedded database to a PostgreSQL server, while the service is stopped.
import type { Config } from '../config.ts'
import { awaitDatabase } from '../db/await-database.ts'
import type { MovedTable, MoveProgress } from '../db/backup/move-rows.ts'
import { MoveError, moveRows, UnknownMove } from '../db/backup/move-rows.ts'
import { connect } from '../db/connect.ts'
import { migrate, migrationTimeoutMs, readMigrations } from '../db/migrate.ts'
import { ensureInstallation } from '../manage/operate/first-start.ts'
import { reopenInboxes } from '../store/messages/inbox-changes.ts'
import { hasForeignTables, isInstalled } from '../store/operate/installation.ts'
import { deleteHolds, holdMovedAway, movedAway } from '../store/operate/sending-holds.ts'
import type { Log } from '../world/log.ts'
import type { Store } from './store.ts'
import { migrateStore, openStore } from './store.ts'

/**
 * The schema by the migrations, then every row. Before the first of them the embedded database is held, as a whole: from then on
 * it sends nothing, however this ends, so that nothing is sent by both. Where the move fails for certain, it is as it was.
 */
export async function moveTo(config: Config, log: Log, url: string, progress: MoveProgress): Promise<MovedTable[]> {
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
    if (await isInstalled(target)) {
      throw new MoveError(`The database ${name} contains a Posthorn installation already. Nothing was moved.`)
    }
    // Alone on the data directory: a service that runs is named, and nothing is touched.
    const store = await openStore(config, log, { embedded: 'hold', mustExist: true })
    try {
      await migrateStore(store)
      await ensureInstallation(store.db, store.world)
      const moved = await whileHeld(store, async () => {
        await migrate(target, await readMigrations())
        return moveRows(store.connection, { url }, { progress, staysBehind: ownHolds })
      })
      await reopenInboxes(target)
      return moved
    } finally {
      await store.close()
    }
  } finally {
    await target.close()
  }
}

/** The target sends what this database does not send any more; what a restore holds is held there too. */
const ownHolds = { sending_holds: movedAway.text }

async function whileHeld<Result>({ db, world }: Store, work: () => Promise<Result>): Promise<Result> {
  const held = await db.transaction((tx) => holdMovedAway(tx, world.now()))
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UnknownMove)) {
      // Not those that were held before: they may have moved elsewhere, or been restored.
      await db.transaction((tx) => deleteHolds(tx, held))
      throw error
    }
    throw new MoveError(
      `The connection to the target ended at the last step (${error.message}), so it has everything or nothing. Repeat the command: if the target has an installation by then, all of it was moved. Until that is known, the embedded database sends nothing; \`posthorn release\` would let it.`,
    )
  }
}
