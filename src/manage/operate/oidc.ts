// Signing in by an identity provider (OpenID Connect): the authorization code flow with PKCE, state and nonce.
import type { Configuration, CustomFetch } from 'openid-client'
import type { Db } from '../../db/sql.ts'
import { nilId } from '../../domain/nil-id.ts'
import { UnsealError } from '../../domain/operate/sealed.ts'
import type { UserRole } from '../../domain/operate/user.ts'
import { isEmail, normalEmail } from '../../domain/operate/user.ts'
import type { World } from '../../world/world.ts'
import type { OpenedSession } from './dashboard-sessions.ts'
import type { Caller } from './oidc-users.ts'
import { usersOfIdentity } from './oidc-users.ts'
import { openUserSessions } from './user-sign-in.ts'

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** Where the provider sends people back to, as it is registered there. */
  readonly redirectUri: string
  /** Of people without a user; `none` refuses them. */
  readonly defaultRole: UserRole | 'none'
  /** Of e-mail addresses; any where there are none. */
  readonly domains: readonly string[]
}

/** Why someone does not get in, as the sign-in page knows it. */
export type RefusalReason = 'expired' | 'denied' | 'provider' | 'unverified' | 'domain' | 'unknown' | 'disabled'

export class SignInRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'SignInRefused'
    this.reason = reason
  }
}

export interface OidcSignIn {
  /** Where the browser goes, and what it brings back in a cookie. `to`: the page that was asked for. */
  begin(to: string): Promise<{ url: string; cookie: string }>
  /** `query` is what the provider sent the browser back with. Throws a SignInRefused. */
  finish(query: string, cookie: string, caller: Caller): Promise<{ sessions: readonly OpenedSession[]; to: string }>
}

/** Long enough to find one's phone. */
export const stateLifeMs = 10 * 60_000
/** Providers change their keys by themselves, and their addresses hardly ever. */
const discoveredForMs = 60 * 60_000

interface Waiting {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly to: string
  readonly until: number
}

export function createOidcSignIn(db: Db, world: World, options: OidcOptions): OidcSignIn {
  const provider = createProvider(world, options)

  return {
    async begin(to) {
      const client = await import('openid-client')
      const known = await provider()
      const waiting: Waiting = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        to,
        until: world.now().getTime() + stateLifeMs,
      }
      const url = client.buildAuthorizationUrl(known, {
        redirect_uri: options.redirectUri,
        scope: 'openid email profile',
        state: waiting.state,
        nonce: waiting.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(waiting.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, cookie: sealed(world, waiting) }
    },
    async finish(query, cookie, caller) {
      const waiting = opened(world, cookie)
      if (waiting === undefined || waiting.until <= world.now().getTime()) {
        throw new SignInRefused('expired', 'The sign-in took too long, or began in another browser')
      }
      const identity = await identityOf(await provider(), `${options.redirectUri}${query}`, waiting)
      const { issuer, defaultRole } = options
      const email = checkedEmail(identity, options.domains)
      const { subject, name } = identity
      const found = await usersOfIdentity(db, world, { issuer, subject, email, name }, { defaultRole, caller })
      if ('refused' in found) throw new SignInRefused(found.refused, `The user ${email} is ${found.refused}`)
      return { sessions: await openUserSessions(db, world, found.users), to: waiting.to }
    },
  }
}

/** What the provider says of itself, asked for with the first sign-in and once an hour. */
function createProvider(world: World, options: OidcOptions): () => Promise<Configuration> {
  let known: { until: number; configuration: Promise<Configuration> } | undefined
  return async () => {
    const now = world.now().getTime()
    if (known !== undefined && known.until > now) return known.configuration
    const configuration = discovered(world, options)
    const mine = { until: now + discoveredForMs, configuration }
    known = mine
    // One that could not be reached is asked again.
    configuration.catch(() => {
      if (known === mine) known = undefined
    })
    return configuration
  }
}

async function discovered(world: World, { issuer, clientId, clientSecret }: OidcOptions): Promise<Configuration> {
  const client = await import('openid-client')
  const url = new URL(issuer)
  const secret = clientSecret
  const auth =
    secret === undefined
      ? client.None()
      : (...parts: Parameters<ReturnType<typeof client.ClientSecretPost>>) => {
          const [{ token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }] = parts
          const kind = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost
          return kind(secret)(...parts)
        }
  return client.discovery(url, clientId, undefined, auth, {
    [client.customFetch]: guardedFetch(world),
    // The setting admits http for this machine alone.
    ...(url.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
  })
}

/** As calls to any address that the operator wrote down: guarded, bounded, by the proxy if there is one. */
function guardedFetch(world: World): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const request = {
      url,
      method,
      headers,
      ...(body === null || body === undefined ? {} : { body: String(body) }),
      ...(signal === undefined ? {} : { signal }),
    }
    const answer = await world.fetch(request, { reach: 'operator', sendsNothing: true })
    return new Response(answer.body === '' ? null : answer.body, { status: answer.status, headers: answer.headers })
  }
}

interface Identity {
  readonly subject: string
  readonly email: string | undefined
  readonly isVerified: boolean
  readonly name: string | undefined
}

async function identityOf(provider: Configuration, currentUrl: string, waiting: Waiting): Promise<Identity> {
  const client = await import('openid-client')
  try {
    const tokens = await client.authorizationCodeGrant(provider, new URL(currentUrl), {
      pkceCodeVerifier: waiting.verifier,
      expectedState: waiting.state,
      expectedNonce: waiting.nonce,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('The provider gave no ID token')
    const isWhole = claims['email'] !== undefined || provider.serverMetadata().userinfo_endpoint === undefined
    // Many leave the address to the second call.
    const known = isWhole ? claims : await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
    const { email, email_verified: verified, name } = known
    return {
      subject: claims.sub,
      email: typeof email === 'string' ? normalEmail(email) : undefined,
      isVerified: verified === true || verified === 'true',
      name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, nameLengthMax) : undefined,
    }
  } catch (error) {
    const isDenied = error instanceof client.AuthorizationResponseError && error.error === 'access_denied'
    throw new SignInRefused(isDenied ? 'denied' : 'provider', wordsOf(error))
  }
}

const nameLengthMax = 200

/** With the cause, which says more; neither holds a token. */
function wordsOf(error: unknown): string {
  const { message, cause, error: code, error_description: described } = error as Error & Record<string, unknown>
  const because = cause instanceof Error ? cause.message : undefined
  return [message, code, described, because].filter((part) => typeof part === 'string').join(': ')
}

function checkedEmail({ email, isVerified }: Identity, domains: readonly string[]): string {
  if (email === undefined || !isVerified || !isEmail(email)) {
    throw new SignInRefused('unverified', 'The provider did not verify an e-mail address')
  }
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (domains.length > 0 && !domains.includes(domain)) {
    throw new SignInRefused('domain', `Addresses of ${domain} may not sign in`)
  }
  return email
}

const sealed = (world: World, waiting: Waiting): string =>
  world.sealer.seal(nilId, 'oidc-state', nilId, JSON.stringify(waiting)).toString('base64url')

function opened(world: World, cookie: string): Waiting | undefined {
  try {
    return JSON.parse(world.sealer.open(nilId, 'oidc-state', nilId, Buffer.from(cookie, 'base64url'))) as Waiting
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}
