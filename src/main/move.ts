// Moves the embedded database to a PostgreSQL server, while the service is stopped.
import type { Config } from '../config.ts'
import { awaitDatabase } from '../db/await-database.ts'
import type { MovedTable, MoveProgress } from '../db/backup/move-rows.ts'
import { MoveError, moveRows } from '../db/backup/move-rows.ts'
import { connect } from '../db/connect.ts'
import { migrate, migrationTimeoutMs, readMigrations } from '../db/migrate.ts'
import { ensureInstallation } from '../manage/operate/first-start.ts'
import { holdSending } from '../manage/recovery/sending-hold.ts'
import { reopenInboxes } from '../store/messages/inbox-changes.ts'
import { hasForeignTables, isInstalled } from '../store/operate/installation.ts'
import type { Log } from '../world/log.ts'
import { migrateStore, openStore } from './store.ts'

/**
 * The schema by the migrations, then every row. The embedded database stays as it is, and is held: if it is started again by
 * mistake, it sends nothing that the server sends too.
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
      await migrate(target, await readMigrations())
      const moved = await moveRows(store.connection, { url }, progress)
      await reopenInboxes(target)
      const now = store.world.now()
      await holdSending(store.db, { heldAt: now, backupAt: now })
      return moved
    } finally {
      await store.close()
    }
  } finally {
    await target.close()
  }
}
