// The tokens of inbox sessions: JWTs, signed with a key of the environment, bound to a subscriber and to contexts.

import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose'
import type { Db } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import { gathering } from '../../domain/gathering.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import { isWithin } from '../../domain/time/is-within.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { SessionSubscriber } from '../../store/messages/inbox-sessions.ts'
import { findSessionSubscriber, findSessionSubscribers } from '../../store/messages/inbox-sessions.ts'
import { ensureLateKey, findLateKey } from '../../store/operate/installation.ts'
import type { World } from '../../world/world.ts'
import type { FindEnvironment } from './environment-lookups.ts'

const algorithm = 'HS256'
const issuer = 'posthorn'
/** What public clients check, if they do. */
const audience = 'widget_user'
/** Longer than any of ours, with the longest subscriberId and contexts. */
const tokenLengthMax = 8_192
/** As for API keys: a lookup is cached for less than a second, so that a revocation takes effect everywhere at once. */
const trustedForMs = 900
/** An environment's key never changes; this only bounds what is cached for unknown ids. */
const environmentKeptMs = 60_000
const rememberedMax = 10_000
const lookedUpAtOnceMax = 200

export interface InboxTokens {
  sign(reader: Reader): Promise<string>
  /** Undefined for a token that is forged, expired, revoked, or of a subscriber who is gone. */
  read(token: string): Promise<Reader | undefined>
  /** The same with what a long connection has to check again; `expired` or `revoked` for one that we made, and undefined for others. */
  open(token: string): Promise<OpenedToken | EndedToken | undefined>
}

/** It was valid once: whoever shows it guesses nothing. */
export type EndedToken = 'expired' | 'revoked'

export interface OpenedToken {
  readonly reader: Reader
  /** Void once the subscriber's has moved on. */
  readonly generation: number
  readonly expiresAtMs: number
}

interface Claims {
  readonly environmentId: string
  readonly subscriberInternalId: string
  readonly contextKeys: readonly string[]
  readonly generation: number
  readonly expiresAtMs: number
}

interface Opened {
  readonly environment: Environment
  readonly key: Buffer
  /** Those of tokens that are shown together are looked up together. */
  findSubscriber(id: string): Promise<SessionSubscriber | undefined>
}

export interface TokenSources {
  readonly findEnvironment: FindEnvironment
  /** Pages never renew a token: one that ends while they are open leaves them without news. */
  readonly lifeDays: number
}

export function createInboxTokens(db: Db, world: World, { findEnvironment, lifeDays }: TokenSources): InboxTokens {
  const subscribers = remembering<SessionSubscriber>(world, trustedForMs)
  const environments = remembering<Opened>(world, environmentKeptMs)

  async function open(id: string): Promise<Opened | undefined> {
    const environment = await findEnvironment(id)
    const key = environment && (await findLateKey(db, world.sealer, environment, 'inbox-key'))
    if (environment === undefined || key === undefined) return undefined
    const findSubscriber = gathering((ids) => findSessionSubscribers(db, environment, ids), lookedUpAtOnceMax)
    return { environment, key, findSubscriber }
  }

  async function openToken(token: string): Promise<OpenedToken | EndedToken | undefined> {
    const claimed = token.length > tokenLengthMax ? undefined : claimsOf(token)
    if (claimed === undefined) return undefined
    const { environmentId, subscriberInternalId: id, contextKeys, generation, expiresAtMs } = claimed
    const opened = await environments(environmentId, () => open(environmentId))
    const judged = opened && (await judgedBy(token, opened.key, world.now()))
    if (opened === undefined || judged !== 'genuine') return judged === 'expired' ? judged : undefined
    const { environment, findSubscriber } = opened
    const look = () => findSubscriber(id)
    const remembered = await subscribers(`${environmentId}/${id}`, look)
    // Made after a revocation that this node has not seen yet.
    const isNewer = remembered !== undefined && remembered.generation < generation
    const found = isNewer ? await look() : remembered
    if (found === undefined || found.generation !== generation) return 'revoked'
    return { reader: { environment, id, subscriberId: found.subscriberId, contextKeys }, generation, expiresAtMs }
  }

  return {
    open: openToken,

    async sign(reader) {
      const { environment, id, subscriberId, contextKeys } = reader
      const key = await db.transaction((tx) => ensureLateKey(tx, world.sealer, environment, 'inbox-key'))
      const generation = (await findSessionSubscriber(db, environment, id))?.generation ?? 0
      const issuedAt = Math.floor(world.now().getTime() / 1000)
      return new SignJWT({ _id: id, environmentId: environment.id, subscriberId, contextKeys, generation })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifeDays * 24 * 60 * 60)
        .sign(key)
    },

    async read(token) {
      const opened = await openToken(token)
      return typeof opened === 'object' ? opened.reader : undefined
    },
  }
}

/** The content of a token, before its signature is verified: the environment determines the key for that. */
function claimsOf(token: string): Claims | undefined {
  try {
    const { environmentId, _id, contextKeys, generation, exp = 0 } = decodeJwt(token)
    const isWhole =
      typeof environmentId === 'string' &&
      isUuid(environmentId) &&
      typeof _id === 'string' &&
      isUuid(_id) &&
      Number.isInteger(generation) &&
      Array.isArray(contextKeys) &&
      contextKeys.every((key) => typeof key === 'string')
    if (!isWhole) return undefined
    const expiresAtMs = exp * 1000
    return { environmentId, subscriberInternalId: _id, contextKeys, generation: Number(generation), expiresAtMs }
  } catch {
    return undefined
  }
}

/** Only the signature of one that expired was good as well. */
async function judgedBy(token: string, key: Buffer, now: Date): Promise<'genuine' | 'expired' | 'forged'> {
  try {
    const required = { algorithms: [algorithm], issuer, audience, requiredClaims: ['exp', 'iat'] }
    await jwtVerify(token, key, { ...required, currentDate: now })
    return 'genuine'
  } catch (error) {
    return error instanceof errors.JWTExpired ? 'expired' : 'forged'
  }
}

/** Looks things up, and caches results for a while; concurrent calls share one lookup. */
function remembering<Value>(world: World, keptMs: number) {
  const known = new BoundedMap<string, { at: number; value: Promise<Value | undefined> }>(rememberedMax)
  return (name: string, find: () => Promise<Value | undefined>): Promise<Value | undefined> => {
    const now = world.now().getTime()
    const before = known.get(name)
    if (before !== undefined && isWithin(before.at, now, keptMs)) return before.value
    const value = find()
    known.set(name, { at: now, value })
    value.then(
      (found) => found ?? known.delete(name),
      () => known.delete(name),
    )
    return value
  }
}
