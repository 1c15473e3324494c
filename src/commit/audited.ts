// Writes changes of the configuration to the audit log, in the transaction that makes them.
import type { Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { AuditFacts, Author, Change, KeyedEntry } from '../domain/operate/audit.ts'
import { chained } from '../domain/operate/audit.ts'
import { differenceOf } from '../domain/operate/audit-difference.ts'
import type { News } from '../domain/webhooks/webhook-event.ts'
import { findAuditKey } from '../store/operate/audit-key.ts'
import { findAuditHead, insertAuditEntries, lockAuditLog } from '../store/operate/audit-log.ts'
import { reportNews } from '../store/webhooks/webhook-news.ts'
import type { World } from '../world/world.ts'

/** Called last in its transaction: it takes the lock of the log, after which nothing may wait. */
export async function audit(
  tx: Tx,
  world: World,
  environment: Environment,
  author: Author,
  change: Change,
): Promise<void> {
  await auditAll(tx, world, environment, author, [change])
}

/** One entry a change; a change that leaves everything as it was has none. */
export async function auditAll(
  tx: Tx,
  world: World,
  environment: Environment,
  author: Author,
  changes: readonly Change[],
): Promise<void> {
  const at = world.now().toISOString()
  const facts = changes.flatMap((change) => jobFactsFrom(author, change, at) ?? [])
  if (facts.length === 0) return
  await reportWorkflows(tx, world, environment, facts)
  // Created at startup, so that no change waits for it here.
  const key = await findAuditKey(tx, world.sealer, environment)
  await lockAuditLog(tx, environment)
  let head = await findAuditHead(tx, environment)
  const entries: KeyedEntry[] = []
  for (const one of facts) {
    const entry = chained(environment.id, head, one, key)
    entries.push(entry)
    head = entry
  }
  await insertAuditEntries(tx, environment, entries)
}

/** Changes of workflows are sent to endpoints of the customer's as well. */
async function reportWorkflows(
  tx: Tx,
  world: World,
  environment: Environment,
  facts: readonly Omit<AuditFacts, 'seq'>[],
): Promise<void> {
  const now = world.now()
  const news = facts.flatMap(({ resourceKind, resourceId, resourceName, action }): News[] => {
    if (resourceKind !== 'workflow') return []
    const about = { type: 'workflow.updated', subjectId: resourceId, subscriberId: null, at: now } as const
    const workflow = { _id: resourceId, identifier: resourceName }
    return [{ ...about, id: world.newId(now), facts: { workflow, change: changeNames[action] ?? 'updated' } }]
  })
  await reportNews(tx, environment, news, { newId: () => world.newId(now), now })
}

const changeNames: Partial<Record<Change['action'], string>> = { create: 'created', delete: 'deleted' }

function jobFactsFrom(author: Author, change: Change, at: string): Omit<AuditFacts, 'seq'> | undefined {
  const difference = differenceOf(change.before, change.after)
  if (difference === undefined) return undefined
  const { keyId, keyName, address, requestId } = author
  const { action, kind, id, name } = change
  const resource = { resourceKind: kind, resourceId: id, resourceName: name }
  return { at, keyId, keyName, address, requestId, action, ...resource, ...difference }
}
