// The inbound_tokens table: tokens that vendors signed, each with what it came with.
import { createHash } from 'node:crypto'
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/** Long after a vendor has given up repeating a call. */
const keptDays = 30
const dayMs = 24 * 60 * 60_000

/**
 * Whether the token is new, or came with the same content before: then the vendor repeats a request that got no
 * response.
 */
export async function rememberWord(
  db: Sql,
  environment: Environment,
  integrationId: string,
  { token, content }: { readonly token: string; readonly content: string | Buffer },
  now: Date,
): Promise<boolean> {
  const hash = hashOf(content)
  const row = await db.row<{ content: Buffer }>(sql`
    insert into inbound_tokens as t (environment_id, integration_id, token, content, seen_at)
    values (${environment.id}, ${integrationId}, ${hashOf(token)}, ${hash}, ${now})
    on conflict (environment_id, integration_id, token) do update set seen_at = t.seen_at
    returning t.content`)
  return row?.content.equals(hash) === true
}

const hashOf = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()

/** Deletes at most `limit` old words of all environments and says how many it deleted. */
export async function sweepSignedTexts(tx: Tx, now: Date, limit: number): Promise<number> {
  return tx.run(sql`delete from inbound_tokens where ctid = any(array(
    select ctid from inbound_tokens
    where seen_at <= ${new Date(now.getTime() - keptDays * dayMs)}
    order by seen_at limit ${limit} for update skip locked))`)
}
