// How long the messages of a step are: jobs with long e-mails are decided a few at a time. A hundred of them in one statement would take
// tens of megabytes on both sides, and keep others waiting while it is made.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Job } from '../domain/delivery/job.ts'
import { lettersOf } from '../domain/messages/message.ts'
import type { DecidedBatch } from './decide/decide-batch.ts'

export interface BatchWeights {
  /** How much of a batch the job is likely to fill, by what the last of its step had: 1 is all of it. */
  shareOf(job: Job): number
  /** What was just decided of these jobs, for the next. */
  note(jobs: readonly Job[], decided: Omit<DecidedBatch, 'deferred' | 'calls'>): void
}

/** As many letters as are written at once. */
const lettersAtOnceMax = 1024 * 1024
const stepsKeptMax = 5_000

export function createBatchWeights(): BatchWeights {
  /** Letters for each job of a step, with what follows it at once. */
  const weights = new BoundedMap<string, number>(stepsKeptMax)
  return {
    shareOf: (job) => (weights.get(keyOf(job)) ?? 0) / lettersAtOnceMax,
    note: (jobs, decided) => {
      const { sends, madeAfter } = decided
      const undecided = undecidedIn(decided)
      const letters = new Map<string, number>()
      for (const { facts, decision } of sends) {
        const id = madeAfter.get(facts.job.id) ?? facts.job.id
        let sum = letters.get(id) ?? 0
        for (const { envelope } of decision.messages) sum += envelope === undefined ? 0 : lettersOf(envelope)
        letters.set(id, sum)
      }
      const seen = new Map<string, { letters: number; jobs: number }>()
      for (const job of jobs) {
        if (undecided.has(job.id)) continue
        const known = seen.get(keyOf(job)) ?? { letters: 0, jobs: 0 }
        known.letters += letters.get(job.id) ?? 0
        known.jobs += 1
        seen.set(keyOf(job), known)
      }
      for (const [key, known] of seen) weights.set(key, known.letters / known.jobs)
    },
  }
}

/** Of what was put off, because its provider rests or for lack of time, nothing was rendered: it says nothing of the next. */
function undecidedIn({
  settlements,
  asking,
  unrendered,
  faulty,
}: Omit<DecidedBatch, 'deferred' | 'calls'>): Set<string> {
  const jobs = [...settlements.filter(({ status }) => status === 'queued'), ...asking, ...faulty].map(({ job }) => job)
  return new Set([...jobs, ...unrendered].map(({ id }) => id))
}

const keyOf = ({ versionId, step }: Job): string => `${versionId}/${step}`
