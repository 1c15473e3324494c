// A database of its own for a test file: a copy of the migrated template, dropped afterwards.
import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/connect.ts'
import { connect } from '../../src/db/connect.ts'
import { silentLog } from '../../src/world/log.ts'

export interface TestCluster {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  readonly template: string
}

export interface TestDatabase {
  readonly db: Database
  /** For code that takes an address. */
  readonly url: string
  readonly connection: { host: string; port: number; user: string; database: string }
  /** A second pool on the same database, as another node would have. */
  another(options?: { poolSize?: number; lockTimeoutMs?: number; statementTimeoutMs?: number }): Database
  drop(): Promise<void>
}

export function testCluster(): TestCluster {
  const text = process.env['POSTHORN_TEST_CLUSTER']
  if (text === undefined)
    throw new Error('Run tests through `npm test` (or `npm test -- part-of-a-path`): it starts the database')
  return JSON.parse(text) as TestCluster
}

export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const cluster = testCluster()
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = options.empty ? 'template0' : cluster.template
  // Copied as files: through the log it takes twice the processor.
  await onCluster(cluster, `create database ${name} template ${template} strategy file_copy`)
  const connection = { host: cluster.host, port: cluster.port, user: cluster.user, database: name }
  const pools: Database[] = []
  const another: TestDatabase['another'] = (pool = {}) => {
    const opened = connect(connection, {
      poolSize: pool.poolSize ?? 10,
      // Longer than the service's: on a busy machine the rows of a whole test take long to write.
      statementTimeoutMs: pool.statementTimeoutMs ?? 60_000,
      lockTimeoutMs: pool.lockTimeoutMs ?? 5_000,
      log: silentLog,
    })
    pools.push(opened)
    return opened
  }
  return {
    db: another(),
    url: `postgres://${cluster.user}@localhost:${cluster.port}/${name}?host=${encodeURIComponent(cluster.host)}`,
    connection,
    another,
    drop: async () => {
      await Promise.all(pools.map((pool) => pool.close().catch(() => {})))
      await onCluster(cluster, `drop database ${name} with (force)`)
    },
  }
}

async function onCluster(cluster: TestCluster, statement: string): Promise<void> {
  const { host, port, user, database } = cluster
  const admin = connect(
    { host, port, user, database },
    { poolSize: 1, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, log: silentLog },
  )
  try {
    await admin.run({ text: statement, values: [] })
  } finally {
    await admin.close()
  }
}
