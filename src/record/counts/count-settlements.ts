// What a batch adds to the counts, job by job: what ended with it, what was sent, what failed, and how long it took.
import type { Job } from '../../domain/delivery/job.ts'
import { endedStatuses } from '../../domain/delivery/job.ts'
import type { RefusalReason } from '../../domain/delivery/outcome.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import { deliveryBucketOf } from '../../domain/insight/counts.ts'
import type { DetailCode, StoredDetail } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import type { NewJob } from '../../store/jobs/insert.ts'
import type { CallResult, UnsentMessage } from '../../store/messages/sending.ts'
import type { CountedJob, CountKey } from '../../store/operate/counts.ts'
import type { MessageOutcome } from '../../world/meter.ts'
import { noProvider } from '../../world/meter.ts'
import type { Settlement } from '../settlement.ts'
import { ofCalls, outcomeOf, providersAsked, reported, sinceEvent } from './count-messages.ts'

/** How one go at a message ended, as it is counted. */
export interface CountedCall {
  readonly jobId: string
  readonly providerId: string
  readonly outcome: MessageOutcome
  /** Of one that failed, or perhaps did. */
  readonly code: DetailCode
  readonly reason: string
  /** Set for the message that reached the person first. */
  readonly tookMs?: number
  /** Counted only if it is recorded of this message: what an interrupted call of it did may be known, and counted, by then. */
  readonly ofMessage?: string
}

/** The calls of jobs, as recordOutcomes is given them; the same as /metrics counts. */
export function countedCalls(
  outcomes: readonly { readonly settlement: Settlement; readonly results: readonly CallResult[] }[],
  now: Date,
): CountedCall[] {
  return fastFlatMap(outcomes, ({ settlement, results: all }) => {
    const results = reported(all)
    if (results.length === 0) return []
    const { job, details } = settlement
    const asked = providersAsked(settlement, results)
    const callDetails = details.filter(({ code }) => ofCalls.has(code))
    const first = job.state?.reached === true ? -1 : results.findIndex((result) => outcomeOf(result) === 'sent')
    return results.map((result, place) => {
      const own = callDetails.length === results.length ? callDetails[place] : details.at(-1)
      return {
        jobId: job.id,
        providerId: asked[place] ?? noProvider,
        outcome: outcomeOf(result),
        code: own?.code ?? 'providerError',
        reason: refusalIn(own) ?? result.error?.errorId ?? '',
        ...(place === first ? { tookMs: sinceEvent(job, now) } : {}),
        ...(mayBeKnown(result) ? { ofMessage: result.id } : {}),
      }
    })
  })
}

const mayBeKnown = ({ state, sending }: CallResult): boolean => state === 'done' && (sending.interruptions ?? 0) > 0

/** By message: calls that count if their message was recorded. */
export function countedByMessage(settlements: readonly Settlement[], calls: readonly CountedCall[]): CountedJob[] {
  const doubtful = calls.filter((call) => call.ofMessage !== undefined)
  if (doubtful.length === 0) return []
  const jobs = new Map(settlements.map(({ job }) => [job.id, job]))
  return fastFlatMap(doubtful, (call) => {
    const job = jobs.get(call.jobId)
    return job === undefined || call.ofMessage === undefined
      ? []
      : { id: call.ofMessage, keys: callKeys({ versionId: job.versionId, step: job.step }, call) }
  })
}

/** By message: sent, as learned by a worker that had lost its job. */
export function countedLate(
  outcomes: readonly { readonly settlement: Settlement; readonly results: readonly CallResult[] }[],
  now: Date,
): CountedJob[] {
  return fastFlatMap(outcomes, (outcome) => {
    const { versionId, step } = outcome.settlement.job
    const calls = countedCalls([outcome], now)
    return fastFlatMap(reported(outcome.results), ({ id, status }, place) => {
      const call = calls[place]
      return status !== 'sent' || call === undefined ? [] : { id, keys: callKeys({ versionId, step }, call) }
    })
  })
}

/** Messages that are given up with their jobs. */
export function countedGivenUp(messages: readonly UnsentMessage[], results: readonly CallResult[]): CountedCall[] {
  return messages.flatMap(({ jobId, providerId }, place) => {
    const result = results[place]
    if (result === undefined) return []
    const reason = result.error?.errorId ?? ''
    return [{ jobId, providerId, outcome: outcomeOf(result), code: 'buried' as const, reason }]
  })
}

const refusals: ReadonlySet<string> = new Set<RefusalReason>([
  'bad-recipient',
  'dead-token',
  'opted-out',
  'bad-content',
  'other',
])

/** Why a provider rejected it, as our own code; the rest of its text is not part of the key. */
function refusalIn(callDetails: StoredDetail | undefined): string | undefined {
  const [, reason = ''] = /^\{"reason":"([a-z-]{1,20})"/.exec(callDetails?.raw ?? '') ?? []
  return refusals.has(reason) ? reason : undefined
}

/** Each job counts if it was settled, even if with nothing; a step that never runs, if its row was created. */
export function countedJobs(
  settlements: readonly Settlement[],
  over: readonly NewJob[],
  calls: readonly CountedCall[],
  now: Date,
): CountedJob[] {
  const callsOf = new Map<string, CountedCall[]>()
  for (const call of calls) {
    const known = callsOf.get(call.jobId)
    if (known === undefined) callsOf.set(call.jobId, [call])
    else known.push(call)
  }
  const counted: CountedJob[] = []
  const kinds: CountedKind[] = []
  for (const settlement of settlements) {
    const own = callsOf.get(settlement.job.id) ?? noCalls
    const kind = kindOf(settlement, own, now)
    const known = kind && kinds.find((one) => isKind(one, kind))
    const keys = known?.keys ?? keysOf(settlement, own, now)
    if (kind !== undefined && known === undefined && kinds.length < kindsMax) kinds.push({ ...kind, keys })
    counted.push({ id: settlement.job.id, keys })
  }
  for (const [place, job] of over.entries()) {
    const isLast = over[place + 1]?.notificationId !== job.notificationId
    counted.push({ id: job.id, keys: overKeysOf(job, isLast) })
  }
  return counted
}

const noCalls: readonly CountedCall[] = []

/**
 * What the keys of a job depend on, if it succeeded and sent one message: that is nearly all of them. Jobs of one kind share a list of
 * keys. With a list for each, counting 100 jobs of one workflow and building their statement takes 1.2 to 2.5 times as long.
 */
interface Kind {
  readonly versionId: string
  readonly step: number
  readonly status: string
  readonly isEnd: boolean
  /** Of the message that is over already. */
  readonly deliveredBy: string | null | undefined
  readonly outcome: MessageOutcome | undefined
  readonly askedProvider: string | undefined
  readonly bucket: number | undefined
}

interface CountedKind extends Kind {
  readonly keys: readonly CountKey[]
}

/** A batch has a few; one with more has its keys made for each job. */
const kindsMax = 16

function kindOf(
  { job, status, messages, next, rest }: Settlement,
  calls: readonly CountedCall[],
  now: Date,
): Kind | undefined {
  if (status === 'failed' || messages.length + calls.length > 1) return undefined
  const [message] = messages
  const [call] = calls
  if (call?.ofMessage !== undefined) return undefined
  const isOver = message?.state === 'done'
  if ((isOver && message.status !== 'sent') || call?.outcome === 'failed' || call?.outcome === 'unsure')
    return undefined
  const tookMs = isOver ? sinceEvent(job, now) : call?.tookMs
  return {
    versionId: job.versionId,
    step: job.step,
    status,
    isEnd: next === null && rest === null,
    deliveredBy: isOver ? message.providerId : undefined,
    outcome: call?.outcome,
    askedProvider: call?.providerId,
    bucket: tookMs === undefined ? undefined : deliveryBucketOf(tookMs),
  }
}

const isKind = (one: Kind, other: Kind): boolean =>
  one.step === other.step &&
  one.bucket === other.bucket &&
  one.status === other.status &&
  one.isEnd === other.isEnd &&
  one.outcome === other.outcome &&
  one.deliveredBy === other.deliveredBy &&
  one.askedProvider === other.askedProvider &&
  one.versionId === other.versionId

function keysOf(settlement: Settlement, calls: readonly CountedCall[], now: Date): CountKey[] {
  const { job, status, messages, next, rest, details } = settlement
  const of = { versionId: job.versionId, step: job.step }
  const keys = fastFlatMap(calls, (call) => (call.ofMessage === undefined ? callKeys(of, call) : []))
  for (const { state, status: said, providerId, error } of messages) {
    if (state !== 'done') continue
    const outcome = said === 'sent' ? 'sent' : 'failed'
    const code = details.at(-1)?.code ?? 'providerError'
    const took = outcome === 'sent' ? { tookMs: sinceEvent(job, now) } : {}
    const reason = error?.errorId ?? ''
    keys.push(...callKeys(of, { jobId: job.id, providerId: providerId ?? noProvider, outcome, code, reason, ...took }))
  }
  if (!endedStatuses.has(status)) return keys
  keys.push({ measure: 'steps', ...of, outcome: status })
  if (next === null && rest === null) keys.push(endingKey(job, status))
  const isBuried = details.some(({ code }) => code === 'buried')
  if (isBuried) keys.push({ measure: 'buried', ...of })
  if (status === 'failed' && calls.length === 0 && messages.length === 0) keys.push(stepFailure(of, details))
  return keys
}

type StepKey = Pick<CountKey, 'versionId' | 'step'>

function callKeys(of: StepKey, { providerId, outcome, code, reason, tookMs }: CountedCall): CountKey[] {
  if (outcome === 'retried') return [{ measure: 'retries', ...of, providerId }]
  const said: CountKey = { measure: 'messages', ...of, providerId, outcome }
  if (outcome === 'failed' || outcome === 'unsure') {
    return [said, { measure: 'failures', ...of, providerId, outcome, code, reason }]
  }
  if (tookMs === undefined) return [said]
  return [said, { measure: 'deliveries', ...of, providerId, bucket: deliveryBucketOf(tookMs) }]
}

/** A step that failed without a message: by the last thing that went wrong. */
function stepFailure(of: StepKey, details: readonly StoredDetail[]): CountKey {
  const last = details.findLast(({ code }) => wordings[code].status === 'Failed') ?? details.at(-1)
  const providerId = last?.providerId ?? noProvider
  return { measure: 'failures', ...of, providerId, outcome: 'failed', code: last?.code ?? 'buried' }
}

const endingKey = ({ versionId }: Pick<Job, 'versionId'>, outcome: string): CountKey => ({
  measure: 'endings',
  versionId,
  outcome,
})

function overKeysOf(job: NewJob, isLast: boolean): CountKey[] {
  const { versionId, step, status, details } = job
  const ended: CountKey = { measure: 'steps', versionId, step, outcome: status }
  if (!isLast) return [ended]
  // As in the progress of events: a failure that kept the last steps from running is the result.
  const isFailed = status === 'canceled' && details.some(({ code }) => code === 'previousFailed')
  return [ended, endingKey(job, isFailed ? 'failed' : status)]
}
