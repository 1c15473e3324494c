// How long the messages of each version are: jobs with long e-mails are decided a few at a time. A hundred of them in one
// statement would take tens of megabytes on both sides, and keep others waiting while it is made.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Job } from '../domain/delivery/job.ts'
import { lettersOf } from '../domain/messages/message.ts'
import type { Send } from './decide/suppressed.ts'

export interface BatchWeights {
  /** All of them in their order, those of long messages in pieces. */
  piecesOf(jobs: readonly Job[]): (readonly Job[])[]
  /** What was just decided, for the next. */
  note(sends: readonly Send[]): void
}

/** As many letters as are written at once. */
const lettersAtOnceMax = 1024 * 1024
const versionsKeptMax = 2_000

export function createBatchWeights(): BatchWeights {
  /** Letters for each job. */
  const weights = new BoundedMap<string, number>(versionsKeptMax)
  return {
    piecesOf: (jobs) => {
      const pieces: Job[][] = []
      let letters = 0
      for (const job of jobs) {
        const weight = weights.get(job.versionId) ?? 0
        letters += weight
        const last = pieces.at(-1)
        if (last !== undefined && letters <= lettersAtOnceMax) {
          last.push(job)
          continue
        }
        pieces.push([job])
        letters = weight
      }
      return pieces
    },
    note: (sends) => {
      const seen = new Map<string, { letters: number; sends: number }>()
      for (const { facts, decision } of sends) {
        const known = seen.get(facts.job.versionId) ?? { letters: 0, sends: 0 }
        for (const { envelope } of decision.messages) known.letters += envelope === undefined ? 0 : lettersOf(envelope)
        known.sends += 1
        seen.set(facts.job.versionId, known)
      }
      for (const [versionId, { letters, sends: count }] of seen) weights.set(versionId, letters / count)
    },
  }
}
