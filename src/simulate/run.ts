// One recipient's run as far as it was followed: the current job, the current time, and the result of each step.

import type { CallOut } from '../domain/delivery/decision.ts'
import type { Job, JobState, JobStatus } from '../domain/delivery/job.ts'
import { timestampOfId } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import { preLeasedJob } from '../record/notify.ts'
import type { Settlement } from '../record/settlement.ts'
import { endedJobsOf, isReleased, nextJobs, withDigestCount } from '../record/write-settlements.ts'
import type { DigestFacts } from '../store/events/digests.ts'
import type { Member } from './audience.ts'
import type { BudgetedMessage, ContentBudget } from './content-budget.ts'
import { budgetedDetail, budgetedMessage } from './content-budget.ts'

/** The window that a step opens or joins. */
export interface WindowSeen {
  readonly opened: boolean
  readonly until: Date
  /** With this event. */
  readonly events: number
  readonly openedAt?: Date | undefined
  /** Who goes on for the others. */
  readonly notificationId?: string | undefined
  /** The first events that were gathered before. */
  readonly transactionIds: readonly string[]
}

export interface ThrottleSeen {
  readonly count: number
  readonly threshold: number
  readonly until: Date
}

export interface StepRun {
  status: JobStatus
  /** False if it was ended before its turn. */
  isReached: boolean
  readonly beginsAt: Date
  endsAt: Date
  details: StoredDetail[]
  state: JobState | null
  messages: BudgetedMessage[]
  /** The ends of its waits, in order. */
  readonly waits: Date[]
  window?: WindowSeen
  throttle?: ThrottleSeen
  /** The customer's service that would be called. */
  call?: CallOut
  /** The addresses that its conditions would ask. */
  asks: readonly string[]
}

export interface Run {
  readonly member: Member
  readonly notificationId: string
  /** Undefined when it is over. */
  job: Job | undefined
  now: Date
  /** By the place of the step. */
  readonly steps: Map<number, StepRun>
  /** What its digests gathered, by window. */
  readonly gathered: Map<string, DigestFacts>
}

export const beginRun = (member: Member, job: Job): Run => ({
  member,
  notificationId: job.notificationId,
  job,
  now: timestampOfId(job.eventId),
  steps: new Map(),
  gathered: new Map(),
})

export function stepRunOf(run: Run, place: number): StepRun {
  const known = run.steps.get(place)
  if (known !== undefined) return known
  const begun: StepRun = {
    status: 'queued',
    isReached: false,
    beginsAt: run.now,
    endsAt: run.now,
    details: [],
    state: null,
    messages: [],
    waits: [],
    asks: [],
  }
  run.steps.set(place, begun)
  return begun
}

function withCount(run: Run, settlement: Settlement, windowId: string): Settlement {
  return withDigestCount(settlement, new Map([[windowId, run.gathered.get(windowId)?.total ?? 0]]), run.now)
}

/** What would be written for the job, assumed to be written: its next turn, the next step, or the end. */
export function settle(
  { environment, budget }: { readonly environment: Environment; readonly budget: ContentBudget },
  run: Run,
  given: Settlement,
): void {
  const { job } = given
  const settlement = given.closes === null ? given : withCount(run, given, given.closes)
  const step = stepRunOf(run, job.step)
  const state = settlement.state ?? job.state
  step.status = settlement.status
  for (const one of settlement.details) step.details.push(budgetedDetail(budget, one))
  for (const message of settlement.messages) step.messages.push(budgetedMessage(budget, message))
  step.state = state
  step.endsAt = run.now
  for (const ended of endedJobsOf(settlement)) {
    const rest = stepRunOf(run, ended.step)
    rest.status = ended.status
    rest.details.push(...ended.details)
  }
  if (settlement.due.kind !== 'over') {
    const due = settlement.due.kind === 'leased' ? run.now : settlement.due.at
    if (due > run.now) step.waits.push(due)
    run.now = due > run.now ? due : run.now
    const digestId = isReleased(settlement) ? settlement.closes : job.digestId
    run.job = { ...job, status: settlement.status, state, digestId }
    return
  }
  const [next] = nextJobs([settlement])
  run.job = next === undefined ? undefined : preLeasedJob(environment, next, '', job.event)
}
