// What this node has reported of integrations that fail. In an outage every outcome would report the same event, and every
// statement would wait for the one that writes it.
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'

export interface FailingReports {
  /** `write` gets each event with one outcome only, and not if it was reported before; it returns the jobs that were written. */
  once(
    outcomes: readonly JobOutcome[],
    write: (outcomes: readonly JobOutcome[]) => Promise<ReadonlySet<string>>,
  ): Promise<void>
}

/** Integrations that fail within an hour. One that is forgotten is reported again, and its deliveries know the repeat. */
const reportsMax = 10_000

export function createFailingReports(): FailingReports {
  // The id of an event stands for the integration and the hour.
  const reported = new BoundedMap<string, true>(reportsMax)
  return {
    async once(outcomes, write) {
      const reporters = new Map<string, string>()
      const left = outcomes.map((outcome) => withFirst(outcome, reported, reporters))
      let written: ReadonlySet<string> = new Set()
      try {
        written = await write(left)
      } finally {
        // It was not written with a job that was not: the next outcome reports it.
        for (const [id, jobId] of reporters) if (!written.has(jobId)) reported.delete(id)
      }
    },
  }
}

/** Most outcomes report no failure, and stay as they are. */
function withFirst(outcome: JobOutcome, reported: Map<string, true>, reporters: Map<string, string>): JobOutcome {
  if (outcome.results.every(({ failing }) => failing === undefined)) return outcome
  const results = outcome.results.map((result) => {
    const { failing, ...rest } = result
    if (failing === undefined) return result
    if (reported.has(failing.id)) return rest
    reported.set(failing.id, true)
    reporters.set(failing.id, outcome.settlement.job.id)
    return result
  })
  return { ...outcome, results }
}
