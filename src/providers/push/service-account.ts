// A Google service account: the key file an operator pastes, and the access token it is exchanged for.
import type { KeyObject } from 'node:crypto'
import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { World } from '../../world/world.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf } from '../provider-answer.ts'

export interface ServiceAccount {
  readonly projectId: string
  readonly clientEmail: string
  readonly privateKey: KeyObject
  readonly privateKeyId: string | undefined
}

/** The key file contains an endpoint; its author could point us anywhere, so it is never used. */
const tokenEndpoint = 'https://oauth2.googleapis.com/token'
const messagingScope = 'https://www.googleapis.com/auth/firebase.messaging'
/** Google accepts no more than an hour. */
const assertionSeconds = 3600

/** The account, or what is wrong with the file; the file's own text is never part of that. */
export function readServiceAccount(file: string): ServiceAccount | { readonly mistake: string } {
  const json = parsedObject(file)
  if (json === undefined) return { mistake: 'must be the JSON of a service account key file' }
  const { project_id: projectId, client_email: clientEmail, private_key: pem, private_key_id: keyId } = json
  if (typeof projectId !== 'string' || !/^[a-z0-9:.-]+$/i.test(projectId)) return { mistake: 'must hold a project_id' }
  if (typeof clientEmail !== 'string' || clientEmail === '') return { mistake: 'must hold a client_email' }
  if (typeof pem !== 'string') return { mistake: 'must hold a private_key' }
  const privateKey = privateKeyOf(pem)
  if (privateKey?.asymmetricKeyType !== 'rsa') return { mistake: 'must hold a private_key that is an RSA key in PEM' }
  return { projectId, clientEmail, privateKey, privateKeyId: typeof keyId === 'string' ? keyId : undefined }
}

/** Asks for an access token to send messages with: `access_token` of a 200. */
export async function askAccessToken(
  world: World,
  account: ServiceAccount,
  timeoutMs: number,
): Promise<ProviderAnswer> {
  const issuedAt = Math.floor(world.now().getTime() / 1000)
  const assertion = await new SignJWT({ scope: messagingScope })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(account.privateKeyId === undefined ? {} : { kid: account.privateKeyId }),
    })
    .setIssuer(account.clientEmail)
    .setAudience(tokenEndpoint)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + assertionSeconds)
    .sign(account.privateKey)
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const request = new Request(tokenEndpoint, { method: 'POST', body })
  return answerOf(await world.fetch(request, { timeoutMs, sendsNothing: true }), world.now())
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    // After an environment variable, a file often contains `\n` instead of line breaks.
    return createPrivateKey(pem.replaceAll('\\n', '\n'))
  } catch {
    return undefined
  }
}
