// Calls to providers: the messages of a job, each marked in the database before it can leave.

import type { Group } from '../../commit/group.ts'
import { createGroup } from '../../commit/group.ts'
import type { Db } from '../../db/sql.ts'
import { callOfSlot, createBatchPlan } from '../../deliver/batch-slots.ts'
import type { EndedCall } from '../../deliver/call-window.ts'
import type { Limits } from '../../deliver/limits.ts'
import { createTokenDeaths } from '../../deliver/token-deaths.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Credentials } from '../../domain/delivery/integration.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { unsure } from '../../domain/delivery/outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Queue } from '../../queue/queue.ts'
import type { JobBeginning } from '../../record/begin-calls.ts'
import { recordBeginnings } from '../../record/begin-calls.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { recordDecisions } from '../../record/record-decisions.ts'
import { settles } from '../../record/settlement.ts'
import type { Beginning } from '../../store/messages/sending.ts'
import type { World } from '../../world/world.ts'
import type { JobFaults } from '../job-faults.ts'
import type { AskingParts, Leaving } from './ask-providers.ts'
import { askProviders } from './ask-providers.ts'
import type { CallKind } from './call-queue.ts'
import type { Freshness } from './freshness.ts'
import { createLoopTurns } from './loop-turns.ts'
import type { BegunMessage, Called, Outgoing } from './outgoing.ts'
import type { RateShares } from './rate-shares.ts'
import { held } from './resting.ts'
import { begunSettlement } from './settle-begun.ts'
import { settleOutcomes } from './settle-outcomes.ts'
import { queueKeyOf, takeSlots } from './take-slots.ts'

export interface ProviderCallParts {
  readonly asking: AskingParts
  readonly world: World
  readonly queue: Queue
  readonly limits: Limits
  readonly operatorMail: Credentials | undefined
  /** Connections that requests do not use up. */
  readonly outcomesDb: Db
  readonly rates: RateShares
  readonly freshness: Freshness
  readonly faults: JobFaults
  /** A call of this integration ended: others may begin. */
  onFree(integrationId: string): void
}

/** Messages whose content is about to leave by SMTP are marked together, as they arrive. */
const marksPerCommitMax = 100

export function createProviderCalls(parts: ProviderCallParts): CallKind<Outgoing, Outgoing<BegunMessage>> {
  return new ProviderCalls(parts)
}

class ProviderCalls implements CallKind<Outgoing, Outgoing<BegunMessage>> {
  readonly name = 'messages'
  readonly #parts: ProviderCallParts
  readonly #deaths = createTokenDeaths()
  readonly #turns = createLoopTurns()
  readonly #marks: Group<JobBeginning, boolean>

  constructor(parts: ProviderCallParts) {
    this.#parts = parts
    const { outcomesDb, world, queue } = parts
    this.#marks = createGroup({
      sizeMax: marksPerCommitMax,
      keyOf: ({ job }) => job.id,
      commit: async (environment, beginnings) => {
        const ours = await recordBeginnings(outcomesDb, world, environment, queue, beginnings)
        return beginnings.map(({ job }) => ours.has(job.id))
      },
    })
  }

  jobOf = ({ facts }: Outgoing) => facts.job

  keyOf = (outgoing: Outgoing): string => queueKeyOf(outgoing)
  traceparentOf = ({ facts }: Outgoing): string | undefined => facts.span?.traceparent

  batchPlan(now: Date) {
    const { limits, rates, operatorMail } = this.#parts
    const slots = { limits, rates, batchPlan: createBatchPlan(limits, now), operatorMail, now }
    return (outgoing: Outgoing): Outgoing<BegunMessage> | undefined => {
      const taken = takeSlots(slots, outgoing)
      return taken.messages.length === 0 ? undefined : taken
    }
  }

  /** Its messages may be of several integrations, each with others that wait. */
  leave({ messages }: Outgoing<BegunMessage>): void {
    for (const { slot } of messages) slot.leave()
    for (const id of new Set(messages.map(({ integration }) => integration._id))) this.#parts.onFree(id)
  }

  /** Those of which nothing is written yet, and the others: each kind is one statement, which can be repeated. */
  together(calls: readonly Outgoing<BegunMessage>[]) {
    const fresh = calls.filter(({ unwritten }) => unwritten !== undefined)
    const resumed = calls.filter(({ unwritten }) => unwritten === undefined)
    return [fresh, resumed].filter((group) => group.length > 0)
  }

  async begin(environment: Environment, calls: readonly Outgoing<BegunMessage>[]): Promise<ReadonlySet<string>> {
    const { outcomesDb, world, queue } = this.#parts
    if (calls[0]?.unwritten === undefined) {
      const beginnings = calls.map(({ facts, messages }) => ({
        job: facts.job,
        messages: messages.filter(({ marksLater }) => !marksLater).map(beginningOf),
      }))
      return recordBeginnings(outcomesDb, world, environment, queue, beginnings)
    }
    const now = world.now()
    const settlements = calls.map((outgoing) => begunSettlement(outgoing, now))
    return recordDecisions(outcomesDb, world, environment, queue, { settlements, deferred: [] })
  }

  call(environment: Environment, calls: readonly Outgoing<BegunMessage>[]): readonly Promise<JobOutcome>[] {
    const { asking, freshness, world } = this.#parts
    const beganAt = world.now()
    this.#turns.sample()
    const markedAtMs = freshness.now()
    const leaving: Leaving = {
      mayLeave: (jobs) => freshness.mayLeave(environment, jobs, markedAtMs),
      mark: (job, message) => this.#mark(environment, { job, messages: [beginningOf(message)] }),
    }
    const answers = askProviders(asking, calls, leaving)
    return calls.map((outgoing) => this.#outcomeOf(outgoing, answers, beganAt))
  }

  rests(key: string, now: Date): boolean {
    return this.#parts.limits.rest(key, now) !== undefined
  }

  postponed({ facts: { job }, messages }: Outgoing, turnAt: Date, now: Date) {
    const { limits, world } = this.#parts
    const integration = messages[0]?.integration
    const rest = integration && limits.rest(integration._id, now)
    if (integration !== undefined && rest !== undefined) {
      return held(job, { integration, rest, now, random: world.random() })
    }
    return settles(job, job.status === 'running' ? 'running' : 'queued', { due: until(turnAt) })
  }

  fault(environment: Environment, { facts: { job } }: Outgoing, error: unknown): Promise<void> {
    return this.#parts.faults.putAside(environment, job, error)
  }

  /** True once the database says that the message is being called, and that it is still ours. */
  async #mark(environment: Environment, beginning: JobBeginning): Promise<boolean> {
    const { freshness } = this.#parts
    const markedAtMs = freshness.now()
    if (!(await this.#marks.add(environment, beginning))) return false
    return freshness.mayLeave(environment, [beginning.job], markedAtMs)
  }

  async #outcomeOf(
    outgoing: Outgoing<BegunMessage>,
    answers: ReadonlyMap<BegunMessage, Promise<Outcome>>,
    beganAt: Date,
  ): Promise<JobOutcome> {
    const { world, limits } = this.#parts
    const asked = await Promise.all(
      outgoing.messages.map((message) => this.#answered(message, answers.get(message), beganAt)),
    )
    const now = world.now()
    const settling = { now, random: world.random(), rest: (id: string) => limits.rest(id, now) }
    return settleOutcomes(outgoing.facts, this.#withDeaths(asked), settling, outgoing.later)
  }

  /** Its slot is free as soon as it has finished, whatever the job's other calls do. */
  async #answered(message: BegunMessage, answer: Promise<Outcome> | undefined, beganAt: Date): Promise<Called> {
    const { world, limits, onFree } = this.#parts
    const { _id: integrationId, providerId } = message.integration
    const outcome = (await answer) ?? unsure('The message was not part of the provider call')
    const isLastOfCall = callOfSlot(message.slot)?.slots.length === 1
    message.slot.leave()
    const now = world.now()
    const isDown = 'down' in outcome && outcome.down === true
    // A call that fails is one failure, however many messages it carried.
    if (speaksOfProvider(outcome) && (!isDown || isLastOfCall)) limits.note(integrationId, isDown, now)
    if (speaksOfProvider(outcome) && isLastOfCall) {
      // Up to two turns: one until the answer is read, one until it is here.
      limits.ended(integrationId, { beganAt, ending: endingOf(outcome, isDown), ownMs: 2 * this.#turns.ms() }, now)
    }
    if (outcome.kind === 'busy' && outcome.retryAfterMs !== undefined && outcome.ofRecipient !== true) {
      limits.pauseUntil(integrationId, new Date(now.getTime() + outcome.retryAfterMs))
    }
    onFree(integrationId)
    return { message, asked: { integrationId, providerId }, isThere: true, outcome }
  }

  /** Which of them end a device's token: none, if an integration reports most of its devices as unregistered. */
  #withDeaths(calls: readonly Called[]): readonly Called[] {
    const isDead = ({ outcome }: Called): boolean => outcome.kind === 'refused' && outcome.reason === 'dead-token'
    for (const call of calls) {
      const counts = call.message.channel === 'push' && (call.outcome.kind === 'sent' || isDead(call))
      if (counts) this.#deaths.note(call.asked.integrationId, isDead(call))
    }
    const dead = calls.filter(isDead)
    if (dead.length === 0) return calls
    const doubted = new Set(dead.map(({ asked }) => asked.integrationId).filter((id) => !this.#deaths.mayPrune(id)))
    for (const integrationId of doubted) {
      const words =
        'Most devices of an integration were reported as unregistered: its account is probably misconfigured, so no token is removed'
      this.#parts.world.log.warn({ integrationId }, words)
    }
    return calls.map((call) => (isDead(call) ? { ...call, prunes: !doubted.has(call.asked.integrationId) } : call))
  }
}

/** What never reached the provider, and the state of one recipient's address, say nothing about it. */
function speaksOfProvider(outcome: Outcome): boolean {
  if (outcome.kind === 'sent') return outcome.captured !== true
  if (outcome.kind === 'busy') return outcome.ofRecipient !== true && outcome.uncalled !== true
  return outcome.kind === 'misconfigured' || outcome.kind === 'refused' || outcome.kind === 'unsure'
}

/** A vendor that is up and takes no more now was given too much at once, unless it was one message that it could not take. */
function endingOf(outcome: Outcome, isDown: boolean): EndedCall['ending'] {
  if (isDown) return 'failed'
  return outcome.kind === 'busy' && outcome.alone !== true ? 'slow-down' : 'answered'
}

function beginningOf({ integration, sending, id }: BegunMessage): Beginning {
  return { id, providerId: integration.providerId, integrationId: integration._id, sending }
}
