// The end of a snooze: the message is back at the top of the feed, unread.
import type { Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { unsnoozeMessages } from '../store/messages/snooze.ts'

/** How many came back. One that is not put off any more is left alone, so a task that runs twice does no harm. */
export async function endSnoozes(
  tx: Tx,
  environment: Environment,
  messageIds: readonly string[],
  now: Date,
): Promise<number> {
  if (messageIds.length === 0) return 0
  return unsnoozeMessages(tx, environment, messageIds, now)
}
