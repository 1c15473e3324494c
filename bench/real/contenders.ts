// The two sides as the bench sees them: Posthorn with its embedded PostgreSQL, and the hand-made service with a PostgreSQL of the
// same build and settings and a Redis. Each is a set of processes reached over HTTP.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../src/db/connect.ts'
import { joinEmbeddedPostgres } from '../../src/db/embedded/embedded-join.ts'
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import { sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import { askAt, createBatchIntegration, createMailIntegration, createWorkflow } from '../api.ts'
import { untilSent } from '../email.ts'
import type { SideName } from '../options.ts'
import { hasRedis, installBullmq, startRedis } from '../redis.ts'
import { benchKey, startProcess, startService } from '../service.ts'
import { connectTo } from '../stage.ts'
import { untilDone } from '../waiting.ts'
import { regularCount, regularOf, stepsOf, templates } from './content.ts'
import { fillHandMade, fillPosthorn } from './history.ts'
import { memoryMegabytesOf, processorSecondsOf } from './processes.ts'

/** `bare`: the least that takes events and sends them on, see `npm run bench -- floor`. */
export type ContenderName = SideName | 'bare'

export interface Contender {
  readonly name: ContenderName
  readonly port: number
  readonly db: Database
  /** Resolves when everything accepted has been sent and recorded. */
  untilSettled(): Promise<void>
  processorSeconds(): Promise<number>
  memoryMegabytes(): Promise<number>
  walBytes(): Promise<number>
  stop(): Promise<void>
}

export interface Setting {
  /** A folder of the bench's own. */
  readonly directory: string
  readonly sinkPort: number
  /** POSTHORN_PROCESSES; the hand-made service is one process. */
  readonly processes: string | undefined
  /** The provider takes many messages in a call; the hand-made service sends one a call all the same. */
  readonly manyPerCall: boolean
  /** Notifications there are before the load. */
  readonly history: number
}

/** Limits are checked on every call, and never reached. */
const unlimited = {
  POSTHORN_RATE_LIMIT_TRIGGER: '1000000',
  POSTHORN_RATE_LIMIT_CONFIGURATION: '1000000',
  POSTHORN_RATE_LIMIT_GLOBAL: '1000000',
}
/** All was sent, and only the last of it is still to be recorded. */
const lastLooksMs = 10

const starts: Readonly<Record<ContenderName, (setting: Setting) => Promise<Contender>>> = {
  posthorn: startPosthorn,
  handmade: startHandMade,
  bare: startBare,
}

export const startContender = (name: ContenderName, setting: Setting): Promise<Contender> => starts[name](setting)

async function startPosthorn(setting: Setting): Promise<Contender> {
  const dataDirectory = join(setting.directory, 'posthorn')
  await mkdir(dataDirectory, { mode: 0o711 })
  const start = () =>
    startService({
      POSTHORN_DATA_DIR: dataDirectory,
      POSTHORN_OUTBOUND_ALLOW: '127.0.0.1',
      ...unlimited,
      ...(setting.processes === undefined ? {} : { POSTHORN_PROCESSES: setting.processes }),
    })
  let service = await start()
  if (setting.history > 0) {
    await service.stop()
    await fillStopped(dataDirectory, setting.history)
    service = await start()
  }
  const connection = await joinEmbeddedPostgres({ dataDirectory })
  if (connection === undefined) throw new Error('Posthorn runs without its embedded database')
  const db = connectTo(connection)
  await configure(service.port, setting)
  return {
    ...measuredBy('posthorn', service.port, db, [service.pid, await postmasterOf(db)]),
    untilSettled: () => untilDone(db, lastLooksMs),
    stop: async () => {
      await db.close()
      await service.stop()
    },
  }
}

/** The service does not run meanwhile: the indexes go and come. */
async function fillStopped(dataDirectory: string, history: number): Promise<void> {
  const embedded = await startEmbeddedPostgres({ dataDirectory, log: silentLog })
  const db = connectTo(embedded.connection)
  try {
    await fillPosthorn(db, history)
  } finally {
    await db.close()
    await embedded.stop()
  }
}

async function configure(port: number, { sinkPort, manyPerCall }: Setting): Promise<void> {
  const ask = askAt(port)
  await (manyPerCall ? createBatchIntegration : createMailIntegration)(ask, sinkPort)
  for (const [name, template] of Object.entries(templates)) await createWorkflow(ask, name, stepsOf(template))
  await ask('POST', '/v1/subscribers/bulk', { subscribers: regulars.slice(0, regularCount / 2) })
  await ask('POST', '/v1/subscribers/bulk', { subscribers: regulars.slice(regularCount / 2) })
}

async function startHandMade({ directory, sinkPort, history }: Setting): Promise<Contender> {
  if (!hasRedis()) throw new Error('There is no redis-server on the PATH (Debian: apt-get install redis-server)')
  const bullmq = installBullmq()
  if (bullmq === undefined) throw new Error('BullMQ could not be installed from the npm registry')
  const dataDirectory = join(directory, 'handmade')
  await mkdir(dataDirectory, { mode: 0o711 })
  const redis = await startRedis(directory)
  const embedded = await startEmbeddedPostgres({ dataDirectory, log: silentLog })
  const service = await startProcess(['--max-semi-space-size=32', 'bench/baseline/bullmq/service.mjs'], {
    NODE_ENV: 'production',
    BENCH_CONNECTION: JSON.stringify(embedded.connection),
    BENCH_REDIS_PORT: String(redis.port),
    BENCH_SINK_URL: `http://127.0.0.1:${sinkPort}/mail`,
    BENCH_BULLMQ: bullmq,
    BENCH_KEY: benchKey,
    BENCH_TEMPLATES: JSON.stringify(templates),
  })
  const db = connectTo(embedded.connection)
  await db.run(sql`
    insert into subscribers (subscriber_id, first_name, email, data)
    select "subscriberId", "firstName", email, data
    from jsonb_to_recordset(${JSON.stringify(regulars)}::jsonb) as r ("subscriberId" text, "firstName" text, email text, data jsonb)`)
  if (history > 0) await fillHandMade(db, history)
  return {
    ...measuredBy('handmade', service.port, db, [service.pid, redis.pid, await postmasterOf(db)]),
    untilSettled: () => untilSent(service.port),
    stop: async () => {
      await db.close()
      await service.stop()
      await embedded.stop()
      await redis.stop()
    },
  }
}

async function startBare({ directory, sinkPort }: Setting): Promise<Contender> {
  const dataDirectory = join(directory, 'bare')
  await mkdir(dataDirectory, { mode: 0o711 })
  const embedded = await startEmbeddedPostgres({ dataDirectory, log: silentLog })
  const service = await startProcess(['--import', 'tsx', 'bench/baseline/bare-mail-server.ts'], {
    NODE_ENV: 'production',
    BENCH_CONNECTION: JSON.stringify(embedded.connection),
    BENCH_SINK_URL: `http://127.0.0.1:${sinkPort}/mail`,
  })
  const db = connectTo(embedded.connection)
  return {
    ...measuredBy('bare', service.port, db, [service.pid, await postmasterOf(db)]),
    untilSettled: () => untilSent(service.port),
    stop: async () => {
      await db.close()
      await service.stop()
      await embedded.stop()
    },
  }
}

const regulars = Array.from({ length: regularCount }, (_, number) => regularOf(number))

const measuredBy = (name: ContenderName, port: number, db: Database, pids: readonly number[]) => ({
  name,
  port,
  db,
  processorSeconds: () => processorSecondsOf(pids),
  memoryMegabytes: () => memoryMegabytesOf(pids),
  walBytes: () => walBytesOf(db),
})

export async function postmasterOf(db: Database): Promise<number> {
  const row = await db.row<{ directory: string }>(sql`select current_setting('data_directory') as directory`)
  const file = await readFile(join(row?.directory ?? '', 'postmaster.pid'), 'utf8')
  return Number(file.split('\n')[0])
}

async function walBytesOf(db: Database): Promise<number> {
  const row = await db.row<{ bytes: string }>(sql`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as bytes`)
  return Number(row?.bytes)
}
