// Makes the calls that were recorded as started, queues those that wait, and reports what has finished.
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import type { Handling } from '../queue/worker.ts'
import type { RecordedBatch } from './record-placed.ts'
import type { Queued } from './send/call-queue.ts'
import type { CustomCallQueue } from './send/custom-calls.ts'
import type { SendQueue } from './send/place-sends.ts'

export interface DispatchParts {
  /** Messages that wait for providers. */
  readonly sends: Pick<SendQueue, 'start' | 'add'>
  /** Custom steps that wait for customers' services. */
  readonly customCalls: Pick<CustomCallQueue, 'add'>
}

type Dispatched = Pick<RecordedBatch, 'jobs' | 'begun' | 'waiting' | 'calls' | 'madeAfter'> & {
  /** Jobs whose conditions are being evaluated by webhooks: they are reported when that has finished. */
  readonly asking?: readonly Job[]
}

/** Every job is reported once: when its call, or that of the step that follows it at once, is over; or now. */
export function dispatch(
  { sends, customCalls }: DispatchParts,
  environment: Environment,
  { jobs, begun, waiting, calls, madeAfter, asking = [] }: Dispatched,
  handling: Handling<Job>,
): void {
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const open = new Set<Job>(asking)
  const queued = <Call extends { facts: { job: Job } }>(call: Call): Queued<Call> => {
    const { job } = call.facts
    // The capacity of a step that follows another at once is that of the other.
    const owner = byId.get(madeAfter.get(job.id) ?? job.id) ?? job
    open.add(owner)
    return { environment, call, ended: () => handling.done(owner) }
  }
  const started = begun.map(queued)
  const later = waiting.map(queued)
  const called = calls.map(queued)
  for (const job of jobs) if (!open.has(job)) handling.done(job)
  sends.start(started)
  sends.add(later)
  customCalls.add(called)
}
