// Rotates the signing secret of an environment. Earlier signatures stay valid; see domain/operate/signing-keys.ts.
import { randomBytes } from 'node:crypto'
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import type { SigningVersion } from '../../domain/operate/signing-keys.ts'
import { callKeyOf } from '../../domain/operate/signing-keys.ts'
import { lockEnvironment } from '../../store/operate/installation.ts'
import { findSigningKeys, insertSigningVersion } from '../../store/operate/signing-versions.ts'
import type { World } from '../../world/world.ts'

const secretBytes = 32

export interface NewSigningSecret {
  readonly version: number
  /** As Standard Webhooks write it. */
  readonly secret: string
  readonly createdAt: string
  /** The name of the environment. */
  readonly environment: string
}

export async function rotateSigning(
  db: Db,
  world: World,
  environment: Environment,
  call: { readonly author: Author; readonly idempotency: Idempotency | undefined },
): Promise<Answer<NewSigningSecret>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    // Two at once make two versions, one after the other.
    await lockEnvironment(tx, environment)
    const known = await findSigningKeys(tx, world.sealer, environment)
    const last = known?.versions.at(-1)
    if (last === undefined) throw new Error(`The environment ${environment.id} is missing`)
    const made: SigningVersion = {
      version: last.version + 1,
      secret: randomBytes(secretBytes).toString('hex'),
      createdAt: world.now(),
    }
    await insertSigningVersion(tx, world.sealer, environment, made)
    await audit(tx, world, environment, call.author, {
      kind: 'environment',
      id: environment.id,
      name: environment.name,
      action: 'change',
      before: recordOf(last),
      after: recordOf(made),
    })
    const { version, createdAt } = made
    const secret = callKeyOf(made).text
    return created({ version, secret, createdAt: createdAt.toISOString(), environment: environment.name })
  })
}

const recordOf = ({ version }: SigningVersion): Recorded => {
  const members = { signingVersion: version }
  return { compared: members, shown: members }
}
