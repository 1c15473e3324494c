// The yardstick for subscriber upserts: a bare Fastify that runs the same coalesced statements and nothing else.
import fastify from 'fastify'
import { createGroup } from '../../src/commit/group.ts'
import { connect } from '../../src/db/connect.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import type { SubscriberFields } from '../../src/domain/people/subscriber.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import { insertEnvironment } from '../../src/store/operate/installation.ts'
import { insertOrganization } from '../../src/store/operate/organizations.ts'
import { findChannels } from '../../src/store/people/subscriber-channels.ts'
import { subscriberOf, upsertSubscribers } from '../../src/store/people/subscribers.ts'
import { silentLog } from '../../src/world/log.ts'

const connection = JSON.parse(process.env['BENCH_CONNECTION'] ?? '{}')
const db = connect(connection, { poolSize: 10, statementTimeoutMs: 15_000, lockTimeoutMs: 5_000, log: silentLog })
await migrate(db, await readMigrations())

const newId = createIdSource()
const now = new Date()
const environment = { id: newId(now), organizationId: newId(now), name: 'Bench' }
await db.transaction(async (tx) => {
  await insertOrganization(tx, { id: environment.organizationId, name: 'Bench', now })
  await insertEnvironment(tx, {
    ...environment,
    parentId: null,
    identifier: 'bench',
    signingSecret: Buffer.alloc(1),
    now,
  })
})

type Creation = SubscriberFields & { subscriberId: string }
const sealer = createSealer([Buffer.alloc(32)])
const group = createGroup<Creation, object>({
  sizeMax: 128,
  keyOf: (creation) => creation.subscriberId,
  commit: (_, creations) =>
    db.transaction(async (tx) => {
      const at = new Date()
      const upserts = creations.map(({ subscriberId, ...fields }) => ({ id: newId(at), subscriberId, fields }))
      const results = await upsertSubscribers(tx, environment, upserts, at)
      const known = results.filter((result) => !result.created).map((result) => result.row.id)
      const channels = known.length === 0 ? new Map() : await findChannels(tx, sealer, environment, known)
      return results.map(({ row }) => subscriberOf(environment, row, channels.get(row.id) ?? []))
    }),
})

const app = fastify()
app.post('/v2/subscribers', async (request, reply) => {
  const body = await group.add(environment, request.body as Creation)
  return reply.code(201).send(body)
})
await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
process.stdout.write(`running at http://localhost:${typeof address === 'object' ? address?.port : ''}\n`)
process.once('SIGTERM', async () => {
  await app.close()
  await db.close()
})
