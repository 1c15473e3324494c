// Users of the dashboard: create, change, disable, and give a link that sets a password.
import { auditAll } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author, Change } from '../../domain/operate/audit.ts'
import { recordOfUser } from '../../domain/operate/audit-records.ts'
import { hashPassword, passwordMistake } from '../../domain/operate/password.ts'
import type { User, UserRole } from '../../domain/operate/user.ts'
import {
  hashOfPasswordLink,
  isEmail,
  newPasswordLink,
  normalEmail,
  passwordLinkLifeMs,
  passwordPath,
  textOfPasswordLink,
} from '../../domain/operate/user.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { listEnvironments, lockOrganization } from '../../store/operate/installation.ts'
import { revokeSessionsOfUser } from '../../store/operate/user-sessions.ts'
import {
  countUsers,
  findUser,
  hasOtherOwner,
  insertUser,
  updatePassword,
  updatePasswordLink,
  updateUser,
  usersMax,
} from '../../store/operate/users.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** Sets a password, once. The path of a page of the dashboard; the service's own address goes before it. */
export interface GivenLink {
  readonly link: string
  readonly linkExpiresAt: string
}

export interface WantedUser {
  readonly email: string
  readonly name?: string | undefined
  readonly role: UserRole
}

/** Of the organization of `environment`. The link is shown only in this answer. */
export async function createUser(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { user: WantedUser },
): Promise<Answer<User & GivenLink>> {
  const { role, name } = call.user
  const email = normalEmail(call.user.email)
  if (!isEmail(email)) throw invalidField('email', 'email must be an e-mail address', call.user.email)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockOrganization(tx, environment)
    const user = await addUser(tx, world, environment, { email, name: name?.trim() || email, role })
    const link = await giveLink(tx, world, environment, user._id)
    await auditUser(tx, world, environment, call.author, {
      ...named(user),
      action: 'create',
      after: recordOfUser(user),
    })
    return created({ ...user, ...link })
  })
}

/** The organization is locked. */
export async function addUser(
  tx: Tx,
  world: World,
  { organizationId }: Pick<Environment, 'organizationId'>,
  wanted: { email: string; name: string; role: UserRole },
): Promise<User> {
  if ((await countUsers(tx, organizationId)) >= usersMax) throw conflict(`There can be at most ${usersMax} users`)
  const now = world.now()
  const user = await insertUser(tx, organizationId, { ...wanted, id: world.newId(now), now })
  if (user === undefined) throw conflict(`There is a user ${wanted.email} already`)
  return user
}

export interface WantedChange {
  readonly name?: string | undefined
  readonly role?: UserRole | undefined
  readonly disabled?: boolean | undefined
}

/** What is not given stays as it is. Sessions of a disabled user end; another role counts from the next call. */
export async function changeUser(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string; change: WantedChange },
): Promise<Answer<User>> {
  const { id, change } = call
  const { organizationId } = environment
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockOrganization(tx, environment)
    const before = await findUser(tx, organizationId, id)
    if (before === undefined) throw unknownUser(id)
    const now = world.now()
    const { name = before.name, role = before.role, disabled = before.disabledAt !== undefined } = change
    const disabledAt = !disabled ? null : before.disabledAt === undefined ? now : new Date(before.disabledAt)
    const isLeaving = before.role === 'owner' && before.disabledAt === undefined && (disabled || role !== 'owner')
    if (isLeaving && !(await hasOtherOwner(tx, organizationId, id))) {
      throw conflict('This is the last owner of the organization; make another user an owner first')
    }
    const after = await updateUser(tx, organizationId, id, { name: name.trim() || before.email, role, disabledAt })
    if (after === undefined) throw new Error(`The user ${id} was lost while the organization was locked`)
    if (disabled) await revokeSessionsOfUser(tx, id, now)
    await auditUser(tx, world, environment, call.author, {
      ...named(after),
      action: 'change',
      before: recordOfUser(before),
      after: recordOfUser(after),
    })
    return ok(after)
  })
}

/** Ends the sessions of the user, and the password there was. */
export async function resetPassword(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string },
): Promise<Answer<GivenLink>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const user = await resettable(tx, environment, call.id)
    const link = await giveLink(tx, world, environment, user._id)
    await revokeSessionsOfUser(tx, user._id, world.now())
    const { linkExpiresAt } = link
    await auditReset(tx, world, environment, { author: call.author, user, given: { passwordLinkUntil: linkExpiresAt } })
    return created(link)
  })
}

/** For commands, which ask for the password themselves. */
export async function setPassword(
  db: Db,
  world: World,
  environment: Environment,
  { id, password, author }: { id: string; password: string; author: Author },
): Promise<void> {
  const known = await findUser(db, environment.organizationId, id)
  if (known === undefined) throw unknownUser(id)
  throwIfWeak(password, known.email)
  const passwordHash = await hashPassword(password)
  await db.transaction(async (tx) => {
    const user = await resettable(tx, environment, id)
    await updatePassword(tx, environment.organizationId, id, passwordHash)
    await revokeSessionsOfUser(tx, id, world.now())
    await auditReset(tx, world, environment, { author, user, given: { password: 'set' } })
  })
}

export function throwIfWeak(password: string, email: string): void {
  const mistake = passwordMistake(password, email)
  if (mistake !== undefined) throw invalidField('password', `password ${mistake}`)
}

async function resettable(tx: Tx, environment: Environment, id: string): Promise<User> {
  await lockOrganization(tx, environment)
  const user = await findUser(tx, environment.organizationId, id)
  if (user === undefined) throw unknownUser(id)
  if (user.disabledAt !== undefined) throw conflict('This user is disabled; enable it first')
  return user
}

async function giveLink(tx: Tx, world: World, { organizationId }: Environment, userId: string): Promise<GivenLink> {
  const link = newPasswordLink(userId)
  const expiresAt = new Date(world.now().getTime() + passwordLinkLifeMs)
  await updatePasswordLink(tx, organizationId, userId, { hash: hashOfPasswordLink(link), expiresAt })
  return { link: `${passwordPath}#${textOfPasswordLink(link)}`, linkExpiresAt: expiresAt.toISOString() }
}

async function auditReset(
  tx: Tx,
  world: World,
  environment: Environment,
  { author, user, given }: { author: Author; user: User; given: Readonly<Record<string, string>> },
): Promise<void> {
  const hadPassword = { hasPassword: user.signsInBy.includes('password') }
  await auditUser(tx, world, environment, author, {
    ...named(user),
    action: 'rotate',
    before: { compared: hadPassword, shown: hadPassword },
    after: { compared: given, shown: given },
  })
}

/**
 * A user reaches every environment of the organization, so each log has the entry. Their locks are taken in one order, and a holder
 * of one alone waits for nothing.
 */
export async function auditUser(
  tx: Tx,
  world: World,
  { organizationId }: Pick<Environment, 'organizationId'>,
  author: Author,
  change: Change,
): Promise<void> {
  for (const environment of await listEnvironments(tx)) {
    if (environment.organizationId === organizationId) await auditAll(tx, world, environment, author, [change])
  }
}

export const named = ({ _id, email }: User) => ({ kind: 'user', id: _id, name: email }) as const

const unknownUser = (id: string) => notFound(`User ${id} not found`)
