// The audit log: who changed which part of the configuration, from where and how; and the hashes that chain its entries.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'
import type { Principal } from '../environment.ts'
import type { Members, Recorded } from './audit-difference.ts'

/** Who changes something, and from where. */
export interface Author {
  /**
   * The id of the API key; `user:` and the id for a user; `cli` for commands, `start` for what the settings of a start change, `worker` for what the
   * service does by itself.
   */
  readonly keyId: string
  /** The name of the key, of the user, or of the user of the operating system. */
  readonly keyName: string
  /** The client address of a request, or the machine that a command ran on. */
  readonly address: string
  /** Null where there was no request. */
  readonly requestId: string | null
}

/** A caller that has hung up by now has no address any more. */
export function authorOf({ keyId, keyName }: Principal, request: { address: string | undefined; id: string }): Author {
  // If both kinds of addresses are listened to, IPv4 addresses arrive as IPv4-mapped IPv6 addresses.
  const address = (request.address ?? '').replace(/^::ffff:(?=\d+\.)/, '')
  return { keyId, keyName, address, requestId: request.id }
}

export const auditActions = [
  'create',
  'change',
  'delete',
  'set-primary',
  'revoke',
  'rotate',
  'read',
  'export',
  'erase',
] as const
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
  'subscriber',
  'audit-stream',
  'webhook-endpoint',
  'environment-variable',
  'user',
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

/** As it is stored. Only the service can verify the keyed hash, so it is not shown. */
export interface KeyedEntry extends AuditEntry {
  /** The hash under the environment's audit key; null for entries from before there was one. */
  readonly mac: string | null
}

/** Stored sealed, so the database alone is not enough to compute a keyed hash. */
export interface AuditKey {
  readonly key: Buffer
  /** The first entry that must have a keyed hash. */
  readonly fromSeq: number
}

/** The last entry of a log, as far as the next one must know it. */
export type AuditHead = Pick<AuditEntry, 'seq' | 'hash'>

/** Before the first entry. */
export const emptyLog: AuditHead = { seq: 0, hash: '0'.repeat(64) }

export function chained(
  environmentId: string,
  head: AuditHead,
  facts: Omit<AuditFacts, 'seq'>,
  key?: AuditKey,
): KeyedEntry {
  const entry = { ...facts, seq: head.seq + 1 }
  const hash = hashOfEntry(environmentId, head.hash, entry)
  const mac = key === undefined ? null : macOf(environmentId, key, { seq: entry.seq, hash }).toString('hex')
  return { ...entry, previousHash: head.hash, hash, mac }
}

/** The hash covers the entry and, by the one before, everything that was ever written. */
function macOf(environmentId: string, { key }: AuditKey, { seq, hash }: AuditHead): Buffer {
  return createHmac('sha256', key).update(`posthorn audit\n${environmentId}\n${seq}\n${hash}`).digest()
}

function hashOfEntry(environmentId: string, previousHash: string, facts: AuditFacts): string {
  const text = canonicalJson({ environmentId, previousHash, ...facts })
  if (text === undefined) throw new Error('An entry of the audit log cannot be written as JSON')
  return createHash('sha256').update(text).digest('hex')
}

export type Misfit = 'missing' | 'previous-hash' | 'hash' | 'mac'

/** What is wrong with an entry where this head goes before it; undefined when it fits. */
export function misfitOf(
  environmentId: string,
  head: AuditHead,
  entry: KeyedEntry,
  key?: AuditKey,
): Misfit | undefined {
  const { previousHash, hash, mac, ...facts } = entry
  if (entry.seq !== head.seq + 1) return 'missing'
  if (previousHash !== head.hash) return 'previous-hash'
  if (hash !== hashOfEntry(environmentId, previousHash, facts)) return 'hash'
  return key === undefined || entry.seq < key.fromSeq || isMacOf(environmentId, key, entry, mac) ? undefined : 'mac'
}

function isMacOf(environmentId: string, key: AuditKey, entry: AuditHead, mac: string | null): boolean {
  const expected = macOf(environmentId, key, entry)
  const given = Buffer.from(mac ?? '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
