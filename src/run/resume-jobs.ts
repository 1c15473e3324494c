// Jobs whose messages were on their way: what was ready is sent, what was being sent counts as perhaps sent.
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Integration } from '../domain/integration.ts'
import { unsure } from '../domain/outcome.ts'
import type { JobOutcome } from '../record/record-outcomes.ts'
import { recordOutcomes } from '../record/record-outcomes.ts'
import { settles } from '../record/settlement.ts'
import type { UnsentMessage } from '../store/messages/sending.ts'
import type { JobFacts } from './decide.ts'
import type { Facts } from './load-facts.ts'
import type { Choose, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import { lookAgainAt } from './place-sends.ts'
import type { Sender } from './sender.ts'
import { failed, nextOf } from './settle-decision.ts'
import { settleOutcomes } from './settle-outcomes.ts'

const interrupted = 'The service ended while the provider was being asked; whether the message was sent is not known'

/** Returns what is still on its way. */
export async function resumeJobs(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  facts: Facts,
  jobs: readonly JobFacts[],
): Promise<Promise<void>[]> {
  const now = pipeline.world.now()
  const outcomes: JobOutcome[] = []
  const waiting: Outgoing[] = []
  for (const job of jobs) {
    const resumed = resume(pipeline, sender, environment, facts, job, waiting, now)
    if ('settlement' in resumed) outcomes.push(resumed)
    else waiting.push(resumed)
  }
  if (outcomes.length > 0) await recordOutcomes(pipeline.db, pipeline.world, environment, pipeline.queue, outcomes)
  return [sender.queue(waiting)]
}

function resume(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  facts: Facts,
  job: JobFacts,
  waiting: readonly Outgoing[],
  now: Date,
): Outgoing | JobOutcome {
  const unsent = facts.unsent.get(job.job.id) ?? []
  // All was said; only the job had not heard of it.
  if (unsent.length === 0) return { settlement: settles(job.job, 'completed', { next: nextOf(job) }), results: [] }
  const choose = chooserOf(pipeline, facts, job, unsent[0]?.channel ?? 'email')
  const messages = unsent.map((message) => outgoingMessage(facts, message, choose))
  if (messages.some((message) => message === undefined)) return withoutIntegration(job, unsent, now)
  const outgoing: Outgoing = { environment, facts: job, messages: messages as OutgoingMessage[] }
  const calling = outgoing.messages.filter((message) => isCalling(unsent, message))
  if (calling.length > 0) {
    const calls = calling.map((message) => ({ message, outcome: unsure(interrupted) }))
    return settleOutcomes(outgoing, calls, { now, random: pipeline.world.random() })
  }
  const integrationId = outgoing.messages[0]?.integration._id ?? ''
  const { slots } = pipeline
  const inLine = waiting.filter((one) => one.messages[0]?.integration._id === integrationId).length
  if (slots.isPaused(integrationId, now) || sender.room(integrationId) <= inLine) {
    const due = lookAgainAt(slots, integrationId, now)
    return { settlement: settles(job.job, 'running', { due }), results: [] }
  }
  return outgoing
}

const isCalling = (unsent: readonly UnsentMessage[], message: OutgoingMessage): boolean =>
  unsent.some((one) => one.id === message.id && one.state === 'calling')

/** The integration it was last with, if that can still send; else the next in the order of preference. */
function outgoingMessage(facts: Facts, message: UnsentMessage, choose: Choose): OutgoingMessage | undefined {
  const { id, channel, envelope, sending } = message
  const before = facts.integrations.find((one) => one._id === message.integrationId && one.channel === channel)
  const stays = before !== undefined && !sending.tried.includes(before._id)
  const integration: Integration | undefined = stays ? before : choose(sending.tried)
  if (integration === undefined) return undefined
  return { id, channel, envelope, sending, integration, hasOther: ({ tried }) => choose(tried) }
}

function withoutIntegration(job: JobFacts, unsent: readonly UnsentMessage[], now: Date): JobOutcome {
  const errorText = 'No active integration is left to send this message'
  return {
    settlement: failed(job, { details: [detail(now, 'noIntegration')], stops: false }, now),
    results: unsent.map((message) => ({
      id: message.id,
      state: 'done',
      status: 'error',
      error: { errorId: 'mail_unexpected_error', errorText },
      providerMessageId: null,
      sending: message.sending,
      nextIntegrationId: null,
      isTest: false,
    })),
  }
}
