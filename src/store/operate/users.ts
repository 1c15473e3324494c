// The users table: who may sign in to the dashboard of an organization, with which role, and how.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { User, UserRole, UserState } from '../../domain/operate/user.ts'

/** Far more than work on the notifications of one organization. */
export const usersMax = 10_000

interface UserRow {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: UserRole
  readonly has_password: boolean
  readonly has_subject: boolean
  readonly created_at: Date
  readonly last_sign_in_at: Date | null
  readonly disabled_at: Date | null
}

const columns = sql`id, email, name, role, password_hash is not null as has_password,
  oidc_subject is not null as has_subject, created_at, last_sign_in_at, disabled_at`

export interface NewUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: UserRole
  readonly now: Date
}

/** Undefined where the organization has a user of that address. */
export async function insertUser(tx: Tx, organizationId: string, user: NewUser): Promise<User | undefined> {
  const row = await tx.row<UserRow>(sql`
    insert into users (id, organization_id, email, name, role, created_at)
    values (${user.id}, ${organizationId}, ${user.email}, ${user.name}, ${user.role}, ${user.now})
    on conflict (organization_id, email) do nothing returning ${columns}`)
  return row && userOf(row)
}

export async function countUsers(tx: Tx, organizationId: string): Promise<number> {
  const row = await tx.row<{ count: number }>(
    sql`select count(*) as count from users where organization_id = ${organizationId}`,
  )
  return row?.count ?? 0
}

/** Newest first. */
export async function listUsers(
  db: Sql,
  organizationId: string,
  page: { offset: number; limit: number },
): Promise<User[]> {
  const rows = await db.rows<UserRow>(sql`
    select ${columns} from users where organization_id = ${organizationId}
    order by id desc offset ${page.offset} limit ${page.limit}`)
  return rows.map(userOf)
}

export async function findUser(db: Sql, organizationId: string, id: string): Promise<User | undefined> {
  const row = await db.row<UserRow>(
    sql`select ${columns} from users where organization_id = ${organizationId} and id = ${id}`,
  )
  return row && userOf(row)
}

export async function findUserByEmail(db: Sql, organizationId: string, email: string): Promise<User | undefined> {
  const row = await db.row<UserRow>(
    sql`select ${columns} from users where organization_id = ${organizationId} and email = ${email}`,
  )
  return row && userOf(row)
}

/** The organization must be locked: of two owners who go at once, the second is the last. */
export async function hasOtherOwner(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  const row = await tx.row<{ id: string }>(sql`
    select id from users
    where organization_id = ${organizationId} and id <> ${id} and role = 'owner' and disabled_at is null limit 1`)
  return row !== undefined
}

export interface UserChange {
  readonly name: string
  readonly role: UserRole
  readonly disabledAt: Date | null
}

/** Whoever is disabled has no link any more either. */
export async function updateUser(
  tx: Tx,
  organizationId: string,
  id: string,
  { name, role, disabledAt }: UserChange,
): Promise<User | undefined> {
  const row = await tx.row<UserRow>(sql`
    update users set name = ${name}, role = ${role}, disabled_at = ${disabledAt}::timestamptz,
      link_hash = case when ${disabledAt}::timestamptz is null then link_hash end
    where organization_id = ${organizationId} and id = ${id} returning ${columns}`)
  return row && userOf(row)
}

/** In place of the one there was. Whoever is given a link to set a password has none until then. */
export async function updatePasswordLink(
  tx: Tx,
  organizationId: string,
  id: string,
  link: { hash: Buffer; expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    update users set link_hash = ${link.hash}, link_expires_at = ${link.expiresAt}, password_hash = null
    where organization_id = ${organizationId} and id = ${id}`)
}

export async function updatePassword(tx: Tx, organizationId: string, id: string, passwordHash: string): Promise<void> {
  await tx.run(sql`
    update users set password_hash = ${passwordHash}, link_hash = null
    where organization_id = ${organizationId} and id = ${id}`)
}

/** What a link is good for, as long as it is. Its secret is the proof, so no organization has to be named. */
export async function findUserOfLink(
  db: Sql,
  { id, hash, now }: { id: string; hash: Buffer; now: Date },
): Promise<(User & { readonly organizationId: string }) | undefined> {
  const row = await db.row<UserRow & { organization_id: string }>(sql`
    select ${columns}, organization_id from users
    where id = ${id} and link_hash = ${hash} and link_expires_at > ${now} and disabled_at is null`)
  return row && { ...userOf(row), organizationId: row.organization_id }
}

/** True for only one caller, and only before the link expires. */
export async function takePasswordLink(
  tx: Tx,
  { id, hash, now, passwordHash }: { id: string; hash: Buffer; now: Date; passwordHash: string },
): Promise<boolean> {
  const count = await tx.run(sql`
    update users set password_hash = ${passwordHash}, link_hash = null, link_expires_at = null
    where id = ${id} and link_hash = ${hash} and link_expires_at > ${now} and disabled_at is null`)
  return count > 0
}

/** Someone who may be about to sign in. */
export interface Candidate {
  readonly id: string
  readonly organizationId: string
  readonly email: string
  readonly name: string
  readonly passwordHash: string | null
  readonly isDisabled: boolean
  /** Whether an identity provider has been linked to the user. */
  readonly hasSubject: boolean
}

/** More organizations than one address is in. Each costs a hash at sign-in. */
const candidatesMax = 5

const candidateColumns = sql`id, organization_id as "organizationId", email, name, password_hash as "passwordHash",
  disabled_at is not null as "isDisabled", oidc_subject is not null as "hasSubject"`

export async function findCandidatesByEmail(db: Sql, email: string): Promise<Candidate[]> {
  return db.rows<Candidate>(sql`
    select ${candidateColumns} from users where email = ${email} order by id limit ${candidatesMax}`)
}

export async function findCandidatesBySubject(
  db: Sql,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<Candidate[]> {
  return db.rows<Candidate>(sql`
    select ${candidateColumns} from users where oidc_subject = ${subject} and oidc_issuer = ${issuer}
    order by id limit ${candidatesMax}`)
}

/** False where the user has one already. */
export async function linkSubject(
  tx: Tx,
  { id, issuer, subject }: { id: string; issuer: string; subject: string },
): Promise<boolean> {
  const count = await tx.run(sql`
    update users set oidc_issuer = ${issuer}, oidc_subject = ${subject} where id = ${id} and oidc_subject is null`)
  return count > 0
}

export async function touchUsers(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  await tx.run(sql`update users set last_sign_in_at = ${now} where id = any(${ids}::uuid[])`)
}

/** Whether anyone can sign in with a password. */
export async function havePasswords(db: Sql): Promise<boolean> {
  const row = await db.row<{ found: boolean }>(sql`
    select exists (select 1 from users where password_hash is not null and disabled_at is null) as found`)
  return row?.found === true
}

function userOf(row: UserRow): User {
  return {
    _id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    state: stateOf(row),
    signsInBy: [...(row.has_password ? (['password'] as const) : []), ...(row.has_subject ? (['oidc'] as const) : [])],
    createdAt: row.created_at.toISOString(),
    ...(row.last_sign_in_at === null ? {} : { lastSignInAt: row.last_sign_in_at.toISOString() }),
    ...(row.disabled_at === null ? {} : { disabledAt: row.disabled_at.toISOString() }),
  }
}

function stateOf({ disabled_at: disabledAt, has_password: hasPassword, has_subject: hasSubject }: UserRow): UserState {
  if (disabledAt !== null) return 'disabled'
  return hasPassword || hasSubject ? 'active' : 'invited'
}
