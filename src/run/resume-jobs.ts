// Jobs whose messages were on their way: what was ready is sent, what was being sent counts as perhaps sent.
import { sendErrorOf } from '../domain/after-outcome.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import { unsure } from '../domain/outcome.ts'
import type { JobOutcome } from '../record/record-outcomes.ts'
import { recordOutcomes } from '../record/record-outcomes.ts'
import { settles } from '../record/settlement.ts'
import type { UnsentMessage } from '../store/messages/sending.ts'
import type { JobFacts } from './decide.ts'
import type { Facts } from './load-facts.ts'
import { lookAgainAt, unpaused } from './look-again.ts'
import type { Choose, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import type { Sender } from './sender.ts'
import { failed, nextOf } from './settle-decision.ts'
import type { Called } from './settle-outcomes.ts'
import { settleOutcomes } from './settle-outcomes.ts'

const interrupted = 'The service ended while the provider was being asked; whether the message was sent is not known'

/** Records what is over, in one transaction, and returns what is still on its way. */
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
  const inLine = new Map<string, number>()
  for (const job of jobs) {
    const resumed = resume(pipeline, sender, environment, facts, job, inLine, now)
    if ('settlement' in resumed) outcomes.push(resumed)
    else {
      waiting.push(resumed)
      const integrationId = resumed.messages[0]?.integration._id ?? ''
      inLine.set(integrationId, (inLine.get(integrationId) ?? 0) + 1)
    }
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
  inLine: ReadonlyMap<string, number>,
  now: Date,
): Outgoing | JobOutcome {
  const unsent = facts.unsent.get(job.job.id) ?? []
  // All was said; only the job had not heard of it.
  if (unsent.length === 0) return { settlement: settles(job.job, 'completed', { next: nextOf(job) }), results: [] }
  const choose = chooserOf(pipeline, facts, job, unsent[0]?.channel ?? 'email')
  const calling = unsent.filter((message) => message.state === 'calling')
  if (calling.length > 0) {
    const calls = calling.map((message) => interruptedCall(facts, message, choose))
    return settleOutcomes(job, calls, { now, random: pipeline.world.random() })
  }
  const messages = unsent.map((message) => outgoingMessage(pipeline, facts, message, choose, now))
  if (messages.some((message) => message === undefined)) return withoutIntegration(job, unsent, now)
  const outgoing: Outgoing = { environment, facts: job, messages: messages as OutgoingMessage[] }
  const integrationId = outgoing.messages[0]?.integration._id ?? ''
  const { slots } = pipeline
  if (slots.isPaused(integrationId, now) || sender.room(integrationId) <= (inLine.get(integrationId) ?? 0)) {
    const due = lookAgainAt(slots, integrationId, now)
    return { settlement: settles(job.job, 'running', { due }), results: [] }
  }
  return outgoing
}

function interruptedCall(facts: Facts, message: UnsentMessage, choose: Choose): Called {
  const { integrationId, providerId } = message
  return {
    message: { ...message, other: choose },
    asked: { integrationId, providerId },
    isThere: facts.integrations.some((one) => one._id === integrationId),
    outcome: unsure(interrupted),
  }
}

/** The integration it was last with, if that can still send; else the next in the order of preference. */
function outgoingMessage(
  { slots }: Pipeline,
  facts: Facts,
  message: UnsentMessage,
  choose: Choose,
  now: Date,
): OutgoingMessage | undefined {
  const { id, channel, envelope, sending, integrationId } = message
  // One that was asked and is gone had its turn: what was tried with it is not captured instead.
  const tried = sending.attempts > 0 ? [...sending.tried, integrationId] : sending.tried
  const before = facts.integrations.find((one) => one._id === integrationId && one.channel === channel)
  const stays = before !== undefined && !sending.tried.includes(before._id)
  const integration = unpaused(slots, choose, stays ? before : choose(tried), tried, now)
  return integration && { id, channel, envelope, sending, integration, other: choose }
}

function withoutIntegration(job: JobFacts, unsent: readonly UnsentMessage[], now: Date): JobOutcome {
  const errorText = 'No active integration is left to send this message'
  const details = [detail(now, 'noIntegration')]
  const isPerhapsSent = ({ sending }: UnsentMessage): boolean => sending.unsureRepeats > 0
  return {
    settlement: unsent.some(isPerhapsSent)
      ? settles(job.job, 'completed', { details, next: nextOf(job) })
      : failed(job, { details, stops: false }, now),
    results: unsent.map((message) => ({
      id: message.id,
      state: 'done',
      status: isPerhapsSent(message) ? 'warning' : 'error',
      error: sendErrorOf(message.channel, errorText),
      providerMessageId: null,
      sending: message.sending,
      nextIntegrationId: null,
      isTest: false,
    })),
  }
}
