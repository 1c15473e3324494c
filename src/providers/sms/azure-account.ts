// An Azure Communication Services resource: its connection string, and the signature its key makes.
// https://learn.microsoft.com/azure/communication-services/tutorials/hmac-header-tutorial
import { createHash } from 'node:crypto'
import type { OutboundRequest } from '../../world/world.ts'
import { hmac } from '../signing/signing.ts'

export interface AzureAccount {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly key: Buffer
}

/** `contoso.communication.azure.com`, one of a geography, or one of the government clouds: the key goes nowhere else. */
const resourceHost = /^(?:[a-z0-9-]{1,63}\.){1,3}communication\.azure\.(?:com|us|cn)$/

/** The resource and its key, or what is wrong with the text; the text itself is never part of that. */
export function readConnectionString(value: string): AzureAccount | { readonly mistake: string } {
  const parts = new Map<string, string>()
  for (const part of value.trim().split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0) parts.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim())
  }
  const endpoint = parts.get('endpoint') ?? ''
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (
    url?.protocol !== 'https:' ||
    url.username !== '' ||
    url.port !== '' ||
    url.pathname !== '/' ||
    !resourceHost.test(url.hostname)
  ) {
    return { mistake: 'must contain endpoint=https://<name>.communication.azure.com/' }
  }
  const key = parts.get('accesskey') ?? ''
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(key)) return { mistake: 'must contain accesskey=<the key, in Base64>' }
  return { endpoint: url.origin, key: Buffer.from(key, 'base64') }
}

/**
 * The request with its timestamp, the digest of its body and the signature over both, the method, the path and the
 * host.
 */
export function azureSigned(request: OutboundRequest, key: Buffer, now: Date): OutboundRequest {
  const { pathname, search, host } = new URL(request.url)
  const date = now.toUTCString()
  const digest = createHash('sha256')
    .update(request.body ?? '')
    .digest('base64')
  const signature = hmac('sha256', key, `${request.method}\n${pathname}${search}\n${date};${host};${digest}`)
  return {
    ...request,
    headers: {
      ...request.headers,
      'x-ms-date': date,
      'x-ms-content-sha256': digest,
      authorization: `HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=${signature.toString('base64')}`,
    },
  }
}
