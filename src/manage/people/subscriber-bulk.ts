// Creating subscribers in bulk: each element is judged on its own, all good ones are written in one transaction.

import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import type { ChannelInput } from '../../store/people/channel-changes.ts'
import { channelChanges } from '../../store/people/channel-changes.ts'
import { mergeChannels } from '../../store/people/subscriber-channels.ts'
import type { UpsertedSubscriber } from '../../store/people/subscribers.ts'
import { upsertSubscribers } from '../../store/people/subscribers.ts'
import type { World } from '../../world/world.ts'
import type { NewSubscriber } from './subscriber-creations.ts'

interface GoodElement {
  readonly subscriber: NewSubscriber
  readonly channels: readonly ChannelInput[]
}

interface Failure {
  readonly subscriberId?: string
  readonly message: string
}

/** An element of the call, or what is wrong with it. */
export type BulkElement = GoodElement | Failure

export interface BulkResult {
  readonly updated: readonly { subscriberId: string }[]
  readonly created: readonly { subscriberId: string }[]
  readonly failed: readonly Failure[]
  /** How many of the updated ones already had all that was given. */
  readonly unchanged: number
}

/** Two elements of one id are one subscriber, the later winning. */
export async function createSubscribersInBulk(
  db: Db,
  world: World,
  environment: Environment,
  call: { elements: readonly BulkElement[]; idempotency: Idempotency | undefined },
): Promise<Answer<BulkResult>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const failed = call.elements.filter((element): element is Failure => 'message' in element)
    const candidates = call.elements.filter((element): element is GoodElement => 'subscriber' in element)
    const lists = candidates.map((element) => element.channels)
    const changesOf = await channelChanges(tx, environment, lists)
    const judged = candidates.map(({ subscriber }, index) => ({ subscriber, changes: changesOf[index] ?? [] }))
    const lost = judged.flatMap(({ subscriber: { subscriberId }, changes }) =>
      changes instanceof Problem ? [{ subscriberId, message: changes.message }] : [],
    )
    const good = judged.flatMap(({ subscriber, changes }) =>
      changes instanceof Problem ? [] : [{ subscriber, changes }],
    )
    const now = world.now()
    const upserts = mergedById(good.map((element) => element.subscriber)).map(({ subscriberId, ...fields }) => ({
      id: world.newId(now),
      subscriberId,
      fields,
    }))
    const upserted = await upsertSubscribers(tx, environment, upserts, now)
    const idOf = new Map(upserted.map(({ row }) => [row.subscriber_id, row.id]))
    const changes = good.flatMap(({ subscriber, changes }) =>
      changes.map((change) => ({ ...change, subscriberId: idOf.get(subscriber.subscriberId) ?? '' })),
    )
    const { gone, changed } = await mergeChannels(tx, world.sealer, environment, changes, { newId: world.newId, now })
    const idsWhere = (is: (one: UpsertedSubscriber) => boolean) =>
      upserted.filter(is).map(({ row }) => ({ subscriberId: row.subscriber_id }))
    const deleted = idsWhere(({ row }) => gone.has(row.id)).map((id) => ({
      ...id,
      message: 'It was deleted in the meantime',
    }))
    const isUpdated = (one: UpsertedSubscriber) => !one.created && !gone.has(one.row.id)
    // A row that differed has this very time.
    const isSame = ({ row }: UpsertedSubscriber) => row.updated_at.getTime() !== now.getTime() && !changed.has(row.id)
    return created({
      updated: idsWhere(isUpdated),
      created: idsWhere((one) => one.created),
      failed: [...failed, ...lost, ...deleted],
      unchanged: upserted.filter((one) => isUpdated(one) && isSame(one)).length,
    })
  })
}

function mergedById(subscribers: readonly NewSubscriber[]): NewSubscriber[] {
  const merged = new Map<string, NewSubscriber>()
  for (const subscriber of subscribers) {
    merged.set(subscriber.subscriberId, { ...merged.get(subscriber.subscriberId), ...subscriber })
  }
  return [...merged.values()]
}
