// Finds each send an integration and a slot: what has both is begun with the decision, the rest waits.
import { createSeating } from '../../deliver/seats.ts'
import type { SendDecision } from '../../domain/decision.ts'
import { messageIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/execution-detail.ts'
import { gathered } from '../../domain/gathered.ts'
import type { Channel } from '../../domain/integration.ts'
import type { Envelope } from '../../domain/message.ts'
import { notYetSent } from '../../domain/message.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import { withDistinctTargets } from '../decide/distinct-targets.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import { failed } from '../decide/settle-decision.ts'
import type { Deciding, Pipeline } from '../pipeline.ts'
import { lookAgainAt, unpaused } from './look-again.ts'
import type { BegunMessage, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf, wishedIdentifier } from './outgoing.ts'
import type { Sender } from './sender.ts'
import { begunSettlement } from './settle-begun.ts'
import { lineOf, restOver, takeSlots, unpausedFirst } from './take-slots.ts'

export interface PlacedSends {
  readonly settlements: readonly Settlement[]
  /** These hold slots, and their messages are written as begun. */
  readonly begun: readonly Outgoing<BegunMessage>[]
  /** Nothing of these is written before they have a slot. */
  readonly waiting: readonly Outgoing[]
}

export function placeSends(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  facts: Facts,
  sends: readonly { facts: JobFacts; decision: SendDecision }[],
  now: Date,
): PlacedSends {
  const settlements: Settlement[] = []
  const begun: Outgoing<BegunMessage>[] = []
  const waiting: Outgoing[] = []
  const seating = createSeating(pipeline.slots)
  const isAlive = pipeline.isAlive()
  const place: Placing = { pipeline, sender, inLine: new Map(), now }
  const all = sends.map(({ facts: job, decision }) => outgoingOf(place, environment, facts, job, decision))
  // From here on nothing is asked that could throw: a seat that was taken would be held for good.
  for (const [index, { facts: job, decision }] of sends.entries()) {
    const outgoing = all[index] as Outgoing
    if (outgoing.messages.length === 0) {
      settlements.push(withoutIntegration(job, decision, now))
      continue
    }
    const started = isAlive ? takeSlots(pipeline.slots, seating, outgoing, now) : { ...outgoing, messages: [] }
    if (started.messages.length > 0) {
      begun.push(started)
      settlements.push(begunSettlement(started, now))
      continue
    }
    const due = queueUp(place, unpausedFirst(pipeline.slots, outgoing, now), waiting)
    if (due !== undefined) settlements.push(settles(job.job, 'queued', { due }))
  }
  return { settlements, begun, waiting }
}

interface Placing {
  readonly pipeline: Pipeline
  readonly sender: Sender
  /** By integration: who of this batch waits already. */
  readonly inLine: Map<string, number>
  readonly now: Date
}

/** Adds it to those that wait; or tells when to look at it again, where it must rest or finds no room. */
export function queueUp(
  { pipeline, sender, inLine, now }: Placing,
  outgoing: Outgoing,
  waiting: Outgoing[],
): Date | undefined {
  const { slots } = pipeline
  const line = lineOf(outgoing)
  if (slots.isPaused(line, now)) return restOver(slots, outgoing, now)
  const before = inLine.get(line) ?? 0
  if (sender.room(line) <= before) return lookAgainAt(slots, line, now)
  waiting.push(outgoing)
  inLine.set(line, before + 1)
  return undefined
}

/** No message is made, so none is told of. */
export function withoutIntegration(job: JobFacts, decision: SendDecision, now: Date): Settlement {
  const told = decision.details.filter((one) => one.code !== 'messageCreated')
  const wished = wishedIdentifier(job.event.overrides, channelOf(decision))
  const raw = wished === undefined ? {} : { raw: { integrationIdentifier: wished } }
  const details = [...told, detail(now, 'noIntegration', raw)]
  return failed(job, { details, stops: false }, now)
}

const channelOf = ({ messages }: SendDecision): Channel => messages[0]?.channel ?? 'email'

/** The messages of a send, each with the integration that would be asked; none where there is none. */
export function outgoingOf(
  { pipeline, now }: { pipeline: Deciding; now: Date },
  environment: Environment,
  facts: Pick<Facts, 'integrations'>,
  job: JobFacts,
  decision: SendDecision,
): Outgoing {
  const messages = gathered(withDistinctTargets(job.job, decision.messages), (draft): OutgoingMessage[] => {
    const choose = chooserOf(pipeline, facts, job, draft)
    const integration = unpaused(pipeline.slots, choose, choose([]), [], now)
    if (integration === undefined) return []
    const { channel, target } = draft
    const id = messageIdOf(job.job.eventId, job.job.id, target)
    return [
      { id, channel, envelope: draft.envelope as Envelope, sending: notYetSent, integration, other: choose, draft },
    ]
  })
  return { environment, facts: job, messages, later: [], unwritten: decision }
}
