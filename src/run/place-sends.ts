// Finds each send an integration and a slot: what has both is begun with the decision, the rest waits.
import type { Decision } from '../domain/decision.ts'
import { messageIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Integration } from '../domain/integration.ts'
import type { Envelope, MessageDraft } from '../domain/message.ts'
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
import { started } from './sender.ts'
import { failed, messageOf } from './settle-decision.ts'
import { selected } from './settle-outcomes.ts'

type Send = Extract<Decision, { kind: 'send' }>

export interface PlacedSends {
  readonly settlements: readonly Settlement[]
  /** These hold slots, and their messages are written as begun. */
  readonly begun: readonly Outgoing[]
  readonly waiting: readonly Outgoing[]
}

export function placeSends(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  facts: Facts,
  sends: readonly { facts: JobFacts; decision: Send }[],
  now: Date,
): PlacedSends {
  const settlements: Settlement[] = []
  const begun: Outgoing[] = []
  const waiting: Outgoing[] = []
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
    const outgoing = outgoingOf(environment, job, decision.messages, integration, choose)
    const place = placeOf(pipeline, sender, integration, decision.messages.length, waiting, now)
    const placed = place === 'begun' ? started(outgoing, now) : outgoing
    if (place === 'begun') begun.push(placed)
    if (place === 'waiting') waiting.push(placed)
    settlements.push(sendingSettlement(job, decision, placed, place, now))
  }
  return { settlements, begun, waiting }
}

type Place = 'begun' | 'waiting' | Date

function placeOf(
  { slots, isAlive }: Pipeline,
  sender: Sender,
  { _id }: Integration,
  count: number,
  waiting: readonly Outgoing[],
  now: Date,
): Place {
  if (slots.isPaused(_id, now)) return lookAgainAt(slots, _id, now)
  if (isAlive()) {
    const granted = slots.take(_id, count)
    if (granted === count) return 'begun'
    for (let index = 0; index < granted; index += 1) slots.free(_id)
  }
  const inLine = waiting.filter((one) => one.messages[0]?.integration._id === _id).length
  return sender.room(_id) > inLine ? 'waiting' : lookAgainAt(slots, _id, now)
}

function outgoingOf(
  environment: Environment,
  facts: JobFacts,
  drafts: readonly MessageDraft[],
  integration: Integration,
  choose: Choose,
): Outgoing {
  const messages = drafts.map((draft) => ({
    id: messageIdOf(facts.job.eventId, facts.job.id, draft.target),
    channel: draft.channel,
    envelope: draft.envelope as Envelope,
    sending: notYetSent,
    integration,
    other: choose,
  }))
  return { environment, facts, messages }
}

function sendingSettlement(facts: JobFacts, decision: Send, outgoing: Outgoing, place: Place, now: Date): Settlement {
  const [first] = outgoing.messages
  const integration = first?.integration as Integration
  return settles(facts.job, 'running', {
    due: place instanceof Date ? place : 'kept',
    state: { providerId: integration.providerId },
    details: [selected(integration, now), ...decision.details],
    messages: decision.messages.map((draft, index) =>
      messageOf(facts, draft, now, {
        state: place === 'begun' ? 'calling' : 'ready',
        status: null,
        providerId: integration.providerId,
        integrationId: integration._id,
        sending: outgoing.messages[index]?.sending ?? notYetSent,
      }),
    ),
  })
}
