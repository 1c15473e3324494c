// /health: the process lives. /ready: it can do its work.
import type { FastifyInstance } from 'fastify'
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { World } from '../world/world.ts'

export interface HealthOptions {
  workerIsReady?: (() => boolean) | undefined
  /** Whether sending is held after a restore; requests are served as ever. */
  sendingIsHeld?: (() => boolean) | undefined
  /** Which process responds, if several form one service. */
  readonly process?: number | undefined
}

export function installHealth(app: FastifyInstance, db: Sql, world: World, options: HealthOptions): void {
  const { workerIsReady, sendingIsHeld, process } = options
  /** One look for all who ask meanwhile: no key is needed to ask. */
  let looking: Promise<unknown> | undefined
  const look = (): Promise<unknown> => {
    looking ??= db.row(sql`select 1 as one`).finally(() => {
      looking = undefined
    })
    return looking
  }
  app.get('/health', async () => (process === undefined ? { status: 'ok' } : { status: 'ok', process }))
  app.get('/ready', async (_request, reply) => {
    try {
      await look()
      if (workerIsReady === undefined) return { status: 'ready', database: 'up' }
      const held = sendingIsHeld?.() === true ? { sending: 'held' } : {}
      if (workerIsReady()) return { status: 'ready', database: 'up', worker: 'up', ...held }
      return reply.code(503).send({ status: 'not ready', database: 'up', worker: 'down' })
    } catch (error) {
      world.log.warn({ error: (error as Error).message }, 'Not ready: the database did not answer')
      return reply.code(503).send({ status: 'not ready', database: 'down' })
    }
  })
}
