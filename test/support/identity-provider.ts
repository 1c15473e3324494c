// A real OpenID Connect provider on loopback, and a browser's way through it: who signs in there is what a test says.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from './app.ts'

export interface Account {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
}

export const oidcClient = { clientId: 'posthorn', clientSecret: 'the-secret-of-the-client' }

export class IdentityProvider {
  readonly #server: Server
  readonly issuer: string
  /** Who signs in next; undefined declines. */
  account: Account | undefined
  /** Calls to its token endpoint. */
  tokenCalls = 0

  private constructor(server: Server, issuer: string) {
    this.#server = server
    this.issuer = issuer
  }

  static async start(redirectUri: string): Promise<IdentityProvider> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const one = new IdentityProvider(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    // Without types of its own.
    const { default: Provider }: Json = await import('oidc-provider' as string)
    const provider = new Provider(one.issuer, one.#settings(redirectUri))
    // Also over http, which it warns of.
    server.on('request', (request, response) => void one.#answer(provider, request, response))
    return one
  }

  #settings(redirectUri: string): Json {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    return {
      clients: [
        {
          client_id: oidcClient.clientId,
          client_secret: oidcClient.clientSecret,
          redirect_uris: [redirectUri],
        },
      ],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
      cookies: { keys: ['only-for-tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx: Json, { uid }: Json) => `/interaction/${uid}` },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_ctx: Json, sub: string) => {
        const claims = this.account
        return { accountId: sub, claims: async () => ({ ...claims, sub }) }
      },
      loadExistingGrant: async ({ oidc }: Json) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    }
  }

  async #answer(provider: Json, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/token')) this.tokenCalls += 1
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response)
    const declined = { error: 'access_denied', error_description: 'Declined' }
    const result = this.account === undefined ? declined : { login: { accountId: this.account.sub } }
    await provider.interactionFinished(request, response, result)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** As a browser goes that has never been here: where the provider sends it in the end. */
  async visit(url: string): Promise<string> {
    const cookies = new Map<string, string>()
    for (let at = url, steps = 0; steps < 10; steps += 1) {
      if (!at.startsWith(this.issuer)) return at
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const reply = await fetch(at, { redirect: 'manual', headers: { cookie } })
      for (const line of reply.headers.getSetCookie()) {
        const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? []
        cookies.set(name, value)
      }
      const location = reply.headers.get('location')
      assert.ok(location !== null, `${reply.status} ${await reply.text()}`)
      at = new URL(location, at).href
    }
    return assert.fail(`The provider does not come to an end: ${url}`)
  }
}
