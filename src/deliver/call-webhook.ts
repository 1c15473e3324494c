// Sends one event to one endpoint: signed as Standard Webhooks say, guarded, bounded in time; the answer is a value.
import type { DeliveryAttempt } from '../domain/webhooks/webhook-delivery.ts'
import { answerBytesMax } from '../domain/webhooks/webhook-delivery.ts'
import type { EndpointSecrets } from '../domain/webhooks/webhook-endpoint.ts'
import { signingKeysOf } from '../domain/webhooks/webhook-endpoint.ts'
import { signedCall } from '../providers/signing/call-signature.ts'
import { storable } from '../providers/words.ts'
import { OutboundError } from '../world/outbound/outbound-error.ts'
import type { World } from '../world/world.ts'

/** Receivers are expected to accept an event and to work on it later. */
const callTimeoutMs = 15_000

/** The same `id` and body for every repeat, by which a receiver recognises one. */
export async function callWebhook(
  world: World,
  endpoint: EndpointSecrets,
  { id, body }: { id: string; body: string },
): Promise<DeliveryAttempt> {
  const now = world.now()
  const headers = { 'content-type': 'application/json', 'user-agent': 'Posthorn-Webhooks' }
  const unsigned = { url: endpoint.url, method: 'POST', headers, body }
  const request = signedCall(unsigned, id, signingKeysOf(endpoint, now), now)
  const attempt = (rest: Pick<DeliveryAttempt, 'status' | 'answer' | 'error'>): DeliveryAttempt => ({
    at: now.toISOString(),
    durationMs: world.now().getTime() - now.getTime(),
    ...rest,
  })
  try {
    const { status, body: text } = await world.fetch(request, { reach: 'guarded', timeoutMs: callTimeoutMs })
    return attempt({ status, answer: storable(text, answerBytesMax), error: errorOf(status) })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return attempt({ status: null, answer: null, error: error.message })
  }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `It answered ${status}: redirects are not followed`
  return `It answered ${status}`
}
