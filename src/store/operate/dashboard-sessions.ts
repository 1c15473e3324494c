// The dashboard_sessions and dashboard_links tables: sessions of the dashboard, and single-use sign-in links.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment, Principal, Scope } from '../../domain/environment.ts'

export interface NewSession {
  readonly id: string
  /** Null where a link opened it. */
  readonly keyId: string | null
  readonly now: Date
  readonly expiresAt: Date
}

export async function insertSession(tx: Tx, environment: Environment, session: NewSession): Promise<void> {
  await tx.run(sql`
    insert into dashboard_sessions (environment_id, id, key_id, created_at, expires_at)
    values (${environment.id}, ${session.id}, ${session.keyId}, ${session.now}, ${session.expiresAt})`)
}

/** The author in the audit log for sessions that a link opened. */
const linkName = 'Dashboard, by sign-in link'

export type SessionPrincipal = Principal & {
  readonly expiresAt: Date
  readonly openedBy: 'key' | 'link' | 'user'
  /** Of its API key; null where any address will do. */
  readonly allowedAddresses: readonly string[] | null
}

/** The principal of a session; undefined if it or its API key was revoked or has expired, or the environment is deleted. */
export async function findSession(
  db: Sql,
  environmentId: string,
  id: string,
  now: Date,
): Promise<SessionPrincipal | undefined> {
  const row = await db.row<{
    keyId: string | null
    keyName: string | null
    scopes: Scope[] | null
    allowedAddresses: string[] | null
    ratePerSecond: number | null
    expiresAt: Date
    organizationId: string
    name: string
  }>(sql`
    select s.key_id as "keyId", k.name as "keyName", k.scopes, k.allowed_addresses as "allowedAddresses",
           k.rate_per_second as "ratePerSecond", s.expires_at as "expiresAt", e.organization_id as "organizationId", e.name
    from dashboard_sessions s join environments e on e.id = s.environment_id
    left join api_keys k on k.environment_id = s.environment_id and k.id = s.key_id
    where s.environment_id = ${environmentId} and s.id = ${id} and s.revoked_at is null and s.expires_at > ${now}
      and e.deleted_at is null
      and (s.key_id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})))`)
  if (row === undefined) return undefined
  return {
    environment: { id: environmentId, organizationId: row.organizationId, name: row.name },
    keyId: row.keyId ?? id,
    keyName: row.keyName ?? linkName,
    scopes: row.scopes ?? ['full'],
    ...(row.keyId === null ? { isOperator: true } : {}),
    ...(row.ratePerSecond === null ? {} : { ratePerSecond: row.ratePerSecond }),
    allowedAddresses: row.allowedAddresses,
    expiresAt: row.expiresAt,
    openedBy: row.keyId === null ? 'link' : 'key',
  }
}

export async function revokeSession(tx: Tx, environment: Environment, id: string, now: Date): Promise<void> {
  await tx.run(sql`
    update dashboard_sessions set revoked_at = ${now}
    where environment_id = ${environment.id} and id = ${id} and revoked_at is null`)
}

export async function insertLink(
  tx: Tx,
  environment: Environment,
  link: { hash: Buffer; expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into dashboard_links (environment_id, hash, expires_at)
    values (${environment.id}, ${link.hash}, ${link.expiresAt})`)
}

/** True for only one caller, and only before the link expires. */
export async function takeLink(tx: Tx, environmentId: string, hash: Buffer, now: Date): Promise<boolean> {
  const count = await tx.run(sql`
    delete from dashboard_links where environment_id = ${environmentId} and hash = ${hash} and expires_at > ${now}`)
  return count > 0
}

/** Deletes at most `limit` sessions and as many links of all environments that have expired. */
export async function sweepDashboard(tx: Tx, now: Date, limit: number): Promise<number> {
  const links = await tx.run(sql`delete from dashboard_links where ctid = any(array(
    select ctid from dashboard_links where expires_at <= ${now}
    order by expires_at limit ${limit} for update skip locked))`)
  const sessions = await tx.run(sql`delete from dashboard_sessions where ctid = any(array(
    select ctid from dashboard_sessions where expires_at <= ${now}
    order by expires_at limit ${limit} for update skip locked))`)
  return Math.max(links, sessions)
}
