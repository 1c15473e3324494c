// Looks at secrets in clear, in the audit log: one entry for each key, integration and hour, whichever node was asked.
import { auditAll } from '../../commit/audited.ts'
import type { Db } from '../../db/sql.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { findAudited, lockAuditLog } from '../../store/operate/audit-log.ts'
import type { World } from '../../world/world.ts'

const hourMs = 60 * 60_000
const shown = { secrets: 'read' }

export async function auditSecretReads(
  db: Db,
  world: World,
  environment: Environment,
  author: Author,
  integrations: readonly Integration[],
): Promise<void> {
  await db.transaction(async (tx) => {
    // Another node may have written the same meanwhile.
    await lockAuditLog(tx, environment)
    const hourAt = new Date(Math.floor(world.now().getTime() / hourMs) * hourMs)
    const known = await findAudited(tx, environment, {
      keyId: author.keyId,
      action: 'read',
      resourceIds: integrations.map(({ _id }) => _id),
      since: hourAt,
    })
    const unknown = integrations.filter(({ _id }) => !known.has(_id))
    const changes = unknown.map(({ _id, name }) => ({
      kind: 'integration' as const,
      id: _id,
      name,
      action: 'read' as const,
      after: { compared: shown, shown },
    }))
    await auditAll(tx, world, environment, author, changes)
  })
}
