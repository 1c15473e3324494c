// One subscriber that exists: change it, give it credentials, say whether it is online, delete it.

import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import { platformWord } from '../../domain/delivery/vendor.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Subscriber, SubscriberFields } from '../../domain/people/subscriber.ts'
import { notFound, Problem } from '../../domain/problem.ts'
import type { ChannelInput } from '../../store/people/channel-changes.ts'
import { channelChanges } from '../../store/people/channel-changes.ts'
import { deleteChannels, findChannels, mergeChannels } from '../../store/people/subscriber-channels.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import {
  findSubscriberRows,
  markSubscriberDeleted,
  setOnline,
  subscriberOf,
  updateSubscribers,
} from '../../store/people/subscribers.ts'
import { deleteSubscriptionsOfSubscriber } from '../../store/people/topic-subscriptions.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly subscriberId: string
  readonly idempotency: Idempotency | undefined
}

export async function changeSubscriber(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { fields: SubscriberFields },
): Promise<Answer<Subscriber>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const change = { id: world.newId(now), subscriberId: call.subscriberId, fields: call.fields }
    const [row] = await updateSubscribers(tx, environment, [change], now)
    return ok(await whole(tx, world, environment, call.subscriberId, row))
  })
}

export async function addCredentials(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { channel: ChannelInput },
): Promise<Answer<Subscriber>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const row = await existing(tx, environment, call.subscriberId)
    const [changes] = await channelChanges(tx, environment, [[call.channel]])
    if (changes instanceof Problem) throw changes
    const own = (changes ?? []).map((change) => ({ ...change, subscriberId: row.id }))
    const { gone } = await mergeChannels(tx, world.sealer, environment, own, { newId: world.newId, now: world.now() })
    if (gone.size > 0) throw unknownSubscriber(call.subscriberId)
    return ok(await whole(tx, world, environment, call.subscriberId, row))
  })
}

export async function removeCredentials(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { providerId: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const row = await existing(tx, environment, call.subscriberId)
    await deleteChannels(tx, environment, row.id, platformWord(call.providerId))
    return noContent
  })
}

export async function changeOnlineStatus(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { isOnline: boolean },
): Promise<Answer<Subscriber>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const { subscriberId, isOnline } = call
    const row = await setOnline(tx, environment, { subscriberId, isOnline, now: world.now() })
    return ok(await whole(tx, world, environment, subscriberId, row))
  })
}

/** The person's channels and subscriptions are deleted in the same transaction. */
export async function removeSubscriber(
  db: Db,
  world: World,
  environment: Environment,
  call: Call,
): Promise<Answer<{ acknowledged: true; status: 'deleted' }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const id = await markSubscriberDeleted(tx, environment, call.subscriberId, world.now())
    if (id === undefined) throw unknownSubscriber(call.subscriberId)
    await deleteSubscriptionsOfSubscriber(tx, environment, id)
    await deleteChannels(tx, environment, id)
    return ok({ acknowledged: true, status: 'deleted' })
  })
}

export const unknownSubscriber = (subscriberId: string) => notFound(`Subscriber ${subscriberId} was not found`)

async function existing(tx: Tx, environment: Environment, subscriberId: string): Promise<SubscriberRow> {
  const [row] = await findSubscriberRows(tx, environment, [subscriberId])
  if (row === undefined) throw unknownSubscriber(subscriberId)
  return row
}

async function whole(
  tx: Tx,
  world: World,
  environment: Environment,
  subscriberId: string,
  row: SubscriberRow | undefined,
): Promise<Subscriber> {
  if (row === undefined) throw unknownSubscriber(subscriberId)
  const channels = await findChannels(tx, world.sealer, environment, [row.id])
  return subscriberOf(environment, row, channels.get(row.id) ?? [])
}
