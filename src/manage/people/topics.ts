// Topics: create or update, rename, delete.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NewTopic, Topic } from '../../domain/people/topic.ts'
import { conflict, notFound, Problem } from '../../domain/problem.ts'
import { leaveSubscriptionsToSweep } from '../../store/people/topic-subscriptions.ts'
import { deleteTopic, findTopic, holdTopic, insertTopic, renameTopic } from '../../store/people/topics.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

/** Each try is lost only to a topic that others create and delete between two of our statements. */
const ensureTriesMax = 3

export async function upsertTopic(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { topic: NewTopic; failIfExists: boolean },
): Promise<Answer<Topic>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const { key, name } = call.topic
    const { topic, isNew } = await ensureTopic(tx, world, environment, call.topic)
    if (isNew) return created(topic)
    if (call.failIfExists) throw conflict(`Topic with key "${key}" already exists`, topic)
    return ok(name === undefined || name === '' ? topic : await renamed(tx, world, environment, key, name))
  })
}

export async function changeTopic(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { key: string; name: string },
): Promise<Answer<Topic>> {
  return once(db, world, environment, call.idempotency, async (tx) =>
    ok(await renamed(tx, world, environment, call.key, call.name)),
  )
}

export async function removeTopic(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { key: string },
): Promise<Answer<{ acknowledged: true }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const id = await deleteTopic(tx, environment, call.key)
    if (id === undefined) throw unknownTopic(call.key)
    await leaveSubscriptionsToSweep(tx, environment, id)
    return ok({ acknowledged: true })
  })
}

/** The topic with this key, created if there is none; it cannot be deleted before the transaction ends. */
export async function ensureTopic(
  tx: Tx,
  world: World,
  environment: Environment,
  wanted: NewTopic,
): Promise<{ topic: Topic; isNew: boolean }> {
  for (let attempt = 1; attempt <= ensureTriesMax; attempt += 1) {
    const existing = await holdTopic(tx, environment, wanted.key)
    if (existing !== undefined) return { topic: existing, isNew: false }
    const now = world.now()
    const inserted = await insertTopic(tx, environment, { ...wanted, id: world.newId(now), now })
    if (inserted !== undefined) return { topic: inserted, isNew: true }
  }
  throw new Problem(503, `Topic with key ${wanted.key} is being created and deleted by other calls; please try again`, {
    headers: { 'retry-after': '1' },
  })
}

async function renamed(tx: Tx, world: World, environment: Environment, key: string, name: string): Promise<Topic> {
  const topic =
    (await renameTopic(tx, environment, key, { name, now: world.now() })) ?? (await findTopic(tx, environment, key))
  if (topic === undefined) throw unknownTopic(key)
  return topic
}

export const unknownTopic = (key: string) => notFound(`Topic with key ${key} not found`)
