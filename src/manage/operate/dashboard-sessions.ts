// Signing in to the dashboard: links for operators, sessions by a link or by an API key, signing out.
import type { Db } from '../../db/sql.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import {
  hashOfLink,
  linkLifeMs,
  linkOfText,
  newSignInLink,
  sessionLifeMs,
  textOfLink,
} from '../../domain/operate/dashboard-session.ts'
import { Problem } from '../../domain/problem.ts'
import { insertLink, insertSession, revokeSession, takeLink } from '../../store/operate/dashboard-sessions.ts'
import { findOpenEnvironment } from '../../store/operate/installation.ts'
import type { World } from '../../world/world.ts'

export interface OpenedSession {
  readonly environment: Environment
  readonly id: string
  readonly expiresAt: Date
  /** Set where a user signed in. */
  readonly userId?: string
}

/** The part of the sign-in URL after the `#`. */
export async function createSignInLink(db: Db, world: World, environment: Environment): Promise<string> {
  const link = newSignInLink(environment.id)
  const expiresAt = new Date(world.now().getTime() + linkLifeMs)
  await db.transaction((tx) => insertLink(tx, environment, { hash: hashOfLink(link), expiresAt }))
  return textOfLink(link)
}

/** Consumes the link. Throws a 401 if it is unknown, used or expired. */
export async function openSessionByLink(db: Db, world: World, text: string): Promise<OpenedSession> {
  const link = linkOfText(text)
  const environment = link && (await findOpenEnvironment(db, link.environmentId))
  if (link === undefined || environment === undefined) throw deadLink()
  return db.transaction(async (tx) => {
    const now = world.now()
    if (!(await takeLink(tx, environment.id, hashOfLink(link), now))) throw deadLink()
    const session = sessionOf(world, environment, now)
    await insertSession(tx, environment, { ...session, keyId: null, now })
    return session
  })
}

export async function openSessionByKey(db: Db, world: World, principal: Principal): Promise<OpenedSession> {
  const { environment, keyId } = principal
  const now = world.now()
  const session = sessionOf(world, environment, now)
  await db.transaction((tx) => insertSession(tx, environment, { ...session, keyId, now }))
  return session
}

export async function closeSession(db: Db, world: World, environment: Environment, id: string): Promise<void> {
  await db.transaction((tx) => revokeSession(tx, environment, id, world.now()))
}

function sessionOf(world: World, environment: Environment, now: Date): OpenedSession {
  return { environment, id: world.newId(now), expiresAt: new Date(now.getTime() + sessionLifeMs) }
}

const deadLink = (): Problem =>
  new Problem(401, 'This sign-in link was already used or has expired; run `posthorn dashboard` for a new one')
