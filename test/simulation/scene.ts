// What all seeds share: one database, one API on it, and for each seed an environment, accounts and workflows of its own.

import type { Db, Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { hashOfApiKey, hintOfApiKey } from '../../src/domain/operate/api-key.ts'
import { createServer } from '../../src/http/server.ts'
import { ensureFirstStart } from '../../src/manage/operate/first-start.ts'
import type { Queue } from '../../src/queue/queue.ts'
import type { DecideAtOnce } from '../../src/record/decided-at-once.ts'
import { insertIntegration } from '../../src/store/integrations/integrations.ts'
import { insertApiKey } from '../../src/store/operate/api-keys.ts'
import { insertEnvironment, listEnvironments } from '../../src/store/operate/installation.ts'
import { silentLog } from '../../src/world/log.ts'
import type { World } from '../../src/world/world.ts'
import type { Json, TestReply } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { fakeSmtp } from './fake-smtp.ts'

/** What the API of the present seed works with. */
export interface Present {
  readonly db: Db
  readonly queue: Queue
  /** By the node that made room for the jobs. */
  readonly decideAtOnce?: DecideAtOnce
  nowMs(): number
  random(): number
}

export interface SimulationScene {
  readonly database: TestDatabase
  readonly world: World
  /** Set by each seed before it calls. */
  present: Present
  /** A new environment; its id, and a key to it. */
  environment(name: string): Promise<{ id: string; key: string }>
  call(key: string, method: string, path: string, body?: unknown): Promise<TestReply>
  close(): Promise<void>
}

export const startsAtMs = Date.parse('2026-03-02T09:00:00.000Z')

export async function createScene(): Promise<SimulationScene> {
  fakeSmtp()
  const database = await createTestDatabase()
  const fake = createFakeWorld()
  const world: World = {
    ...fake,
    log: silentLog,
    now: () => new Date(scene.present.nowMs()),
    random: () => scene.present.random(),
  }
  const idle: Queue = { clock: () => sql`now()`, leaseMs: 60_000, reserve: () => undefined, poke: () => {} }
  const outside: Present = { db: database.db, queue: idle, nowMs: () => startsAtMs, random: () => 0.5 }
  const scene: SimulationScene = {
    database,
    world,
    present: outside,
    environment: (name) => environmentOf(database.db, world, name),
    call: async (key, method, path, body) => {
      const reply = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { authorization: `ApiKey ${key}` },
        ...(body === undefined ? {} : { payload: body as object }),
      })
      return { status: reply.statusCode, headers: reply.headers, body: jsonOf(reply.body), text: reply.body }
    },
    close: async () => {
      await app.close()
      await database.drop()
    },
  }
  await ensureFirstStart(database.db, world, { development: 'development-key', production: 'production-key' })
  const app = await createServer(presentDb(scene), world, {
    rateLimits: 'off',
    corsOrigins: [],
    vendor: 'platform',
    baseUrl: 'http://localhost:3000',
    queue: {
      clock: () => scene.present.queue.clock(),
      leaseMs: idle.leaseMs,
      reserve: (count, environmentId) => scene.present.queue.reserve(count, environmentId),
      poke: () => scene.present.queue.poke(),
    },
    decideAtOnce: async (environment, jobs) => scene.present.decideAtOnce?.(environment, jobs),
    poolUsage: () => ({ general: database.db.usage() }),
  })
  await app.ready()
  return scene
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The database of whichever seed runs. */
const presentDb = (scene: { present: Present }): Db => ({
  rows: <Row extends object>(statement: Statement) => scene.present.db.rows<Row>(statement),
  row: <Row extends object>(statement: Statement) => scene.present.db.row<Row>(statement),
  run: (statement) => scene.present.db.run(statement),
  transaction: (work, limits) => scene.present.db.transaction(work, limits),
  together: <Result>(work: (db: Sql) => Promise<Result>) => scene.present.db.together(work),
})

async function environmentOf(db: Db, world: World, name: string): Promise<{ id: string; key: string }> {
  const now = new Date(startsAtMs)
  const id = world.newId(now)
  const key = `simulation-${name}-${id}`
  await db.transaction(async (tx) => {
    const [first] = await listEnvironments(tx)
    if (first === undefined) throw new Error('There is no environment')
    const { organizationId } = first
    const environment = { id, organizationId, name: `${name} ${id}` }
    const signingSecret = world.sealer.seal(id, 'signing-secret', 'version 1', 'ab'.repeat(32))
    await insertEnvironment(tx, { ...environment, parentId: null, identifier: id, signingSecret, now })
    const hash = hashOfApiKey(key)
    const made = { id: world.newId(now), hash, hint: hintOfApiKey(key), scopes: ['full' as const], now }
    await insertApiKey(tx, environment, { ...made, name, configured: false, expiresAt: null, sealedKey: null })
    await insertIntegration(tx, world.sealer, environment, {
      id: world.newId(now),
      identifier: 'platform',
      name: 'In-app',
      providerId: 'platform',
      channel: 'in_app',
      active: true,
      primary: false,
      credentials: {},
      conditions: [],
      now,
    })
  })
  return { id, key }
}
