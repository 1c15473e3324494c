// Follows the runs of an event to their ends in virtual time, in waves: the current job of every unfinished run,
import type { Db } from '../db/sql.ts'
// decided as the worker decides it, with its consequences assumed.
import type { Environment } from '../domain/environment.ts'
import type { Renderer } from '../domain/workflows/rendering.ts'
import type { NotificationStep } from '../domain/workflows/workflow.ts'
import { decideElsewhere, elsewhereOnly } from '../render/elsewhere.ts'
import { abandoned, decideJob, jobFactsFrom } from '../run/decide/decide-job.ts'
import type { Facts } from '../run/decide/load-facts.ts'
import { openQuestions } from '../run/decide/step-conditions.ts'
import { needsOf } from '../run/decide/step-needs.ts'
import type { Send, SuppressionParts } from '../run/decide/suppressed.ts'
import { leavingOut, suppressedAmong } from '../run/decide/suppressed.ts'
import type { UnsubscribeLinks } from '../run/decide/unsubscribe-headers.ts'
import type { PendingCall } from '../run/send/custom-calls.ts'
import { callSettled } from '../run/send/custom-calls.ts'
import type { OutgoingParts } from '../run/send/place-sends.ts'
import { outgoingOf, withoutIntegration } from '../run/send/place-sends.ts'
import { begunSettlement } from '../run/send/settle-begun.ts'
import { settleCalls } from '../run/send/settle-outcomes.ts'
import type { PreviousStep } from '../store/jobs/step-runs.ts'
import type { World } from '../world/world.ts'
import type { ContentBudget } from './content-budget.ts'
import { budgetedDetail, contentLengthMax, roughLengthOf } from './content-budget.ts'
import type { Run } from './run.ts'
import { settle, stepRunOf } from './run.ts'
import type { Turns } from './turns.ts'
import type { DeferredRun, WindowParts } from './windows.ts'
import { settleDeferred } from './windows.ts'

/** Assumptions about others. */
export interface Assumptions {
  /** Whether the answers that conditions ask for hold. */
  readonly webhooksHold: boolean
  /** The response of a custom step's service. */
  readonly callResult: Readonly<Record<string, unknown>>
}

/** What deciding takes here, besides the facts. */
export interface FollowingParts extends SuppressionParts, OutgoingParts {
  readonly db: Db
  readonly world: World
}

export interface Following {
  readonly deciding: FollowingParts
  readonly environment: Environment
  readonly facts: Facts
  readonly links: UnsubscribeLinks | undefined
  readonly windows: WindowParts
  readonly assumptions: Assumptions
  /** What templates see as now. Set before rendering. */
  readonly clock: { at: Date }
  readonly budget: ContentBudget
  readonly turns: Turns
}

/**
 * A step is visited a few times at most: when its turn comes, when it was held, when its wait ends, and when it is
 * postponed three times.
 */
const looksPerStepMax = 8

/** Runs that are not finished after this many waves are left as they are. */
export async function followRuns(following: Following, runs: readonly Run[], steps: number): Promise<void> {
  for (let wave = 0; wave < steps * looksPerStepMax; wave += 1) {
    const live = runs.filter(({ job }) => job !== undefined)
    if (live.length === 0) return
    await followWave(following, live)
  }
}

interface Sending {
  readonly run: Run
  readonly send: Send
}

async function followWave(following: Following, runs: readonly Run[]): Promise<void> {
  const { deciding, environment, windows, turns } = following
  const deferredRuns: DeferredRun[] = []
  let sends: Sending[] = []
  let length = 0
  turns.begin()
  for (const run of runs) {
    const over = turns.over()
    if (over !== undefined) await over
    const send = await decideRun(following, run, deferredRuns)
    if (send === undefined) continue
    sends.push({ run, send })
    length += send.decision.messages.reduce((sum, draft) => sum + roughLengthOf(draft), 0)
    // Together they are asked for once; those that are large must not pile up for it.
    if (length < contentLengthMax) continue
    await sendAll(following, sends)
    sends = []
    length = 0
  }
  await sendAll(following, sends)
  if (deferredRuns.length === 0) return
  const settled = await deciding.db.together((db) => settleDeferred(db, environment, deferredRuns, windows))
  for (const { run, settlement } of settled) settle(following, run, settlement)
}

async function sendAll(following: Following, sends: readonly Sending[]): Promise<void> {
  const { deciding, environment, facts, turns } = following
  if (sends.length === 0) return
  const asked = sends.map(({ send }) => send)
  const found = facts.mayBeSuppressed ? await suppressedAmong(deciding, environment, asked) : undefined
  turns.begin()
  for (const { run, send } of sends) {
    const over = turns.over()
    if (over !== undefined) await over
    following.clock.at = run.now
    const left = found === undefined || found.size === 0 ? send : leavingOut(deciding, send, found, run.now)
    if ('status' in left) settle(following, run, left)
    else sendNow(following, run, left)
  }
}

/** What has to be sent for it, if anything; its deferred decisions are added to those of the others. */
async function decideRun(following: Following, run: Run, deferredRuns: DeferredRun[]): Promise<Send | undefined> {
  const { environment, links, assumptions, clock } = following
  const { job, now } = run
  if (job === undefined) return undefined
  const facts = factsAt(following, run)
  const known = jobFactsFrom(facts, job, links)
  if (known === undefined) {
    settle(following, run, abandoned(facts, job, now))
    return undefined
  }
  const step = stepRunOf(run, job.step)
  step.isReached = true
  const { webhooksHold } = assumptions
  const jobFacts = needsOf(known.step).webhooks ? { ...known, webhooksHold } : known
  const { asks, decided } = await rendering(following, now, (renderer) => {
    clock.at = now
    return {
      asks: openQuestions(known, renderer, now),
      decided: decideJob({ environment, facts, links, renderer, now }, jobFacts),
    }
  })
  if (asks.length > 0) step.asks = asks
  if ('send' in decided) return decided.send
  if ('call' in decided) callNow(following, run, decided.call)
  else if ('status' in decided.settled) settle(following, run, decided.settled)
  else deferredRuns.push({ run, decision: decided.settled })
  return undefined
}

/** Here, where it costs little and is saved; else in a thread. */
async function rendering<Result>(
  { deciding: { world, renderer }, windows }: Following,
  now: Date,
  decide: (renderer: Renderer) => Result,
): Promise<Result> {
  const first = windows.isSaved ? (renderer.small ?? renderer) : elsewhereOnly
  return decideElsewhere({ threads: world.threads, renderer, first, now: () => now, decide })
}

/** As the worker would load them: what went before in this run, and the events of the digest it is in. */
function factsAt({ facts }: Following, run: Run): Facts {
  const { job } = run
  if (job === undefined) return facts
  const steps = facts.versions.get(job.versionId)?.definition.steps ?? []
  const step = steps[job.step]
  const earlier = step !== undefined && needsOf(step).previous ? earlierSteps(run, job.step, steps) : []
  const gathered = run.gathered.get(job.digestId ?? '')
  if (earlier.length === 0 && gathered === undefined) return facts
  return {
    ...facts,
    digests: gathered === undefined ? facts.digests : new Map([[gathered.window_id, gathered]]),
    previous: earlier.length === 0 ? facts.previous : new Map([[run.notificationId, earlier]]),
  }
}

function earlierSteps(run: Run, before: number, steps: readonly NotificationStep[]): PreviousStep[] {
  return steps.slice(0, before).flatMap((_, place) => {
    const known = run.steps.get(place)
    if (known === undefined) return []
    const { status, state, messages } = known
    // Those without a status were given to a provider, which took them.
    const said = messages.map((message) => ({ status: message.status ?? 'sent', seen: false, read: false }))
    return [{ notificationId: run.notificationId, step: place, status, state, messages: said }]
  })
}

/** The provider is assumed to accept every message. */
function sendNow(following: Following, run: Run, { facts, decision }: Send): void {
  const { deciding, environment, facts: known } = following
  const { now } = run
  const outgoing = outgoingOf({ parts: deciding, now }, environment, known, facts, decision)
  if (outgoing.messages.length === 0) {
    settle(following, run, withoutIntegration(facts, decision, now))
    return
  }
  const begun = begunSettlement(outgoing, now)
  settle(following, run, begun)
  // No provider accepted it, so there is nothing to report about it.
  const { state } = begun
  const taken = { details: [], state: state ?? {}, isReached: true, isLeftUnsure: false, again: [], now }
  settle(following, run, settleCalls(facts, taken))
}

function callNow(following: Following, run: Run, call: PendingCall): void {
  const { assumptions, budget } = following
  const { now } = run
  const step = stepRunOf(run, call.facts.job.step)
  step.call = call.decision
  for (const one of call.decision.details) step.details.push(budgetedDetail(budget, one))
  const outcome = { kind: 'answered', facts: {}, result: assumptions.callResult } as const
  settle(following, run, { ...callSettled(call, outcome, { now, random: 0 }), details: [] })
}
