// Erasure: the person disappears at once, and their data is removed in the background, with a receipt.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { accepted } from '../../domain/answer.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Erasure, ErasureState } from '../../domain/people/erasure.ts'
import { subscriberHash } from '../../domain/people/erasure.ts'
import { conflict } from '../../domain/problem.ts'
import type { Queue } from '../../queue/queue.ts'
import { blankRecipient } from '../../store/events/events.ts'
import { insertTasks } from '../../store/jobs/tasks.ts'
import { ensureAddressKey } from '../../store/operate/installation.ts'
import { advanceErasure, findErasure, findRunningErasure, insertErasure } from '../../store/people/erasures.ts'
import { findEveryoneNamed } from '../../store/people/former-subscribers.ts'
import { deleteChannels } from '../../store/people/subscriber-channels.ts'
import { markSubscriberDeleted } from '../../store/people/subscribers.ts'
import { deleteSubscriptionsOfSubscriber } from '../../store/people/topic-subscriptions.ts'
import type { World } from '../../world/world.ts'
import { unknownSubscriber } from './subscribers.ts'

interface EraseCall {
  readonly subscriberId: string
  /** Who asks for it. */
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export async function eraseSubscriber(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  call: EraseCall,
): Promise<Answer<Erasure>> {
  const answer = await once(db, world, environment, call.idempotency, async (tx) =>
    accepted(await beginErase(tx, world, environment, call)),
  )
  queue.poke()
  return answer
}

async function beginErase(tx: Tx, world: World, environment: Environment, call: EraseCall): Promise<Erasure> {
  const now = world.now()
  const hash = subscriberHash(await ensureAddressKey(tx, world.sealer, environment), call.subscriberId)
  const running = await findRunningErasure(tx, environment, hash)
  if (running?.status === 'running') throw isRunning(running)
  // Otherwise the events that are being expanded would create the person again. Before the subscriber, as pages of
  // those lock them.
  await blankRecipient(tx, environment, call.subscriberId)
  // From here on the id is free: whoever is triggered under it is a new subscriber.
  const marked = await markSubscriberDeleted(tx, environment, call.subscriberId, now)
  const everyone = await findEveryoneNamed(tx, environment, call.subscriberId)
  if (everyone.length === 0) throw unknownSubscriber(call.subscriberId)
  const topicSubscriptions = marked === undefined ? 0 : await deleteSubscriptionsOfSubscriber(tx, environment, marked)
  const channels = marked === undefined ? 0 : await deleteChannels(tx, environment, marked)
  const removed = { topicSubscriptions, channels }
  const begun =
    running ??
    (await insertErasure(tx, environment, {
      id: world.newId(now),
      subscriberHash: hash,
      requestedBy: call.author.keyId,
      removed,
      now,
    }))
  if (begun === undefined) throw isRunning(await findRunningErasure(tx, environment, hash))
  const ids = everyone.map((row) => row.id)
  const state: ErasureState = { phase: 'canceling', ids, requestedAt: now.toISOString(), after: null, met: false }
  // A stuck erasure starts over: what it has removed stays removed, and counted.
  if (running !== undefined) {
    await advanceErasure(tx, environment, { id: running._id, phase: 'canceling', removed, completedAt: null })
  }
  const task = { id: begun._id, kind: 'erase', lane: fanOutLane, dueAt: now, state: { ...state } } as const
  await insertTasks(tx, environment, [task], now)
  const erased = { erasureId: begun._id }
  const after = { compared: erased, shown: erased }
  await audit(tx, world, environment, call.author, { ...personNamed(hash), action: 'erase', after })
  return (await findErasure(tx, environment, begun._id)) ?? begun
}

/** Everything that is kept of a person is about to be handed out. */
export async function auditExport(
  db: Db,
  world: World,
  environment: Environment,
  { subscriberId, author }: { subscriberId: string; author: Author },
): Promise<void> {
  await db.transaction(async (tx) => {
    const hash = subscriberHash(await ensureAddressKey(tx, world.sealer, environment), subscriberId)
    const after = { compared: { exported: true }, shown: { exported: true } }
    await audit(tx, world, environment, author, { ...personNamed(hash), action: 'export', after })
  })
}

/** The log cannot forget, so it never knows: the same hash as on the receipt of an erasure. */
const personNamed = (hash: Buffer) => ({ kind: 'subscriber', id: hash.toString('hex'), name: 'A subscriber' }) as const

const isRunning = (running: Erasure | undefined) =>
  conflict('This subscriber is being erased already', running === undefined ? {} : { erasureId: running._id })
