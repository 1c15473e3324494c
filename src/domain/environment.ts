// The tenant boundary: an Environment of an Organization, and the Principal, the API key of a request and what it may do.

export interface Environment {
  readonly id: string
  readonly organizationId: string
  readonly name: string
}

/**
 * `full` may do everything, `trigger` may only trigger events, `read` may only read. Those with a colon open one area: writing
 * what belongs to subscribers, inboxes, workflows or integrations, or reading captured messages.
 */
export const scopes = [
  'full',
  'trigger',
  'read',
  'subscribers:write',
  'inbox:write',
  'workflows:write',
  'integrations:write',
  'outbox:read',
] as const
export type Scope = (typeof scopes)[number]

export interface Principal {
  readonly environment: Environment
  /** The id of the API key; of a user `user:` and theirs. */
  readonly keyId: string
  readonly keyName: string
  readonly scopes: readonly Scope[]
  /** Tokens a second of this key alone; left out where only the environment limits it. */
  readonly ratePerSecond?: number
  /** Left out where an API key or the operator's link speaks. */
  readonly user?: SignedInUser
  /** Set for sessions of sign-in links, which only whoever runs the service can make. */
  readonly isOperator?: true
}

export interface SignedInUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: 'owner' | 'editor' | 'viewer'
  readonly hasPassword: boolean
}

/** `read` opens the outbox as well. */
export function mayUse(principal: Pick<Principal, 'scopes'>, needed: Scope): boolean {
  const { scopes: held } = principal
  return held.includes('full') || held.includes(needed) || (needed === 'outbox:read' && held.includes('read'))
}
