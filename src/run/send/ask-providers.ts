// Calls providers for messages that were started: each separately, or together if they share a call.

import { callOfSlot } from '../../deliver/batch-slots.ts'
import { deliver, deliverTogether } from '../../deliver/deliver.ts'
import { messageFor } from '../../deliver/message-for.ts'
import { isCapturing } from '../../domain/delivery/integration.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { captured, uncalled, unsure } from '../../domain/delivery/outcome.ts'
import { repeatedIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import { grouped } from '../../domain/grouped.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import type { EmailMessage, OutboundMessage } from '../../domain/messages/outbound-message.ts'
import { withSignedLinks } from '../../domain/preferences/stored-links.ts'
import { providerOf } from '../../providers/registry.ts'
import type { World } from '../../world/world.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { FileParts } from './attachments.ts'
import { withFiles } from './attachments.ts'
import type { BegunMessage, ChoosingParts, Outgoing } from './outgoing.ts'
import { withOperatorMail } from './outgoing.ts'
import type { ReplyParts } from './reply-address.ts'
import { withReplyAddress } from './reply-address.ts'

interface Asked {
  readonly environment: Environment
  readonly facts: JobFacts
  readonly message: BegunMessage
}

export interface AskingParts extends FileParts, ReplyParts, Pick<ChoosingParts, 'operatorMail'> {
  readonly world: World
}

/** What is called when messages are about to leave. */
export interface Leaving {
  /** Whether the jobs are still ours, which is certain while their marks are fresh. */
  mayLeave(jobs: readonly Job[]): boolean | Promise<boolean>
  /** Marks a message that was not marked when it started, because its provider says when its content leaves. */
  mark(job: Job, message: BegunMessage): Promise<boolean>
}

/**
 * The result of each message; none of these promises is ever rejected, or a slot would be held forever. The calls have
 * started when this returns.
 */
export function askProviders(
  parts: AskingParts,
  outgoing: readonly Outgoing<BegunMessage>[],
  leaving: Leaving,
): ReadonlyMap<BegunMessage, Promise<Outcome>> {
  const all = fastFlatMap(outgoing, ({ environment, facts, messages }) =>
    messages.map((message): Asked => ({ environment, facts, message })),
  )
  const answers = new Map<BegunMessage, Promise<Outcome>>()
  for (const placed of grouped(all, ({ message }) => callOfSlot(message.slot)).values()) {
    // Each separately: the switch may have happened between two that share a call. No provider is called, so no account
    // needs to be valid.
    for (const { message } of placed) {
      if (isCapturing(message.integration)) answers.set(message, Promise.resolve(captured(message.id)))
    }
    const group = placed.filter(({ message }) => !answers.has(message))
    const [first] = group
    if (first === undefined) continue
    if (group.length === 1) {
      answers.set(first.message, traced(parts, first, 1, orUnsure(parts, askOne(parts, first, leaving))))
      continue
    }
    const outcomes = askTogether(parts, group, leaving)
    for (const [index, asked] of group.entries()) {
      const own = outcomes.then((results) => results[index] as Outcome)
      answers.set(asked.message, traced(parts, asked, group.length, orUnsure(parts, own)))
    }
  }
  return answers
}

/** With a span for the call, if the event is traced: which provider and channel, never the recipient. */
function traced(
  { world }: Pick<AskingParts, 'world'>,
  asked: Asked,
  together: number,
  answer: Promise<Outcome>,
): Promise<Outcome> {
  const { facts, message } = asked
  const span = facts.span && world.tracer?.begin(`send ${message.channel}`, facts.span.traceparent, { kind: 'client' })
  if (span === undefined) return answer
  return answer.then((outcome) => {
    const attributes = {
      'posthorn.channel': message.channel,
      'posthorn.provider': message.integration.providerId,
      'posthorn.outcome': outcome.kind,
      'posthorn.attempts': message.sending.attempts,
      'posthorn.messages': together,
    }
    span.end({ attributes, failed: outcome.kind !== 'sent' })
    return outcome
  })
}

/** An internal error, at an unknown point. */
async function orUnsure({ world }: Pick<AskingParts, 'world'>, answer: Promise<Outcome>): Promise<Outcome> {
  try {
    return await answer
  } catch (error) {
    world.log.error({ err: error }, 'A provider call failed because of an internal error')
    return unsure('The provider call failed because of an internal error')
  }
}

async function askOne(parts: AskingParts, { environment, facts, message }: Asked, leaving: Leaving): Promise<Outcome> {
  const { event } = facts
  const { providerId } = message.integration
  const provider = providerOf(providerId)
  if (provider === undefined) return unknownProvider(providerId)
  const integration = withOperatorMail(parts, message.integration)
  const mayLeave = (): boolean | Promise<boolean> =>
    message.marksLater ? leaving.mark(facts.job, message) : leaving.mayLeave([facts.job])
  return withFiles(parts, environment, { event, envelope: message.envelope }, async (envelope) => {
    const addressed = await addressedOf(parts, { environment, facts, message }, envelope)
    return addressed === undefined
      ? notAddressed
      : deliver(parts.world, { provider, integration, message: addressed, mayLeave })
  })
}

/** Those that share a call are of one integration, and have no files. */
async function askTogether(parts: AskingParts, group: readonly Asked[], leaving: Leaving): Promise<readonly Outcome[]> {
  const { integration } = (group[0] as Asked).message
  const { providerId } = integration
  const provider = providerOf(providerId)
  if (provider === undefined) return group.map(() => unknownProvider(providerId))
  const made = await Promise.all(group.map((asked) => addressedOf(parts, asked, asked.message.envelope)))
  const messages = fastFlatMap(made, (message) => message ?? [])
  const mayLeave = (): boolean | Promise<boolean> => leaving.mayLeave(group.map(({ facts }) => facts.job))
  const outcomes =
    messages.length === 0 ? [] : await deliverTogether(parts.world, { provider, integration, messages, mayLeave })
  const results = outcomes.values()
  return made.map((message) => (message === undefined ? notAddressed : (results.next().value as Outcome)))
}

/** Configured through a newer node during an upgrade: that node can call it when the message is tried again. */
const unknownProvider = (providerId: string): Outcome =>
  uncalled(`The provider ${providerId} is unknown to the release of this node`)

/** No provider was called. */
const notAddressed = uncalled('The reply address or the unsubscribe link could not be created')

/**
 * As the provider gets it; undefined if its reply address or its link could not be created, because the database is
 * unavailable.
 */
async function addressedOf(
  parts: AskingParts,
  { environment, facts, message }: Asked,
  envelope: Envelope,
): Promise<OutboundMessage | undefined> {
  const { id, integration, sending } = message
  const { providerId } = integration
  const plain = messageFor({ id, envelope, providerId, payload: facts.event.payload })
  try {
    const linked = 'html' in plain ? await withOwnLink(parts, environment, facts, plain) : plain
    const addressed = await withReplyAddress(parts, environment, facts, integration, linked)
    // Receipts name the message itself; the vendor is called with an id that it has not rejected.
    return sending.redrives === undefined ? addressed : { ...addressed, id: repeatedIdOf(id, sending.redrives) }
  } catch (error) {
    parts.world.log.warn({ err: error, messageId: id }, 'Could not create a reply address or an unsubscribe link')
    return undefined
  }
}

/** The link in it is signed here: the database holds it unsigned. */
function withOwnLink(
  { db, signingSecrets }: AskingParts,
  environment: Environment,
  { subscriber, version }: JobFacts,
  email: EmailMessage,
): Promise<EmailMessage> {
  const unsubscription = { environmentId: environment.id, subscriberId: subscriber.id, workflowId: version.workflowId }
  return withSignedLinks(email, unsubscription, () => signingSecrets.of(db, environment))
}
