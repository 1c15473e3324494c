// What environments sign with, opened once each and cached for a while: a rotation on another node is seen soon.
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SigningKeys } from '../../domain/operate/signing-keys.ts'
import { isWithin } from '../../domain/time/is-within.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'
import type { World } from '../../world/world.ts'

export interface SigningSecrets {
  of(db: Sql, environment: Environment): Promise<SigningKeys>
  /** Not older than a second: for a token that none of the known keys has signed. */
  renewed(db: Sql, environment: Environment): Promise<SigningKeys>
}

const environmentsMax = 1_000
/** Signatures with the previous version are equally valid: nothing waits for this. */
const keptMs = 30_000
/** Tokens with invalid signatures trigger no extra queries. */
const renewedMs = 1_000

export function createSigningSecrets(world: Pick<World, 'sealer' | 'now'>): SigningSecrets {
  const cached = new BoundedMap<string, { readonly at: number; readonly keys: SigningKeys }>(environmentsMax)
  const notOlder = async (ageMs: number, db: Sql, environment: Environment): Promise<SigningKeys> => {
    const now = world.now().getTime()
    const known = cached.get(environment.id)
    if (known !== undefined && isWithin(known.at, now, ageMs)) return known.keys
    const keys = await findSigningKeys(db, world.sealer, environment)
    if (keys === undefined) throw new Error(`Environment ${environment.id} is missing`)
    cached.set(environment.id, { at: now, keys })
    return keys
  }
  return {
    of: (db, environment) => notOlder(keptMs, db, environment),
    renewed: (db, environment) => notOlder(renewedMs, db, environment),
  }
}
