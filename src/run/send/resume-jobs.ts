// Jobs whose messages were on their way: what was ready is sent, what was being sent counts as perhaps sent.
import { sendErrorOf } from '../../domain/after-outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/execution-detail.ts'
import { unsure } from '../../domain/outcome.ts'
import type { JobOutcome } from '../../record/record-outcomes.ts'
import { recordOutcomes } from '../../record/record-outcomes.ts'
import { settles } from '../../record/settlement.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import { nextOf } from '../decide/settle-decision.ts'
import type { Pipeline } from '../pipeline.ts'
import { unpaused } from './look-again.ts'
import type { Called, Choose, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf } from './outgoing.ts'
import { queueUp } from './place-sends.ts'
import type { Sender } from './sender.ts'
import { dueOf, settlementOf, settleOutcomes } from './settle-outcomes.ts'
import { unpausedFirst } from './take-slots.ts'

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
  const place = { pipeline, sender, inLine: new Map<string, number>(), now }
  for (const job of jobs) {
    const resumed = resume(pipeline, environment, facts, job, now)
    if ('settlement' in resumed) outcomes.push(resumed)
    else {
      const due = queueUp(place, unpausedFirst(pipeline.slots, resumed, now), waiting)
      if (due !== undefined) outcomes.push({ settlement: settles(job.job, 'running', { due }), results: [] })
    }
  }
  if (outcomes.length > 0) await recordOutcomes(pipeline.db, pipeline.world, environment, pipeline.queue, outcomes)
  return [sender.queue(waiting)]
}

function resume(
  pipeline: Pipeline,
  environment: Environment,
  facts: Facts,
  job: JobFacts,
  now: Date,
): Outgoing | JobOutcome {
  const unsent = facts.unsent.get(job.job.id) ?? []
  // All was said; only the job had not heard of it.
  if (unsent.length === 0) return { settlement: settles(job.job, 'completed', { next: nextOf(job) }), results: [] }
  const calling = unsent.filter((message) => message.state === 'calling')
  const ready = unsent.filter((message) => message.state !== 'calling')
  if (calling.length > 0) {
    const calls = calling.map((message) => interruptedCall(facts, message, chooserOf(pipeline, facts, job, message)))
    return settleOutcomes(job, calls, { now, random: pipeline.world.random() }, ready)
  }
  const due = dueNow(ready, now)
  const found = due.map((message) => ({
    message,
    outgoing: outgoingMessage(pipeline, facts, message, chooserOf(pipeline, facts, job, message), now),
  }))
  const gone = found.flatMap(({ message, outgoing }) => (outgoing === undefined ? [message] : []))
  if (gone.length > 0) {
    const left = ready.filter((message) => !gone.includes(message))
    return withoutIntegration(job, gone, left, now)
  }
  const later = ready.filter((message) => !due.includes(message))
  return { environment, facts: job, messages: found.flatMap(({ outgoing }) => outgoing ?? []), later }
}

/** Those whose turn it is; the first of them in any case, for it is what the queue's own clock woke the job for. */
function dueNow(ready: readonly UnsentMessage[], now: Date): readonly UnsentMessage[] {
  const first = Math.min(...ready.map(({ sending }) => dueOf(sending, now).getTime()))
  const until = Math.max(first, now.getTime())
  return ready.filter(({ sending }) => dueOf(sending, now).getTime() <= until)
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

/** Over for those whose integration is gone; what is left of the job comes back at its time. */
function withoutIntegration(
  job: JobFacts,
  gone: readonly UnsentMessage[],
  left: readonly UnsentMessage[],
  now: Date,
): JobOutcome {
  const errorText = 'No active integration is left to send this message'
  const isPerhapsSent = ({ sending }: UnsentMessage): boolean => sending.unsureRepeats > 0
  return {
    settlement: settlementOf(job, {
      details: [detail(now, 'noIntegration')],
      state: job.job.state ?? {},
      isReached: gone.some(isPerhapsSent),
      again: left.map(({ sending }) => dueOf(sending, now)),
      now,
    }),
    results: gone.map((message) => ({
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
