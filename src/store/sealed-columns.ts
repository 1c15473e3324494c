// Sealed columns: which of them another key sealed, and how they are sealed anew.

import type { Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Sealer, SealPurpose } from '../domain/sealed.ts'

/** Before every id there is. */
export const nilId = '00000000-0000-0000-0000-000000000000'

/** The key's id stands in the bytes 2 to 5 of a sealed value. Of null this is null, which no `where` takes. */
export function isSealedOtherwise(column: Statement, sealer: Sealer): Statement {
  return sql`substring(${column} from 2 for 4) <> ${sealer.keyId}`
}

export function sealedAnew(sealer: Sealer, environment: Environment, purpose: SealPurpose, sealed: Buffer): Buffer {
  return sealer.seal(environment.id, purpose, sealer.open(environment.id, purpose, sealed))
}
