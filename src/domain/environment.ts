// The tenant boundary: an Environment of an Organization, and the Caller an API key makes of a request.

export interface Environment {
  readonly id: string
  readonly organizationId: string
  readonly name: string
}

/** `full` may do everything, `trigger` may only trigger events, `read` may only read. */
export const scopes = ['full', 'trigger', 'read'] as const
export type Scope = (typeof scopes)[number]

export interface Caller {
  readonly environment: Environment
  readonly keyId: string
  readonly keyName: string
  readonly scopes: readonly Scope[]
}

export function mayUse(caller: Caller, needed: Scope): boolean {
  return caller.scopes.includes('full') || caller.scopes.includes(needed)
}
