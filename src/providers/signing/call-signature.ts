// Signs a call to a customer's own service: according to Standard Webhooks and, while the first secret signs, also in our own format.
// https://www.standardwebhooks.com
import type { CallKey } from '../../domain/operate/signing-keys.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { signed } from '../webhook.ts'
import { hmac } from './signing.ts'

/** `id` is the same for every repeat. Several keys make several signatures: a receiver needs to know only one of them. */
export function signedCall(request: OutboundRequest, id: string, keys: readonly CallKey[], now: Date): OutboundRequest {
  const first = keys.find(({ version }) => version === 1)
  const later = keys.filter(({ version }) => version > 1)
  const own = first === undefined ? request : signed(request, first.text, now)
  if (later.length === 0) return own
  const seconds = Math.floor(now.getTime() / 1000)
  const signatures = later.map(({ text }) => {
    const key = Buffer.from(text.replace(/^whsec_/, ''), 'base64')
    return `v1,${hmac('sha256', key, `${id}.${seconds}.${request.body ?? ''}`).toString('base64')}`
  })
  // What was saved before we used these names may contain them, in another case.
  const others = Object.entries(own.headers ?? {}).filter(
    ([name]) => !/^webhook-(?:id|timestamp|signature)$/i.test(name),
  )
  return {
    ...own,
    headers: {
      ...Object.fromEntries(others),
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    },
  }
}
