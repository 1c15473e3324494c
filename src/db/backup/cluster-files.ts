// Which files of a running PostgreSQL belong in a backup.
// https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP-DATA
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, EmbeddedPostgresError } from '../embedded/embedded-error.ts'

export interface ClusterFile {
  /** Relative to the cluster. */
  readonly path: string
  readonly kind: 'file' | 'directory'
  /** When it was listed. */
  readonly size: number
}

/** What is in them is of the running server alone; the log is read separately, when it is complete. */
const emptiedDirectories: ReadonlySet<string> = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
])
/** The server expects these where its log is. */
const logDirectories = ['pg_wal/archive_status', 'pg_wal/summaries']
const leftOut: ReadonlySet<string> = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'backup_manifest',
  'server.log',
  controlFile(),
])
const temporary = /^(pgsql_tmp.*|pg_internal\.init.*|t\d+_\d+(_\w+)?(\.\d+)?|.*\.tmp)$/

/** The state of the whole cluster: read last, so that it is no older than what it describes. */
export function controlFile(): string {
  return 'global/pg_control'
}

export async function listClusterFiles(cluster: string): Promise<ClusterFile[]> {
  const found = await listBelow(cluster, '')
  const logs = logDirectories.map((path): ClusterFile => ({ path, kind: 'directory', size: 0 }))
  return [...found, ...logs]
}

async function listBelow(cluster: string, below: string): Promise<ClusterFile[]> {
  const files: ClusterFile[] = []
  // A table that is dropped in the meantime takes its files with it.
  const entries = await readdir(join(cluster, below), { withFileTypes: true }).catch(unlessGone([]))
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (leftOut.has(path) || temporary.test(entry.name)) continue
    if (emptiedDirectories.has(path)) {
      files.push({ path, kind: 'directory', size: 0 })
    } else if (entry.isDirectory()) {
      files.push({ path, kind: 'directory', size: 0 }, ...(await listBelow(cluster, path)))
    } else if (entry.isFile()) {
      const found = await stat(join(cluster, path)).catch(unlessGone(undefined))
      if (found !== undefined) files.push({ path, kind: 'file', size: found.size })
    } else {
      throw new EmbeddedPostgresError(
        `${join(cluster, path)} is a link or a special file, which a backup cannot hold. Was the data directory changed manually?`,
      )
    }
  }
  return files
}

/** The segments of the log from one to another, both included, and what is known of earlier timelines. */
export async function listLogFiles(cluster: string, first: string, last: string): Promise<string[]> {
  const names = (await readdir(join(cluster, 'pg_wal'))).sort()
  const segments = names.filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last)
  if (segments[0] !== first || segments.at(-1) !== last) {
    throw new EmbeddedPostgresError('PostgreSQL removed a part of its log during the backup. Run the backup again.')
  }
  return [...names.filter((name) => /^[0-9A-F]{8}\.history$/.test(name)), ...segments].map((name) => `pg_wal/${name}`)
}

export const unlessGone =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (codeOf(error) === 'ENOENT') return value
    throw error
  }
