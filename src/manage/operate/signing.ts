// Rotates the signing secret of an environment. Earlier signatures stay valid; see domain/operate/signing-keys.ts.
import { randomBytes } from 'node:crypto'
import { audit } from '../../commit/audited.ts'
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import type { SigningVersion } from '../../domain/operate/signing-keys.ts'
import { lockEnvironment } from '../../store/operate/installation.ts'
import { findSigningKeys, insertSigningVersion } from '../../store/operate/signing-versions.ts'
import type { World } from '../../world/world.ts'

const secretBytes = 32

export async function rotateSigning(
  db: Db,
  world: World,
  environment: Environment,
  author: Author,
): Promise<SigningVersion> {
  return db.transaction(async (tx) => {
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
    await audit(tx, world, environment, author, {
      kind: 'environment',
      id: environment.id,
      name: environment.name,
      action: 'change',
      before: recordOf(last),
      after: recordOf(made),
    })
    return made
  })
}

const recordOf = ({ version }: SigningVersion): Recorded => {
  const members = { signingVersion: version }
  return { compared: members, shown: members }
}
