// Asks providers to send messages that were begun: each by itself, or together where they share a call.
import { deliver, deliverTogether } from '../deliver/deliver.ts'
import { messageFor } from '../deliver/message-for.ts'
import { callOfSeat } from '../deliver/seats.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Envelope } from '../domain/message.ts'
import type { OutboundMessage } from '../domain/outbound-message.ts'
import type { Outcome } from '../domain/outcome.ts'
import { busy, misconfigured, unsure } from '../domain/outcome.ts'
import { providerOf } from '../providers/registry.ts'
import { withFiles } from './attachments.ts'
import type { JobFacts } from './job-facts.ts'
import type { BegunMessage, Outgoing } from './outgoing.ts'
import { withOperatorMail } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import { withReplyAddress } from './reply-address.ts'

interface Asked {
  readonly environment: Environment
  readonly facts: JobFacts
  readonly message: BegunMessage
}

/** What comes of each message; none of it is ever rejected, or a slot would be held for good. The calls have begun when this returns. */
export function askProviders(
  pipeline: Pipeline,
  outgoing: readonly Outgoing<BegunMessage>[],
): ReadonlyMap<BegunMessage, Promise<Outcome>> {
  const all = outgoing.flatMap(({ environment, facts, messages }) =>
    messages.map((message): Asked => ({ environment, facts, message })),
  )
  const answers = new Map<BegunMessage, Promise<Outcome>>()
  for (const group of grouped(all, ({ message }) => callOfSeat(message.seat)).values()) {
    const [first] = group
    if (first === undefined) continue
    if (group.length === 1) {
      answers.set(first.message, orUnsure(pipeline, askOne(pipeline, first)))
      continue
    }
    const outcomes = askTogether(pipeline, group)
    for (const [index, { message }] of group.entries()) {
      const own = outcomes.then((told) => told[index] as Outcome)
      answers.set(message, orUnsure(pipeline, own))
    }
  }
  return answers
}

/** A fault of ours, at a moment that nobody knows. */
async function orUnsure({ world }: Pipeline, answer: Promise<Outcome>): Promise<Outcome> {
  try {
    return await answer
  } catch (error) {
    world.log.error({ err: error }, 'A call broke by a fault of ours')
    return unsure('The call broke by a fault of ours')
  }
}

async function askOne(pipeline: Pipeline, { environment, facts, message }: Asked): Promise<Outcome> {
  const { event } = facts
  const { providerId } = message.integration
  const provider = providerOf(providerId)
  if (provider === undefined) return misconfigured(`There is no provider ${providerId}`)
  const integration = withOperatorMail(pipeline, message.integration)
  return withFiles(pipeline, environment, { event, envelope: message.envelope }, async (envelope) => {
    const addressed = await addressedOf(pipeline, { environment, facts, message }, envelope)
    return addressed === undefined
      ? notAddressed
      : deliver(pipeline.world, { provider, integration, message: addressed })
  })
}

/** Those that share a call are of one integration, and have no files. */
async function askTogether(pipeline: Pipeline, group: readonly Asked[]): Promise<readonly Outcome[]> {
  const { integration } = (group[0] as Asked).message
  const { providerId } = integration
  const provider = providerOf(providerId)
  if (provider === undefined) return group.map(() => misconfigured(`There is no provider ${providerId}`))
  const made = await Promise.all(group.map((asked) => addressedOf(pipeline, asked, asked.message.envelope)))
  const messages = made.flatMap((message) => message ?? [])
  const outcomes =
    messages.length === 0 ? [] : await deliverTogether(pipeline.world, { provider, integration, messages })
  const told = outcomes.values()
  return made.map((message) => (message === undefined ? notAddressed : (told.next().value as Outcome)))
}

/** Nobody was asked. */
const notAddressed = busy('The address for answers could not be made')

/** As the provider is given it; undefined when its address for answers could not be made, because the database is away. */
async function addressedOf(
  pipeline: Pipeline,
  { environment, facts, message }: Asked,
  envelope: Envelope,
): Promise<OutboundMessage | undefined> {
  const { id, integration } = message
  const { providerId } = integration
  const plain = messageFor({ id, envelope, providerId, payload: facts.event.payload })
  try {
    return await withReplyAddress(pipeline, environment, facts, integration, plain)
  } catch (error) {
    pipeline.world.log.warn({ err: error, messageId: id }, 'An address for answers could not be made')
    return undefined
  }
}
