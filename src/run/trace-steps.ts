// Spans for the steps of a batch whose events are traced: one per job, and one for what was written for it.
import { fanOutLane } from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Mark, Span, Tracer } from '../world/tracer.ts'
import type { DecidedJob } from './decide/decide-job.ts'
import type { JobFacts } from './decide/job-facts.ts'

/** Of one event's fan-out, in one batch: the others went the same way, and no one reads a trace of a million spans. */
const fannedOutPerBatchMax = 4

interface TracedStep {
  readonly span: Span
  readonly facts: JobFacts
  decision: string | undefined
}

export class StepTracing {
  readonly #tracer: Tracer
  readonly #since: Mark
  readonly #batchSize: number
  readonly #steps = new Map<string, TracedStep>()
  readonly #fannedOut = new Map<string, number>()
  #recordingSince: Mark | undefined

  constructor(tracer: Tracer, batchSize: number) {
    this.#tracer = tracer
    this.#since = tracer.mark()
    this.#batchSize = batchSize
  }

  /** With a span, unless the job's event is not traced, or enough of its jobs are. */
  begin(facts: JobFacts): JobFacts {
    const { job, event, step } = facts
    if (event.traceparent == null || !this.#isWanted(job)) return facts
    const name = `${job.status === 'running' ? 'resume' : 'decide'} ${step.template.type}`
    const span = this.#tracer.begin(name, event.traceparent, { since: this.#since })
    if (span === undefined) return facts
    this.#steps.set(job.id, { span, facts, decision: undefined })
    return { ...facts, span }
  }

  #isWanted({ lane, eventId }: Job): boolean {
    if (lane !== fanOutLane) return true
    const before = this.#fannedOut.get(eventId) ?? 0
    this.#fannedOut.set(eventId, before + 1)
    return before < fannedOutPerBatchMax
  }

  decided(job: Job, decided: DecidedJob): void {
    const step = this.#steps.get(job.id)
    if (step !== undefined) step.decision = wordOf(decided)
  }

  /** It runs separately later, with its own span. */
  forget(job: Job): void {
    this.#steps.delete(job.id)
  }

  recording(): void {
    if (this.#steps.size > 0) this.#recordingSince = this.#tracer.mark()
  }

  /** All is written that was decided. */
  recorded(): void {
    for (const { span, facts, decision } of this.#steps.values()) {
      const since = this.#recordingSince
      if (since !== undefined) this.#tracer.begin('record decision', span.traceparent, { since })?.end()
      const attributes = {
        'posthorn.step.type': facts.step.template.type,
        'posthorn.workflow': facts.version.identifier,
        'posthorn.decision': decision,
        'posthorn.batch.size': this.#batchSize,
      }
      span.end({ attributes, failed: decision === 'failed' })
    }
  }
}

/** Sent, called, or its final status; digests and throttles decide when they are written. */
function wordOf(decided: DecidedJob): string {
  if ('send' in decided) return 'send'
  if ('call' in decided) return 'call'
  const { settled } = decided
  return 'status' in settled ? settled.status : 'join' in settled ? 'digest' : 'throttle'
}

/** One check for undefined if tracing is off. */
export const traceSteps = (tracer: Tracer | undefined, jobs: readonly Job[]): StepTracing | undefined =>
  tracer === undefined ? undefined : new StepTracing(tracer, jobs.length)

export const withSpan = (tracing: StepTracing | undefined, facts: JobFacts | undefined): JobFacts | undefined =>
  tracing === undefined || facts === undefined ? facts : tracing.begin(facts)
