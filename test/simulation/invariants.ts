// What must hold after every simulated run, whatever went wrong on the way: written from the promises, not from the worker.
import type { Sql } from '../../src/db/sql.ts'
import { isGivenUp } from './given-up.ts'
import { countMistakes } from './invariants-counts.ts'
import { deliveryMistakes } from './invariants-deliveries.ts'
import { feedMistakes } from './invariants-feed.ts'
import type { Ledger } from './ledger.ts'
import { isAcknowledged } from './ledger.ts'
import type { Written } from './written.ts'
import { readWritten } from './written.ts'

/** Everything that does not hold, as sentences. */
export async function mistakesOf(db: Sql, environmentId: string, ledger: Ledger): Promise<string[]> {
  const written = await readWritten(db, environmentId)
  return [
    ...notificationMistakes(ledger, written),
    ...unfinished(ledger, written),
    ...feedMistakes(ledger, written),
    ...deliveryMistakes(ledger, written),
    ...(await countMistakes(db, environmentId)),
  ]
}

/** Every acknowledged recipient has exactly one notification, and nothing else exists. */
function notificationMistakes(ledger: Ledger, written: Written): string[] {
  const mistakes: string[] = []
  for (const event of ledger.events) {
    for (const recipient of event.recipients) {
      const count = written.notifications.filter((one) => one.number === event.number && one.to === recipient).length
      if (count > 1) mistakes.push(`event ${event.number} has ${count} notifications for ${recipient}`)
      // Its fan-out may end with the cancel.
      const isOwed = isAcknowledged(event) && event.cancelAskedAtMs === undefined
      if (count === 0 && isOwed) mistakes.push(`event ${event.number} has no notification for ${recipient}`)
    }
    const known = new Set(event.recipients)
    for (const one of written.notifications) {
      if (one.number === event.number && !known.has(one.to))
        mistakes.push(`event ${event.number} has a notification for ${one.to}`)
    }
  }
  return mistakes
}

const over = new Set(['completed', 'skipped', 'canceled', 'merged', 'failed'])

/** Nothing unfinished, nothing failed, nothing buried, nothing still leased or due. */
function unfinished(ledger: Ledger, written: Written): string[] {
  const mistakes: string[] = []
  for (const job of written.jobs) {
    const name = `job ${job.step} (${job.type}) of event ${job.number} for ${job.to}`
    if (!over.has(job.status)) mistakes.push(`${name} is ${job.status}`)
    if (job.isDue) mistakes.push(`${name} is ${job.status} and still due`)
    if (job.isBuried) mistakes.push(`${name} is buried`)
    if (job.status === 'failed' && !isGivenUp(ledger, job)) mistakes.push(`${name} failed: ${job.codes.join(', ')}`)
  }
  for (const task of written.tasks) mistakes.push(`a task is left: ${task.kind}${task.isBuried ? ', buried' : ''}`)
  return mistakes
}
