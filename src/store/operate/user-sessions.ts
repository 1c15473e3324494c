// The user_sessions table: sessions of users in the dashboard, one for each environment of their organization.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { UserRole } from '../../domain/operate/user.ts'
import { keyIdOfUser, nameInAudit, scopesOfRole } from '../../domain/operate/user.ts'
import type { SessionPrincipal } from './dashboard-sessions.ts'

export interface NewUserSession {
  readonly environment: Environment
  readonly id: string
  readonly userId: string
  readonly expiresAt: Date
}

export async function insertUserSessions(tx: Tx, sessions: readonly NewUserSession[], now: Date): Promise<void> {
  await tx.run(sql`
    insert into user_sessions (environment_id, id, user_id, created_at, expires_at)
    select e, i, u, ${now}, x
    from unnest(${sessions.map(({ environment }) => environment.id)}::uuid[], ${sessions.map(({ id }) => id)}::uuid[],
                ${sessions.map(({ userId }) => userId)}::uuid[], ${sessions.map(({ expiresAt }) => expiresAt)}::timestamptz[])
      as made (e, i, u, x)`)
}

/**
 * What the user of a session may do now: a role that was changed counts from the next call. Undefined if the session was revoked or
 * has expired, the user is disabled, or the environment is deleted or of another organization.
 */
export async function findUserSession(
  db: Sql,
  environmentId: string,
  id: string,
  now: Date,
): Promise<SessionPrincipal | undefined> {
  const row = await db.row<{
    userId: string
    email: string
    userName: string
    role: UserRole
    hasPassword: boolean
    expiresAt: Date
    organizationId: string
    name: string
  }>(sql`
    select u.id as "userId", u.email, u.name as "userName", u.role, u.password_hash is not null as "hasPassword", s.expires_at as "expiresAt",
           e.organization_id as "organizationId", e.name
    from user_sessions s
    join users u on u.id = s.user_id
    join environments e on e.id = s.environment_id and e.organization_id = u.organization_id
    where s.environment_id = ${environmentId} and s.id = ${id} and s.revoked_at is null and s.expires_at > ${now}
      and u.disabled_at is null and e.deleted_at is null`)
  if (row === undefined) return undefined
  const { userId, email, userName, role, hasPassword, expiresAt, organizationId, name } = row
  return {
    environment: { id: environmentId, organizationId, name },
    keyId: keyIdOfUser(userId),
    keyName: nameInAudit({ name: userName, email }),
    scopes: scopesOfRole[role],
    user: { id: userId, email, name: userName, role, hasPassword },
    allowedAddresses: null,
    expiresAt,
    openedBy: 'user',
  }
}

export async function revokeUserSession(tx: Tx, environment: Environment, id: string, now: Date): Promise<void> {
  await tx.run(sql`
    update user_sessions set revoked_at = ${now}
    where environment_id = ${environment.id} and id = ${id} and revoked_at is null`)
}

/** In all environments of the organization. */
export async function revokeSessionsOfUser(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.run(sql`update user_sessions set revoked_at = ${now} where user_id = ${userId} and revoked_at is null`)
}

export async function sweepUserSessions(tx: Tx, now: Date, limit: number): Promise<number> {
  return tx.run(sql`delete from user_sessions where (environment_id, id) in (
    select environment_id, id from user_sessions where expires_at <= ${now}
    order by expires_at limit ${limit} for update skip locked)`)
}
