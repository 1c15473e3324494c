// The audit log: who changed which part of the configuration, from where and how; and the hashes that chain its entries.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'
import type { Caller } from '../environment.ts'
import type { Members, Recorded } from './audit-difference.ts'

/** Who changes something, and from where. */
export interface Author {
  /** The id of the API key; `cli` for commands, `start` for what the settings of a start change. */
  readonly keyId: string
  /** The name of the key, or the user of the operating system. */
  readonly keyName: string
  /** The client address of a request, or the machine that a command ran on. */
  readonly address: string
  /** Null where there was no request. */
  readonly requestId: string | null
}

/** A caller that has hung up by now has no address any more. */
export function authorOf({ keyId, keyName }: Caller, request: { address: string | undefined; id: string }): Author {
  // If both kinds of addresses are listened to, IPv4 addresses arrive as IPv4-mapped IPv6 addresses.
  const address = (request.address ?? '').replace(/^::ffff:(?=\d+\.)/, '')
  return { keyId, keyName, address, requestId: request.id }
}

export const auditActions = ['create', 'change', 'delete', 'set-primary', 'revoke', 'read'] as const
export type AuditAction = (typeof auditActions)[number]

export const resourceKinds = [
  'workflow',
  'integration',
  'layout',
  'translation',
  'feed',
  'notification-group',
  'tenant',
  'workflow-override',
  'context',
  'suppression',
  'api-key',
  'environment',
] as const
export type ResourceKind = (typeof resourceKinds)[number]

/** What was changed: before and after, each undefined if it did not exist. */
export interface Change {
  readonly action: AuditAction
  readonly kind: ResourceKind
  readonly id: string
  readonly name: string
  readonly before?: Recorded | undefined
  readonly after?: Recorded | undefined
}

/** What a hash covers, in addition to the environment and the previous hash. */
export interface AuditFacts extends Author {
  readonly seq: number
  readonly at: string
  readonly action: AuditAction
  readonly resourceKind: ResourceKind
  readonly resourceId: string
  readonly resourceName: string
  /** Only the differences. Null for a creation. */
  readonly before: Members | null
  /** Null for what was deleted. */
  readonly after: Members | null
}

/** Hashes in hexadecimal digits. */
export interface AuditEntry extends AuditFacts {
  readonly previousHash: string
  readonly hash: string
}

/** The last entry of a log, as far as the next one must know it. */
export type AuditHead = Pick<AuditEntry, 'seq' | 'hash'>

/** Before the first entry. */
export const emptyLog: AuditHead = { seq: 0, hash: '0'.repeat(64) }

export function chained(environmentId: string, head: AuditHead, facts: Omit<AuditFacts, 'seq'>): AuditEntry {
  const entry = { ...facts, seq: head.seq + 1 }
  return { ...entry, previousHash: head.hash, hash: hashOfEntry(environmentId, head.hash, entry) }
}

function hashOfEntry(environmentId: string, previousHash: string, facts: AuditFacts): string {
  const text = canonicalJson({ environmentId, previousHash, ...facts })
  if (text === undefined) throw new Error('An entry of the audit log cannot be written as JSON')
  return createHash('sha256').update(text).digest('hex')
}

export type Misfit = 'missing' | 'previous-hash' | 'hash'

/** What is wrong with an entry that follows this head; undefined if it is valid. */
export function misfitOf(environmentId: string, head: AuditHead, entry: AuditEntry): Misfit | undefined {
  const { previousHash, hash, ...facts } = entry
  if (entry.seq !== head.seq + 1) return 'missing'
  if (previousHash !== head.hash) return 'previous-hash'
  return hash === hashOfEntry(environmentId, previousHash, facts) ? undefined : 'hash'
}
