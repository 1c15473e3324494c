// Creating subscribers one by one: concurrent calls share a commit.
import { createGroup, type Group } from '../../commit/group.ts'
import { claimCalls, keepAnswers } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Subscriber, SubscriberFields } from '../../domain/people/subscriber.ts'
import { conflict, Problem } from '../../domain/problem.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import {
  findSubscriberRows,
  insertMissing,
  type SubscriberRow,
  subscriberOf,
  upsertSubscribers,
} from '../../store/people/subscribers.ts'
import type { World } from '../../world/world.ts'

export interface NewSubscriber extends SubscriberFields {
  readonly subscriberId: string
}

export interface SubscriberCreation {
  readonly subscriber: NewSubscriber
  readonly failIfExists: boolean
  readonly idempotency: Idempotency | undefined
}

export type SubscriberCreations = Group<SubscriberCreation, Answer<Subscriber>>

/** Large enough that callers share the cost of a commit, small enough that the last of them does not wait long. */
const creationsPerCommitMax = 128

export function createSubscriberCreations(db: Db, world: World): SubscriberCreations {
  return createGroup({
    sizeMax: creationsPerCommitMax,
    keyOf: (creation) => creation.subscriber.subscriberId,
    commit: (environment, creations) => db.transaction((tx) => commitCreations(tx, world, environment, creations)),
  })
}

async function commitCreations(
  tx: Tx,
  world: World,
  environment: Environment,
  creations: readonly SubscriberCreation[],
): Promise<(Answer<Subscriber> | Problem)[]> {
  const keyed = creations.flatMap((creation) => creation.idempotency ?? [])
  const claims = keyed.length === 0 ? [] : await claimCalls<Subscriber>(tx, world, environment, keyed)
  const claimOf = new Map(keyed.map((idempotency, index) => [idempotency, claims[index]]))
  const settled = creations.map((creation) => creation.idempotency && claimOf.get(creation.idempotency))
  const open = creations.filter((_, index) => settled[index] === undefined)
  const results = await carryOut(tx, world, environment, open)
  await keepAnswers(
    tx,
    world,
    environment,
    open.flatMap(({ idempotency }, index) => {
      const answer = results[index]
      return idempotency === undefined || answer === undefined || answer instanceof Problem
        ? []
        : [{ idempotency, answer }]
    }),
  )
  const next = results.values()
  return settled.map((result) => result ?? (next.next().value as Answer<Subscriber> | Problem))
}

async function carryOut(
  tx: Tx,
  world: World,
  environment: Environment,
  creations: readonly SubscriberCreation[],
): Promise<(Answer<Subscriber> | Problem)[]> {
  if (creations.length === 0) return []
  const now = world.now()
  const upsertOf = ({ subscriber: { subscriberId, ...fields } }: SubscriberCreation) => ({
    id: world.newId(now),
    subscriberId,
    fields,
  })
  const strict = creations.filter((creation) => creation.failIfExists).map(upsertOf)
  const lenient = creations.filter((creation) => !creation.failIfExists).map(upsertOf)
  const fresh = strict.length === 0 ? [] : await insertMissing(tx, environment, strict, now)
  const freshIds = new Set(fresh.map((row) => row.subscriber_id))
  const refused = strict.map((upsert) => upsert.subscriberId).filter((id) => !freshIds.has(id))
  const existing = refused.length === 0 ? [] : await findSubscriberRows(tx, environment, refused)
  const upserted = lenient.length === 0 ? [] : await upsertSubscribers(tx, environment, lenient, now)
  const rows = [...fresh, ...existing, ...upserted.map((upsert) => upsert.row)]
  const newRows = new Set([...fresh, ...upserted.filter((upsert) => upsert.created).map((upsert) => upsert.row)])
  const subscribers = await withChannels(tx, world, environment, rows, newRows)
  const taken = new Set(refused)
  return creations.map(({ subscriber: { subscriberId } }) => {
    const subscriber = subscribers.get(subscriberId)
    if (subscriber === undefined)
      return new Problem(409, `Subscriber with id "${subscriberId}" was deleted in the meantime`)
    if (taken.has(subscriberId)) return conflict(`Subscriber with id "${subscriberId}" already exists`, subscriber)
    return created(subscriber)
  })
}

/** A subscriber that was inserted just now has no channels yet: no need to ask. */
async function withChannels(
  tx: Tx,
  world: World,
  environment: Environment,
  rows: readonly SubscriberRow[],
  fresh: ReadonlySet<SubscriberRow>,
): Promise<Map<string, Subscriber>> {
  const known = rows.filter((row) => !fresh.has(row)).map((row) => row.id)
  const channels = known.length === 0 ? new Map() : await findChannels(tx, world.sealer, environment, known)
  return new Map(rows.map((row) => [row.subscriber_id, subscriberOf(environment, row, channels.get(row.id) ?? [])]))
}
