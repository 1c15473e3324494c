// The signing secrets of environments, opened once each and kept: they never change.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/sealed.ts'
import { findSigningSecret } from '../../store/installation.ts'

export interface SigningSecrets {
  /** The bytes of the text that callers are shown, which is what they verify with. */
  of(db: Sql, environment: Environment): Promise<Buffer>
}

const environmentsMax = 1_000

export function createSigningSecrets(sealer: Sealer): SigningSecrets {
  const kept = new Map<string, Buffer>()
  return {
    of: async (db, environment) => {
      const known = kept.get(environment.id)
      if (known !== undefined) return known
      const text = await findSigningSecret(db, sealer, environment)
      if (text === undefined) throw new Error(`Environment ${environment.id} is missing`)
      if (kept.size >= environmentsMax) kept.clear()
      const secret = Buffer.from(text, 'utf8')
      kept.set(environment.id, secret)
      return secret
    },
  }
}
