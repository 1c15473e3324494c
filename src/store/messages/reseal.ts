// Sealed addresses of messages under the current key, with the hash that they are found by.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { isSealedOtherwise, resealed } from '../operate/sealed-columns.ts'
import { addressDigest } from './addresses.ts'

/** Up to `limit` that another key sealed, by id, after the one named. */
export async function resealAddresses(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; addresses: Buffer }>(sql`
    select id, addresses from messages
    where environment_id = ${environment.id} and id > ${after ?? nilId} and ${isSealedOtherwise(sql`addresses`, sealer)}
    order by id limit ${limit} for update`)
  const sealed = rows.map(({ id, addresses }) =>
    resealed(sealer, environment, { purpose: 'message-addresses', record: id }, addresses),
  )
  const digests = rows.map((row) => addressDigest(sealer, environment, row))
  await tx.run(sql`
    update messages m set addresses = s.addresses, address_digest = s.digest
    from unnest(${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[], ${digests}::bytea[]) as s (id, addresses, digest)
    where m.environment_id = ${environment.id} and m.id = s.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}
