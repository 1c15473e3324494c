// Looks at secrets in clear, in the audit log: one entry for each key, thing that holds them and hour, whichever node was asked.
import { auditAll } from '../../commit/audited.ts'
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author, ResourceKind } from '../../domain/operate/audit.ts'
import { findAudited, lockAuditLog } from '../../store/operate/audit-log.ts'
import type { World } from '../../world/world.ts'

const hourMs = 60 * 60_000
const shown = { secrets: 'read' }

/** What holds secrets. */
export interface SecretHolder {
  readonly kind: ResourceKind
  readonly id: string
  readonly name: string
}

export async function auditSecretReads(
  db: Db,
  world: World,
  environment: Environment,
  author: Author,
  holders: readonly SecretHolder[],
): Promise<void> {
  await db.transaction(async (tx) => {
    // Another node may have written the same meanwhile.
    await lockAuditLog(tx, environment)
    const hourAt = new Date(Math.floor(world.now().getTime() / hourMs) * hourMs)
    const known = await findAudited(tx, environment, {
      keyId: author.keyId,
      action: 'read',
      resourceIds: holders.map(({ id }) => id),
      since: hourAt,
    })
    const unknown = holders.filter(({ id }) => !known.has(id))
    const changes = unknown.map((holder) => ({
      ...holder,
      action: 'read' as const,
      after: { compared: shown, shown },
    }))
    await auditAll(tx, world, environment, author, changes)
  })
}
