// Places each send: one with an integration and a slot starts with the decision, the rest wait or come back later.

import { createBatchPlan } from '../../deliver/batch-slots.ts'
import type { Limits } from '../../deliver/limits.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import { leased, until } from '../../domain/delivery/due.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { messageIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import { mapInTurns, Turn } from '../../domain/turn.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { World } from '../../world/world.ts'
import { withDistinctTargets } from '../decide/distinct-targets.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import { failed } from '../decide/settle-decision.ts'
import type { CallQueue } from './call-queue.ts'
import type { BegunMessage, ChoosingParts, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf, requestedIdentifier } from './outgoing.ts'
import type { RateShares } from './rate-shares.ts'
import { held, heldOrFailed, rested } from './resting.ts'
import { begunSettlement } from './settle-begun.ts'
import { queueKeyOf, restedFirst, takeSlots } from './take-slots.ts'

export interface PlacedSends {
  readonly settlements: readonly Settlement[]
  /** These hold slots, and their messages are written as begun. */
  readonly begun: readonly Outgoing<BegunMessage>[]
  /** Nothing of these is written before they have a slot. */
  readonly waiting: readonly Outgoing[]
}

export type SendQueue = CallQueue<Outgoing, Outgoing<BegunMessage>>

export interface PlaceParts extends ChoosingParts {
  readonly world: Pick<World, 'random'>
  readonly limits: Limits
  readonly rates: RateShares
  /** Messages that wait for providers. */
  readonly sends: SendQueue
  /** False while this node cannot show the others that it is alive: it begins no call. */
  isAlive(): boolean
}

/** One placement of a batch. */
export interface Placing {
  readonly parts: PlaceParts
  readonly now: Date
}

/** Others get their turn while integrations are chosen, if that takes long. */
export async function placeSends(
  placing: Placing,
  environment: Environment,
  facts: Facts,
  sends: readonly { facts: JobFacts; decision: SendDecision }[],
  turn = new Turn(),
): Promise<PlacedSends> {
  const { parts, now } = placing
  const { limits, rates, sends: queue, operatorMail } = parts
  const settlements: Settlement[] = []
  const begun: Outgoing<BegunMessage>[] = []
  const waiting: Outgoing[] = []
  const inQueue = new Map<string, number>()
  const choose = ({ facts: job, decision }: (typeof sends)[number]): Outgoing =>
    outgoingOf(placing, environment, facts, job, decision)
  const all = await mapInTurns(sends, choose, turn)
  const slots = { limits, rates, batchPlan: createBatchPlan(limits, now), operatorMail, now }
  const isAlive = parts.isAlive()
  // From here on nothing may throw: a slot that was taken would be held forever.
  for (const [index, { facts: job, decision }] of sends.entries()) {
    const outgoing = all[index] as Outgoing
    if (outgoing.messages.length === 0) {
      settlements.push(withoutIntegration(job, decision, now))
      continue
    }
    const mayBegin = isAlive && !isBehindOthers(queue, outgoing)
    const started = mayBegin ? takeSlots(slots, outgoing) : { ...outgoing, messages: [] }
    if (started.messages.length > 0) {
      begun.push(started)
      settlements.push(begunSettlement(started, now))
      continue
    }
    const settlement = queueUp(placing, inQueue, restedFirst(limits, outgoing, now), waiting)
    if (settlement !== undefined) settlements.push(settlement)
  }
  return { settlements, begun, waiting }
}

/** One of several may find others in its way; the job then waits, rather than overtaking them. */
const isBehindOthers = (queue: SendQueue, { facts, messages }: Outgoing): boolean =>
  messages.some(({ integration }) => queue.isBehindOthers(integration._id, facts.job.lane))

/**
 * Adds it to those that wait; or returns what is written instead, if its integration pauses or its queue is full. One
 * that was interrupted before is also written when it waits: from there on, no crash counts against it.
 */
export function queueUp(
  { parts: { limits, world, sends: queue }, now }: Pick<Placing, 'parts' | 'now'>,
  inQueue: Map<string, number>,
  outgoing: Outgoing,
  waiting: Outgoing[],
): Settlement | undefined {
  const { job } = outgoing.facts
  const key = queueKeyOf(outgoing)
  const status = job.status === 'running' ? 'running' : 'queued'
  const rest = limits.rest(key, now)
  const integration = outgoing.messages[0]?.integration
  if (rest !== undefined && integration !== undefined) {
    const hold = { integration, rest, now, random: world.random() }
    return outgoing.unwritten === undefined ? held(job, hold) : heldOrFailed(outgoing.facts, hold)
  }
  const before = inQueue.get(key) ?? 0
  if (queue.capacity(key, job.lane) <= before) return settles(job, status, { due: until(queue.turnAt(key, now)) })
  waiting.push(outgoing)
  inQueue.set(key, before + 1)
  return job.interruptions > 0 ? settles(job, status, { due: leased }) : undefined
}

/** No message is created, so none is reported. */
export function withoutIntegration(job: JobFacts, decision: SendDecision, now: Date): Settlement {
  const details = decision.details.filter((one) => one.code !== 'messageCreated')
  const requested = requestedIdentifier(job.event.overrides, channelOf(decision))
  const raw = requested === undefined ? {} : { raw: { integrationIdentifier: requested } }
  return failed(job, { details: [...details, detail(now, 'noIntegration', raw)], stops: false }, now)
}

const channelOf = ({ messages }: SendDecision): Channel => messages[0]?.channel ?? 'email'

export type OutgoingParts = ChoosingParts & Pick<PlaceParts, 'limits'>

/** The messages of a send, each with its integration; none if there is none. */
export function outgoingOf(
  { parts, now }: { readonly parts: OutgoingParts; readonly now: Date },
  environment: Environment,
  facts: Pick<Facts, 'integrations'>,
  job: JobFacts,
  decision: SendDecision,
): Outgoing {
  const messages = fastFlatMap(withDistinctTargets(job.job, decision.messages), (draft): OutgoingMessage[] => {
    const choose = chooserOf(parts, facts, job, draft)
    const integration = rested(parts.limits, choose, choose([]), [], now)
    if (integration === undefined) return []
    const { channel, target } = draft
    const id = messageIdOf(job.job.eventId, job.job.id, target)
    return [
      { id, channel, envelope: draft.envelope as Envelope, sending: notYetSent, integration, other: choose, draft },
    ]
  })
  return { environment, facts: job, messages, later: [], unwritten: decision }
}
