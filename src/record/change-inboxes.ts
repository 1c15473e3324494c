// Numbers a change of inboxes before it is made, so that their streams find it, and gives those a hint.
import type { Sql, Tx } from '../db/sql.ts'
import { whenCommitted } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { findInboxesOf } from '../store/messages/changes.ts'
import type { CountedInboxes } from '../store/messages/inbox-changes.ts'
import { countInboxChange } from '../store/messages/inbox-changes.ts'
import type { World } from '../world/world.ts'

/** To be called before the first message is locked: whoever changes messages has the number of their inbox first. */
export async function changeInboxes(
  tx: Tx,
  world: World,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<CountedInboxes> {
  const counted = await countInboxChange(tx, environment, [...new Set(subscriberIds)])
  hintAt(tx, world, environment, [...counted.keys()])
  return counted
}

/** The inboxes that these messages are in. */
export async function changeInboxesOf(
  tx: Tx,
  world: World,
  environment: Environment,
  messageIds: readonly string[],
): Promise<CountedInboxes> {
  return changeInboxes(tx, world, environment, await findInboxesOf(tx, environment, messageIds))
}

/** After the commit, so that one look finds it. */
function hintAt(db: Sql | Tx, world: World, environment: Environment, subscriberIds: readonly string[]): void {
  if (subscriberIds.length === 0) return
  whenCommitted(db, () => world.inboxHint?.(environment.id, subscriberIds))
}

/** Those that a statement has answered with as one text. */
export function hintAtListed(
  db: Sql | Tx,
  world: World,
  environment: Environment,
  listed: string | null | undefined,
): void {
  if (listed) hintAt(db, world, environment, listed.split(','))
}
