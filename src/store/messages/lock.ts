// Finding one message, to change it.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageRow } from './rows.ts'
import { isListed, messageColumns } from './rows.ts'

/** One listed message of a subscriber. No one else changes it before the transaction ends. */
export async function lockMessage(
  tx: Tx,
  environment: Environment,
  message: { id: string; subscriberId: string },
): Promise<MessageRow | undefined> {
  return tx.row<MessageRow>(sql`
    select ${messageColumns} from messages m
    where m.environment_id = ${environment.id} and m.id = ${message.id} and m.subscriber_id = ${message.subscriberId}
      and ${isListed}
    for no key update`)
}
