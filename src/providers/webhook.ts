// What the providers that call an address of the customer share: its form, its signature, and a check that it can be reached.
import { isMetadataHost } from '../world/outbound/address-guard.ts'
import type { OutboundRequest, World } from '../world/world.ts'
import type { CheckResult } from './provider.ts'
import { bad, good, unreachable } from './provider.ts'
import { hmacSha256Hex } from './signing/signing.ts'

/** Shown with every form that asks for the secret. */
export const signatureDescription =
  'Each request carries `X-Posthorn-Signature: t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<body>` with this secret.'

export function ofWebhookUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return 'must be a URL such as https://ops.example.com/hooks'
  const { protocol, username, password, hostname } = new URL(value)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') {
    return 'must be an http(s) URL without user name and password'
  }
  return isMetadataHost(hostname) ? 'must not be a metadata address' : undefined
}

/** JSON under a key that identifies a repeat. */
export function webhookRequest(url: string, messageId: string, body: object): OutboundRequest {
  return {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': messageId },
    body: JSON.stringify(body),
  }
}

/** Signed with its timestamp, so that a receiver can recognise a replayed request. */
export function signed(request: OutboundRequest, secretKey: string, now: Date): OutboundRequest {
  const seconds = Math.floor(now.getTime() / 1000)
  const signature = hmacSha256Hex(secretKey, `${seconds}.`, request.body ?? '')
  return { ...request, headers: { ...request.headers, 'x-posthorn-signature': `t=${seconds},v1=${signature}` } }
}

export async function checkWebhook(world: World, webhookUrl: string): Promise<CheckResult> {
  try {
    // Nothing that a receiver acts on; whatever it returns, it is reachable.
    await world.fetch({ url: webhookUrl, method: 'HEAD', headers: {} })
    return good
  } catch (error) {
    const result = unreachable(error)
    return result.kind === 'bad' ? bad(result.words, 'webhookUrl') : result
  }
}
