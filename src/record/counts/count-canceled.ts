// What a cancellation adds to the counts: the steps that will not run, and the notifications that end with it.
import type { CountedKey, CountKey } from '../../store/operate/counts.ts'

interface CanceledJob {
  readonly versionId: string
  readonly step: number
}

/** With its last step a notification is over. */
export function countedCanceled<Job extends CanceledJob>(
  jobs: readonly Job[],
  isLast: (job: Job) => boolean,
): CountedKey[] {
  const counts = new Map<string, { key: CountKey; count: number }>()
  const add = (key: CountKey): void => {
    const text = `${key.versionId} ${key.step}`
    const known = counts.get(text) ?? { key, count: 0 }
    counts.set(text, { key, count: known.count + 1 })
  }
  for (const job of jobs) {
    const { versionId, step } = job
    add({ measure: 'steps', versionId, step, outcome: 'canceled' })
    if (isLast(job)) add({ measure: 'endings', versionId, outcome: 'canceled' })
  }
  return [...counts.values()]
}
