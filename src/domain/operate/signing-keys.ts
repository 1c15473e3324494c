// What an environment signs with: one key per purpose and version, so that none of them reveals anything about another.
import { hkdfSync } from 'node:crypto'

/** One secret of an environment; version 1 is the one that it was made with. */
export interface SigningVersion {
  readonly version: number
  readonly secret: string
  readonly createdAt: Date
}

/** Tokens that we alone read again. */
export type TokenPurpose = 'unsubscribe' | 'reply'

/** What a call to a customer's own service is signed with. */
export interface CallKey {
  readonly version: number
  /** As whoever verifies it is shown it. */
  readonly text: string
}

/** How long calls carry the signature before as well, for receivers to change over. */
export const overlapDays = 7
const overlapMs = overlapDays * 24 * 60 * 60_000
const keyBytes = 32

export class SigningKeys {
  /** Oldest first, one at least. */
  readonly versions: readonly SigningVersion[]
  readonly #tokenKeys = new Map<TokenPurpose, readonly Buffer[]>()

  constructor(versions: readonly SigningVersion[]) {
    if (versions.length === 0) throw new Error('An environment without a signing secret')
    this.versions = versions
  }

  /**
   * What new tokens are signed with: until the first rotation the secret itself, as before. Nodes of a version without
   * other keys, before an upgrade of all or after a rollback, can open these links as well. Rotate only when there are
   * none.
   */
  tokenKey(purpose: TokenPurpose): Buffer {
    const keys = this.tokenKeys(purpose)
    return (this.versions.length === 1 ? keys.at(-1) : keys[0]) as Buffer
  }

  /**
   * All that a token may have been signed with, the newest first: links in old mail have no end. The last is the secret
   * itself, which signed everything before there were keys for each purpose.
   */
  tokenKeys(purpose: TokenPurpose): readonly Buffer[] {
    const known = this.#tokenKeys.get(purpose)
    if (known !== undefined) return known
    const derived = this.versions.map((version) => derivedKey(version, purpose)).reverse()
    const keys = [...derived, Buffer.from(this.versions[0]?.secret ?? '', 'utf8')]
    this.#tokenKeys.set(purpose, keys)
    return keys
  }

  /** The newest, and those that were the newest lately; newest first. */
  callKeys(now: Date): readonly CallKey[] {
    return this.versions
      .filter((_, index) => {
        const next = this.versions[index + 1]
        return next === undefined || next.createdAt.getTime() + overlapMs > now.getTime()
      })
      .map(callKeyOf)
      .reverse()
  }

  /**
   * What entries of the audit log are signed with, as calls are with theirs: keys of their own, since whoever writes a workflow
   * has calls signed that say what they like.
   */
  auditKeys(now: Date): readonly CallKey[] {
    const signing = new Set(this.callKeys(now).map(({ version }) => version))
    return this.versions
      .filter(({ version }) => signing.has(version))
      .map(auditKeyOf)
      .reverse()
  }
}

/** Always a key of Standard Webhooks, also for the first version: the signer gets it as a later version. */
function auditKeyOf(version: SigningVersion): CallKey {
  const text = `whsec_${derivedKey(version, 'audit').toString('base64')}`
  return { version: version.version + 1, text }
}

/** The first secret is shown and used as it is: receivers have it. Later ones are keys of Standard Webhooks. */
export function callKeyOf(version: SigningVersion): CallKey {
  const text = version.version === 1 ? version.secret : `whsec_${derivedKey(version, 'call').toString('base64')}`
  return { version: version.version, text }
}

/** Until when calls carry the signature of a version; undefined for the newest. */
export function signsUntil(next: SigningVersion | undefined): Date | undefined {
  return next && new Date(next.createdAt.getTime() + overlapMs)
}

function derivedKey({ version, secret }: SigningVersion, purpose: TokenPurpose | 'call' | 'audit'): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `posthorn ${purpose} v${version}`, keyBytes))
}
