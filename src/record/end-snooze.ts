// The end of a snooze: the message is back at the top of the feed, unread.
import type { Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import { appendDetails } from '../store/jobs/append.ts'
import { unsnoozeMessages } from '../store/messages/snooze.ts'

/** How many came back. One that is not put off any more is left alone, so a task that runs twice does no harm. */
export async function endSnoozes(
  tx: Tx,
  environment: Environment,
  messageIds: readonly string[],
  now: Date,
): Promise<number> {
  if (messageIds.length === 0) return 0
  const jobIds = await unsnoozeMessages(tx, environment, messageIds, now)
  const details = [detail(now, 'unsnoozed')]
  await appendDetails(
    tx,
    environment,
    jobIds.map((jobId) => ({ jobId, details })),
  )
  return jobIds.length
}
