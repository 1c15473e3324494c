// Requests signed according to Svix and Standard Webhooks: an id, a timestamp and the body under one key.
// https://www.standardwebhooks.com and https://docs.svix.com/receiving/verifying-payloads/how-manual
import type { InboundCall } from '../inbound/receipt.ts'
import { hmac, isRecent, isSame } from './signing.ts'

/** Which prefix the headers have. */
const prefixes = ['svix', 'webhook'] as const
/** A vendor that changes its key signs with the old and the new one for a while; no vendor uses more. */
const signaturesMax = 10

/** Whether the vendor signed it, with this key (`whsec_…`), a short while ago. */
export function isStandardWebhook(
  { headers, body }: Pick<InboundCall, 'headers' | 'body'>,
  key: string | undefined,
  now: Date,
): boolean {
  const secret = Buffer.from((key ?? '').replace(/^whsec_/, ''), 'base64')
  if (secret.length === 0) return false
  return prefixes.some((prefix) => {
    const id = headers[`${prefix}-id`]
    const timestamp = headers[`${prefix}-timestamp`]
    const signatures = headers[`${prefix}-signature`]
    if (id === undefined || signatures === undefined || !isRecent(timestamp, now)) return false
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
    const expected = `v1,${hmac('sha256', secret, signed).toString('base64')}`
    return signatures
      .split(' ', signaturesMax)
      .map((given) => isSame(given, expected))
      .includes(true)
  })
}
