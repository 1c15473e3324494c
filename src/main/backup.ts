// Backup and restore of the embedded database. The encryption key is in none of it.
import { randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { BackupHeader, BackupSeal, Progress } from '../db/backup/archive.ts'
import { BackupError, readBackupHeader, syncFolderOf, unpackBackup, writeBackup } from '../db/backup/archive.ts'
import type { Replacement } from '../db/embedded/embedded-replace.ts'
import { prepareReplacement } from '../db/embedded/embedded-replace.ts'
import type { Sealer } from '../domain/operate/sealed.ts'
import { createSealer, UnsealError } from '../domain/operate/sealed.ts'
import { ensureInstallation, opensCheck, StartError } from '../manage/operate/first-start.ts'
import { holdSending } from '../manage/recovery/sending-hold.ts'
import { findEncryptionCheck, findLastMigration, findServerMajor } from '../store/operate/installation.ts'
import { readKeyFile } from '../world/key-file.ts'
import type { Log } from '../world/log.ts'
import { migrateStore, openStore } from './store.ts'

/** Also while the service runs. Nothing of the name is there before the backup is complete, and on disk. */
export async function backUp(config: Config, log: Log, file: string, progress: Progress): Promise<{ bytes: number }> {
  if (await sizeOf(file)) throw new BackupError(`${file} exists already. Choose another name.`)
  const store = await openStore(config, log, { embedded: 'join', mustExist: true })
  const aside = `${file}.part-${randomBytes(4).toString('hex')}`
  try {
    const { db, world, connection } = store
    const check = await findEncryptionCheck(db)
    if (check === undefined) throw new StartError('The database contains no installation: there is nothing to back up.')
    const header: BackupHeader = {
      format: 1,
      createdAt: world.now().toISOString(),
      schema: await findLastMigration(db),
      postgresMajor: await findServerMajor(db),
      keyCheck: check.toString('base64'),
    }
    await writeBackup(aside, connection, { header, seal: sealOf(world.sealer), progress })
    await rename(aside, file)
    await syncFolderOf(resolve(file))
    return { bytes: (await sizeOf(file)) ?? 0 }
  } finally {
    await rm(aside, { force: true })
    await store.close()
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ size }) => Math.max(1, size),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new BackupError(error.message)
    },
  )
}

const sealOf = (sealer: Sealer): BackupSeal => ({
  seal: (text) => sealer.seal('installation', 'backup', 'manifest', text),
  open: (sealed) => {
    try {
      return sealer.open('installation', 'backup', 'manifest', sealed)
    } catch (error) {
      if (error instanceof UnsealError) throw new BackupError('The backup was changed after it was made.')
      throw error
    }
  },
})

export interface Restored {
  readonly backupAt: string
  readonly dataDirectory: string
  /** Where the previous database is now. */
  readonly replaced: string | undefined
  /** How many environments send nothing until they are released. */
  readonly held: number
}

/**
 * Everything happens beside the present database: it is unpacked, verified, started, migrated and stopped there, and takes its
 * place with a rename at the very end. A restore that fails, or is killed, changes nothing.
 */
export async function restore(
  config: Config,
  log: Log,
  file: string,
  { replaces, progress }: { replaces: boolean; progress: Progress },
): Promise<Restored> {
  const totalBytes = await sizeOf(file)
  if (totalBytes === undefined) throw new BackupError(`${file} does not exist`)
  const header = await readBackupHeader(file)
  const sealer = await sealerFor(config, header)
  const { stateHome } = config
  const dataDirectory = resolve(config.dataDirectory)
  const replacement = await prepareReplacement({ dataDirectory, stateHome, log, replaces })
  try {
    const { cluster, identity, postgresMajor } = replacement
    if (header.postgresMajor !== postgresMajor) {
      throw new BackupError(
        `The backup is of PostgreSQL ${header.postgresMajor}, and this version of Posthorn includes PostgreSQL ${postgresMajor}. Restore it with the version that made it.`,
      )
    }
    const read = (bytes: number): void => progress(bytes, totalBytes)
    await unpackBackup(file, cluster, { identity, seal: sealOf(sealer), progress: read })
    const held = await bringToOrder(config, log, replacement, new Date(header.createdAt))
    const replaced = await replacement.commit(new Date())
    return { backupAt: header.createdAt, dataDirectory, replaced, held }
  } finally {
    await replacement.release()
  }
}

/** The keys at hand, if one of them is that of the backup. */
async function sealerFor(config: Config, { keyCheck }: BackupHeader): Promise<Sealer> {
  const file = join(resolve(config.dataDirectory), 'encryption.key')
  const current = config.encryptionKey ?? (await readKeyFile(file))
  if (current === undefined) {
    throw new BackupError(
      `A backup does not contain the encryption key, and there is none here: set POSTHORN_ENCRYPTION_KEY, or put the file encryption.key of the backed-up service at ${file}.`,
    )
  }
  const previous = config.previousEncryptionKey
  const sealer = createSealer([current, ...(previous === undefined ? [] : [previous])])
  if (opensCheck(sealer, Buffer.from(keyCheck, 'base64'))) return sealer
  const where = config.encryptionKey === undefined ? file : 'POSTHORN_ENCRYPTION_KEY'
  throw new BackupError(
    `The encryption key in ${where} is not the one of this backup: nothing secret in it could be decrypted. Nothing was changed.`,
  )
}

/** Replays the log, brings the schema up to date, and holds what would be sent. Says how many environments are held. */
async function bringToOrder(config: Config, log: Log, replacement: Replacement, backupAt: Date): Promise<number> {
  const server = await replacement.start()
  try {
    const store = await openStore(config, log, { embedded: server.connection, mustExist: true })
    try {
      await migrateStore(store)
      await ensureInstallation(store.db, store.world)
      return await holdSending(store.db, { heldAt: store.world.now(), backupAt })
    } finally {
      await store.close()
    }
  } finally {
    await server.stop()
  }
}
