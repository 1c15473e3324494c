// Users sign in: with a password, by the link that sets one, or as whom the identity provider knows. One session per environment.
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { sessionLifeMs } from '../../domain/operate/dashboard-session.ts'
import type { User } from '../../domain/operate/user.ts'
import { hashOfPasswordLink, normalEmail, passwordLinkOf } from '../../domain/operate/user.ts'
import { Problem } from '../../domain/problem.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import { insertUserSessions, revokeSessionsOfUser, revokeUserSession } from '../../store/operate/user-sessions.ts'
import type { Candidate } from '../../store/operate/users.ts'
import {
  findCandidatesByEmail,
  findUserOfLink,
  takePasswordLink,
  touchUsers,
  updatePassword,
} from '../../store/operate/users.ts'
import type { World } from '../../world/world.ts'
import type { OpenedSession } from './dashboard-sessions.ts'
import type { PasswordWork } from './password-work.ts'
import { throwIfWeak } from './users.ts'

/** A browser holds one cookie for each. */
const sessionsMax = 20

interface Credentials {
  readonly email: string
  readonly password: string
}

/**
 * The same answer after the same work, whether there is no such user, they are disabled, or the password is another. Throws a 401
 * for all of them.
 */
export async function signInByPassword(
  db: Db,
  world: World,
  work: PasswordWork,
  credentials: Credentials,
): Promise<OpenedSession[]> {
  const found = await knownBy(db, work, credentials)
  for (const { id, organizationId, passwordHash } of found) {
    if (passwordHash === null || !work.isOld(passwordHash)) continue
    const again = await work.hash(credentials.password)
    await db.transaction((tx) => updatePassword(tx, organizationId, id, again))
  }
  return openUserSessions(db, world, found)
}

/** Ends all other sessions. Where one address is in several organizations, those with this very password. */
export async function changePassword(
  db: Db,
  world: World,
  work: PasswordWork,
  { email, password, newPassword }: Credentials & { newPassword: string },
): Promise<OpenedSession[]> {
  const found = await knownBy(db, work, { email, password })
  throwIfWeak(newPassword, normalEmail(email))
  const passwordHash = await work.hash(newPassword)
  await db.transaction(async (tx) => {
    for (const { id, organizationId } of found) {
      await updatePassword(tx, organizationId, id, passwordHash)
      await revokeSessionsOfUser(tx, id, world.now())
    }
  })
  return openUserSessions(db, world, found)
}

async function knownBy(db: Db, work: PasswordWork, { email, password }: Credentials): Promise<Candidate[]> {
  const candidates = await findCandidatesByEmail(db, normalEmail(email))
  const hashes = candidates.flatMap(({ passwordHash }) => passwordHash ?? [])
  const right = new Set<string>()
  for (const hash of hashes.length === 0 ? [undefined] : hashes) {
    if ((await work.isPassword(password, hash)) && hash !== undefined) right.add(hash)
  }
  const found = candidates.filter(
    ({ isDisabled, passwordHash }) => !isDisabled && passwordHash !== null && right.has(passwordHash),
  )
  if (found.length === 0) throw new Problem(401, 'The e-mail address or the password is wrong')
  return found
}

/** Whose password a link sets. Throws a 401 if it is unknown, used or expired. */
export async function userOfLink(
  db: Db,
  world: World,
  text: string,
): Promise<User & { readonly organizationId: string; readonly hash: Buffer }> {
  const link = passwordLinkOf(text)
  const hash = link && hashOfPasswordLink(link)
  const user = link && hash && (await findUserOfLink(db, { id: link.userId, hash, now: world.now() }))
  if (user === undefined || hash === undefined) throw deadLink()
  return { ...user, hash }
}

/** Consumes the link, ends all other sessions, and signs in. */
export async function setPasswordByLink(
  db: Db,
  world: World,
  work: PasswordWork,
  { link, password }: { link: string; password: string },
): Promise<OpenedSession[]> {
  const { _id: id, email, organizationId, hash } = await userOfLink(db, world, link)
  throwIfWeak(password, email)
  const passwordHash = await work.hash(password)
  const now = world.now()
  await db.transaction(async (tx) => {
    if (!(await takePasswordLink(tx, { id, hash, now, passwordHash }))) throw deadLink()
    await revokeSessionsOfUser(tx, id, now)
  })
  return openUserSessions(db, world, [{ id, organizationId }])
}

/** In every environment that these users reach; of one address that is in several organizations, in those of all. */
export async function openUserSessions(
  db: Db,
  world: World,
  users: readonly { readonly id: string; readonly organizationId: string }[],
): Promise<OpenedSession[]> {
  const now = world.now()
  return db.transaction(async (tx) => {
    const environments = await listEnvironments(tx)
    const sessions = users
      .flatMap(({ id, organizationId }) =>
        environments.filter((one) => one.organizationId === organizationId).map((one) => newSession(world, one, id)),
      )
      .slice(0, sessionsMax)
    if (sessions.length === 0) throw new Problem(401, 'The organization of this user has no environment')
    const ids = users.map(({ id }) => id)
    await touchUsers(tx, ids, now)
    await insertUserSessions(tx, sessions, now)
    return sessions
  })
}

export async function closeUserSession(db: Db, world: World, environment: Environment, id: string): Promise<void> {
  await db.transaction((tx) => revokeUserSession(tx, environment, id, world.now()))
}

function newSession(world: World, environment: Environment, userId: string): OpenedSession & { userId: string } {
  const now = world.now()
  return { environment, id: world.newId(now), userId, expiresAt: new Date(now.getTime() + sessionLifeMs) }
}

const deadLink = (): Problem =>
  new Problem(
    401,
    'This link was already used or has expired; ask an owner for a new one, or run `posthorn users reset`',
  )
