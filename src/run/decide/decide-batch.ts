// All jobs of a batch, decided: sorted by what becomes of each, and with each the step that follows it at once.
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { Turn } from '../../domain/turn.ts'
import { RenderElsewhere } from '../../domain/workflows/rendering.ts'
import type { PreLeasedJob } from '../../record/notify.ts'
import type { DeferredDecision, Settlement } from '../../record/settlement.ts'
import { decideElsewhere, NoThread } from '../../render/elsewhere.ts'
import type { World } from '../../world/world.ts'
import type { PendingCall } from '../send/custom-calls.ts'
import type { HoldingParts } from '../send/held-unrendered.ts'
import { heldUnrendered } from '../send/held-unrendered.ts'
import type { StepTracing } from '../trace-steps.ts'
import { withSpan } from '../trace-steps.ts'
import type { DecidedJob, DecidingParts } from './decide-job.ts'
import { abandoned, decideJob, jobFactsFrom } from './decide-job.ts'
import type { JobFacts } from './job-facts.ts'
import { Failed, sideBySide } from './side-by-side.ts'
import type { Send } from './suppressed.ts'
import { ThreadTime } from './thread-time.ts'
import type { WebhookAnswers } from './webhook-answers.ts'
import { mustAsk, withAnswers } from './webhook-answers.ts'

export interface DecidedBatch {
  readonly settlements: Settlement[]
  readonly deferred: DeferredDecision[]
  readonly sends: Send[]
  readonly calls: PendingCall[]
  /** These ask the customer's own service first. */
  readonly asking: JobFacts[]
  /** Jobs that follow others at once. */
  readonly madeAfter: Map<string, string>
  /** No thread had time to render these: they are released as they were. */
  readonly unrendered: Job[]
  /** These failed in a thread, or had one for too long. */
  readonly faulty: { readonly job: Job; readonly error: unknown }[]
}

interface BatchParts extends DecidingParts {
  readonly environment: Environment
  readonly world: World
  readonly holding: HoldingParts
  readonly answers: WebhookAnswers
  readonly tracing: StepTracing | undefined
  /** A caller waits for it: what has to be rendered in a thread is left to its own turn. */
  readonly isAtOnce?: boolean
  /** For how long jobs may be rendered in threads. */
  readonly threadsMsMax?: number
}

/** A third of a lease: the jobs were claimed a while ago, and have to be recorded and sent after it. */
const usualThreadsMsMax = 20_000
/** For how much of that threads may work for one job. What it waited for others does not count. */
const jobShareMax = 1 / 2

/** A job of the batch takes longer than a caller should wait: all of them have their own turn. */
export class DecidedLater extends Error {
  readonly job: PreLeasedJob

  constructor(job: PreLeasedJob) {
    super('A job has to be rendered in a thread')
    this.name = 'DecidedLater'
    this.job = job
  }
}

export const isLarge = ({ foreseen }: PreLeasedJob): boolean => foreseen?.isLarge === true

/** Others get their turn in between if it takes long. */
export async function decideBatch(parts: BatchParts, jobs: readonly Job[], turn = new Turn()): Promise<DecidedBatch> {
  const { facts, links, answers, tracing, now } = parts
  const batch: DecidedBatch = {
    settlements: [],
    deferred: [],
    sends: [],
    calls: [],
    asking: [],
    madeAfter: new Map(),
    unrendered: [],
    faulty: [],
  }
  const probed = new Set<string>()
  const here = decidingHere(parts)
  const expensive: JobFacts[] = []
  const take = (job: Job, decided: DecidedJob): void => {
    tracing?.decided(job, decided)
    sort(batch, decided)
    const follower = decideFollower(parts, here, job, decided)
    if (follower === undefined) return
    batch.madeAfter.set(follower.job.id, job.id)
    sort(batch, follower.decided)
  }
  for (const job of jobs) {
    if (turn.isOver()) await turn.next()
    const jobFacts = withAnswers(withSpan(tracing, jobFactsFrom(facts, job, links)), answers)
    if (jobFacts === undefined) {
      batch.settlements.push(abandoned(facts, job, now))
      continue
    }
    const held = heldUnrendered(parts.holding, jobFacts, now, probed)
    if (held !== undefined) {
      batch.settlements.push(held)
      continue
    }
    if (mustAsk(jobFacts, parts)) {
      batch.asking.push(jobFacts)
      continue
    }
    const decided = decideIfCheap(here, jobFacts)
    if (decided !== 'expensive') take(job, decided)
    else if (parts.isAtOnce === true) throw new DecidedLater(job)
    else expensive.push(jobFacts)
  }
  if (expensive.length === 0) return batch
  const bounds = { atOnce: parts.world.threads?.size ?? 1, msMax: parts.threadsMsMax ?? usualThreadsMsMax }
  const times = new Map(expensive.map((one) => [one, new ThreadTime()]))
  const rendered = await sideBySide(expensive, bounds, (one) => decideInThread(parts, one, times.get(one)))
  for (const one of expensive) {
    if (turn.isOver()) await turn.next()
    const decided = rendered.get(one)
    const error = faultOf(decided, times.get(one), bounds.msMax * jobShareMax)
    if (error !== undefined) batch.faulty.push({ job: one.job, error })
    else if (decided === undefined || decided instanceof Failed) batch.unrendered.push(one.job)
    else take(one.job, decided)
  }
  return batch
}

/** Undefined if it was decided, or only found no thread that had time for it. */
function faultOf(decided: DecidedJob | Failed | undefined, time: ThreadTime | undefined, msMax: number): unknown {
  if (decided instanceof Failed) return decided.error instanceof NoThread ? undefined : decided.error
  return decided === undefined && (time?.ms() ?? 0) >= msMax ? tooLong(msMax) : undefined
}

const tooLong = (ms: number): Error => new Error(`The templates of the step took longer than ${ms} ms to render`)

/** What costs little is rendered here; without threads everything is. */
function decidingHere(parts: BatchParts): DecidingParts {
  const { small } = parts.renderer
  return small === undefined || parts.world.threads === undefined ? parts : { ...parts, renderer: small }
}

function decideIfCheap(here: DecidingParts, jobFacts: JobFacts): DecidedJob | 'expensive' {
  try {
    return decideJob(here, jobFacts)
  } catch (error) {
    if (error instanceof RenderElsewhere) return 'expensive'
    throw error
  }
}

function decideInThread(parts: BatchParts, jobFacts: JobFacts, time = new ThreadTime()): Promise<DecidedJob> {
  const { renderer, now } = parts
  return decideElsewhere({
    threads: parts.world.threads && time.of(parts.world.threads),
    renderer,
    first: renderer.small ?? renderer,
    now: () => now,
    decide: (by) => decideJob({ ...parts, renderer: by }, jobFacts),
  })
}

function sort({ sends, calls, settlements, deferred }: DecidedBatch, decided: DecidedJob): void {
  if ('send' in decided) sends.push(decided.send)
  else if ('call' in decided) calls.push(decided.call)
  else if ('status' in decided.settled) settlements.push(decided.settled)
  else deferred.push(decided.settled)
}

/** The result of the job after this one; undefined if it runs separately, as most do. */
function decideFollower(
  parts: BatchParts,
  here: DecidingParts,
  before: Job,
  decided: DecidedJob,
): { readonly job: Job; readonly decided: DecidedJob } | undefined {
  const { facts, links, tracing } = parts
  const job = facts.followers.get(before.id)
  if (job === undefined || !goesOnWith(decided, job)) return undefined
  const found = jobFactsFrom(facts, job, links)
  if (found === undefined || mustAsk(found, parts)) return undefined
  const traced = withSpan(tracing, found) as JobFacts
  const next = orUndecided(
    () => decideJob(here, traced),
    parts.isAtOnce === true && isLarge(before) ? before : undefined,
  )
  // A call or a decision is for a job that is there.
  const isForLater = next === undefined || 'call' in next || ('settled' in next && !('status' in next.settled))
  if (isForLater) {
    tracing?.forget(job)
    return undefined
  }
  tracing?.decided(job, next)
  return { job, decided: next }
}

/**
 * A fault of ours in one step must not keep the one before it from being written: it shows again in its own turn. `large`: the
 * job before it, if callers should not wait for the next of its kind to be tried.
 */
function orUndecided(decide: () => DecidedJob, large: Job | undefined): DecidedJob | undefined {
  try {
    return decide()
  } catch (error) {
    if (error instanceof RenderElsewhere && large !== undefined) throw new DecidedLater(large)
    return undefined
  }
}

function goesOnWith(decided: DecidedJob, { step, digestId }: Job): boolean {
  if (!('settled' in decided) || !('status' in decided.settled)) return false
  const { next, closes } = decided.settled
  return closes === null && next?.step === step && next.digestId === digestId
}
