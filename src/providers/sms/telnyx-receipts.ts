// Telnyx's message webhooks: whether they are Telnyx's, and what they report.
// https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks
import { createPublicKey, verify as isSignedBy } from 'node:crypto'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import { isRecent } from '../signing/signing.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['delivered', 'delivered'],
  ['sending_failed', 'failed'],
  ['delivery_failed', 'failed'],
  ['expired', 'failed'],
  ['delivery_unconfirmed', 'sent'],
  ['sent', 'sent'],
  ['queued', 'queued'],
  ['sending', 'queued'],
])

interface Account {
  readonly secretKey?: string
}

export const telnyxReceipts: ReceiptReader<Account> = {
  setUp:
    'Telnyx signs with Ed25519: set the public key of the account (Mission Control, Keys & Credentials) as the signing key of the integration, or in its credentials. Set the webhook URL of this integration in the messaging profile, or as its status callback.',
  verify,
  read,
}

const publicKeyBytes = 32

/** The 32 bytes of an Ed25519 public key, in base64. */
export function ofPublicKey(value: string): string | undefined {
  const isKey = /^[\w+/-]{43}=?$/.test(value) && Buffer.from(value, 'base64').length === publicKeyBytes
  return isKey ? undefined : 'must be a public key: 32 bytes in base64'
}

function verify({ headers, body }: InboundCall, { key, account, world }: Proof<Account>): boolean {
  const { 'telnyx-signature-ed25519': signature = '', 'telnyx-timestamp': timestamp = '' } = headers
  const publicKey = key || account.secretKey || ''
  if (ofPublicKey(publicKey) !== undefined || !isRecent(timestamp, world.now())) return false
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body])
  const by = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return isSignedBy(null, signed, by, Buffer.from(signature, 'base64'))
}

/** The event has an id of its own, which is not the message's. */
function read(call: InboundCall): readonly Receipt[] {
  const report = jsonOf(call)
  const kind = report.string('data.event_type')
  if (kind !== 'message.sent' && kind !== 'message.finalized') return []
  const status = report.string('data.payload.to.0.status') ?? ''
  const known = statuses.get(status)
  const words = report.string('data.payload.errors.0.detail') ?? report.string('data.payload.errors.0.title') ?? status
  const code = report.id('data.payload.errors.0.code')
  return receiptOf({
    status: known,
    providerMessageId: report.id('data.payload.id'),
    address: report.string('data.payload.to.0.phone_number'),
    at: timestampOf(report.string('data.occurred_at')),
    words: known === 'failed' ? `${words}${code === undefined ? '' : ` (${code})`}` : undefined,
    row: report.value(''),
  })
}
