// One database cluster for a whole test run, with a migrated template. Prints where it is; stops when stdin closes.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/db/connect.ts'
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'

const template = 'posthorn_template'
const poolOptions = { poolSize: 2, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, log: silentLog }

const directory = await mkdtemp(join(tmpdir(), 'posthorn-test-'))
// As root the server runs as nobody, who must be able to enter.
await chmod(directory, 0o711)
// Tests lose nothing of worth in a power cut; without fsync a copy of the template takes 30 ms instead of 300.
// Whoever wants statistics asks for them: autovacuum would look through hundreds of databases meanwhile.
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '200', autovacuum: 'off' }
const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog, settings })
const admin = connect(embedded.connection, poolOptions)
await admin.run(sql`create database posthorn_template`)
await admin.close()
const db = connect({ ...embedded.connection, database: template }, poolOptions)
await migrate(db, await readMigrations())
await db.close()

async function stop(): Promise<void> {
  await embedded.stop()
  await rm(directory, { recursive: true, force: true })
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
process.stdin.on('end', stop).resume()
process.stdout.write(`${JSON.stringify({ ...embedded.connection, template })}\n`)
