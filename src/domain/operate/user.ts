// Users of the dashboard: their roles, what each may do, and the links that set a password.
import { createHash, randomBytes } from 'node:crypto'
import type { Scope } from '../environment.ts'
import { isUuid } from '../uuid-v7.ts'

export const userRoles = ['owner', 'editor', 'viewer'] as const
export type UserRole = (typeof userRoles)[number]

/** Whether they have signed in or can, or have yet to set a password. */
export type UserState = 'active' | 'invited' | 'disabled'

export interface User {
  readonly _id: string
  readonly email: string
  readonly name: string
  readonly role: UserRole
  readonly state: UserState
  readonly signsInBy: readonly ('password' | 'oidc')[]
  readonly createdAt: string
  readonly lastSignInAt?: string
  readonly disabledAt?: string
}

/**
 * What a role may do in every environment of its organization. An editor writes content, people and accounts, and sees no secrets;
 * keys, users, environments, recovery and the audit log stay with owners.
 */
export const scopesOfRole: Readonly<Record<UserRole, readonly Scope[]>> = {
  owner: ['full'],
  editor: ['read', 'trigger', 'subscribers:write', 'inbox:write', 'workflows:write', 'integrations:write'],
  viewer: ['read'],
}

/** As the audit log knows a user: no key has such an id. */
export const keyIdOfUser = (id: string): string => `user:${id}`
export const nameInAudit = ({ name, email }: Pick<User, 'name' | 'email'>): string =>
  name === email ? email : `${name} (${email})`

/** Upper and lower case are the same mailbox wherever people sign in. */
export const normalEmail = (text: string): string => text.trim().toLowerCase()

/** One @, no white space, a dot in the domain: what is left is for the mail server to judge. */
export const emailPattern = '^[^\\s@\\p{Cc}]{1,64}@[^\\s@\\p{Cc}]+\\.[^\\s@\\p{Cc}]+$'
export const emailLengthMax = 254
export const isEmail = (text: string): boolean =>
  text.length <= emailLengthMax && new RegExp(emailPattern, 'u').test(text)

/** Long enough to reach someone who is away for a weekend. */
export const passwordLinkLifeMs = 3 * 24 * 60 * 60_000
/** The path of the page at which a link sets a password. */
export const passwordPath = '/sign-in/password'

const secretBytes = 32

export interface PasswordLink {
  readonly userId: string
  readonly secret: string
}

export const newPasswordLink = (userId: string): PasswordLink => ({
  userId,
  secret: randomBytes(secretBytes).toString('base64url'),
})

/** The part of a link after the `#`, which browsers do not send to servers or proxies. */
export const textOfPasswordLink = ({ userId, secret }: PasswordLink): string => `${userId}.${secret}`

export function passwordLinkOf(text: string): PasswordLink | undefined {
  const [userId = '', secret = '', ...rest] = text.split('.')
  return isUuid(userId) && secret !== '' && rest.length === 0 ? { userId, secret } : undefined
}

export const hashOfPasswordLink = ({ secret }: PasswordLink): Buffer => createHash('sha256').update(secret).digest()
