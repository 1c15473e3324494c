// Sealed columns: which of them another key sealed, and how they are resealed.

import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer, SealPurpose } from '../../domain/operate/sealed.ts'

/** The record id for the row of an environment itself, of which there is one. */
export const ownRow = 'environment'
/** The first secret is stored with the environment, the others have their own rows. */
export const signingRecord = (version: number): string => `version ${version}`

/**
 * The format is in the first byte of a sealed value, the key's id in the next four. For null this is null, which no
 * `where` matches.
 */
export function isSealedOtherwise(column: Statement, sealer: Sealer): Statement {
  if (sealer.movesForms !== true) return sql`substring(${column} from 2 for 4) <> ${sealer.keyId}`
  return sql`substring(${column} from 1 for 5) <> ${Buffer.concat([Buffer.of(sealer.form()), sealer.keyId])}`
}

export function resealed(
  sealer: Sealer,
  environment: Environment,
  { purpose, record }: { purpose: SealPurpose; record: string },
  sealed: Buffer,
): Buffer {
  return sealer.seal(environment.id, purpose, record, sealer.open(environment.id, purpose, record, sealed))
}
