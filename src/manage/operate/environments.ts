// The settings of an environment.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import { updateCaptures } from '../../store/operate/installation.ts'
import type { World } from '../../world/world.ts'

export interface EnvironmentSettings {
  readonly _id: string
  readonly name: string
  readonly configurations: { readonly capture: boolean }
}

/** What is not given stays as it is. */
export async function changeEnvironment(
  db: Db,
  world: World,
  environment: Environment,
  call: { capture: boolean | undefined; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<EnvironmentSettings>> {
  const { id, name } = environment
  return once(db, world, environment, call.idempotency, async (tx) => {
    const { before, after } = await updateCaptures(tx, environment, call.capture)
    await audit(tx, world, environment, call.author, {
      action: 'change',
      kind: 'environment',
      id,
      name,
      before: recordOf(before),
      after: recordOf(after),
    })
    return ok({ _id: id, name, configurations: { capture: after } })
  })
}

function recordOf(capture: boolean): Recorded {
  const members = { configurations: { capture } }
  return { compared: members, shown: members }
}
