// Finds each send an integration and a slot: what has both is begun with the decision, the rest waits.
import type { SendDecision } from '../domain/decision.ts'
import { messageIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Integration } from '../domain/integration.ts'
import type { Envelope } from '../domain/message.ts'
import { notYetSent } from '../domain/message.ts'
import type { Settlement } from '../record/settlement.ts'
import { settles } from '../record/settlement.ts'
import type { JobFacts } from './decide.ts'
import type { Facts } from './load-facts.ts'
import { lookAgainAt, unpaused } from './look-again.ts'
import type { Choose, Outgoing } from './outgoing.ts'
import { chooserOf, wishedIdentifier } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import type { Sender } from './sender.ts'
import { begunNow, begunSettlement } from './settle-begun.ts'
import { failed } from './settle-decision.ts'

export interface PlacedSends {
  readonly settlements: readonly Settlement[]
  /** These hold slots, and their messages are written as begun. */
  readonly begun: readonly Outgoing[]
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
  const begun: Outgoing[] = []
  const waiting: Outgoing[] = []
  const inLine = new Map<string, number>()
  for (const { facts: job, decision } of sends) {
    const channel = decision.messages[0]?.channel ?? 'email'
    const choose = chooserOf(pipeline, facts, job, channel)
    const integration = unpaused(pipeline.slots, choose, choose([]), [], now)
    if (integration === undefined) {
      // No message is made, so none is told of.
      const told = decision.details.filter((one) => one.code !== 'messageCreated')
      const wished = wishedIdentifier(job.event.overrides, channel)
      const raw = wished === undefined ? {} : { raw: { integrationIdentifier: wished } }
      const details = [...told, detail(now, 'noIntegration', raw)]
      settlements.push(failed(job, { details, stops: false }, now))
      continue
    }
    const outgoing = outgoingOf(environment, job, decision, integration, choose)
    const place = placeOf(pipeline, sender, integration, decision.messages.length, inLine, now)
    if (place === 'begun') {
      const started = begunNow(outgoing, now)
      begun.push(started)
      settlements.push(begunSettlement(started, now))
    } else if (place === 'waiting') {
      waiting.push(outgoing)
      inLine.set(integration._id, (inLine.get(integration._id) ?? 0) + 1)
    } else settlements.push(settles(job.job, 'queued', { due: place }))
  }
  return { settlements, begun, waiting }
}

type Place = 'begun' | 'waiting' | Date

function placeOf(
  { slots, isAlive }: Pipeline,
  sender: Sender,
  { _id }: Integration,
  count: number,
  inLine: ReadonlyMap<string, number>,
  now: Date,
): Place {
  if (slots.isPaused(_id, now)) return lookAgainAt(slots, _id, now)
  if (isAlive()) {
    const granted = slots.take(_id, count)
    if (granted === count) return 'begun'
    for (let index = 0; index < granted; index += 1) slots.free(_id)
  }
  return sender.room(_id) > (inLine.get(_id) ?? 0) ? 'waiting' : lookAgainAt(slots, _id, now)
}

function outgoingOf(
  environment: Environment,
  facts: JobFacts,
  decision: SendDecision,
  integration: Integration,
  choose: Choose,
): Outgoing {
  const messages = decision.messages.map((draft) => ({
    id: messageIdOf(facts.job.eventId, facts.job.id, draft.target),
    channel: draft.channel,
    envelope: draft.envelope as Envelope,
    sending: notYetSent,
    integration,
    other: choose,
  }))
  return { environment, facts, messages, unwritten: decision }
}
