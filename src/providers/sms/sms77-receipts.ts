// The delivery reports of seven.io: whether they are seven.io's, and what they report.
// https://docs.seven.io/en/rest-api/endpoints/webhooks
import { createHash } from 'node:crypto'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import { hmacSha256Hex, isRecent, isSame } from '../signing/signing.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['DELIVERED', 'delivered'],
  ['NOTDELIVERED', 'failed'],
  ['EXPIRED', 'failed'],
  ['REJECTED', 'failed'],
  ['FAILED', 'failed'],
  ['TRANSMITTED', 'sent'],
  ['ACCEPTED', 'sent'],
  ['BUFFERED', 'queued'],
])

interface Account {
  readonly secretKey?: string
}

export const sms77Receipts: ReceiptReader<Account> = {
  setUp:
    'seven.io signs with the signing key of the account: set it as the signing key of the integration, or in its credentials. Create a webhook for the event `dlr` (JSON) with the webhook URL of this integration.',
  verify,
  read,
}

/** Of a timestamp, a nonce, a method, the full URL and the MD5 of the body, in hexadecimal digits. */
export function sevenSignature(key: string, parts: readonly [string, string, string, string, string]): string {
  return hmacSha256Hex(key, parts.join('\n'))
}

function verify({ method, url, headers, body }: InboundCall, { key, account, world }: Proof<Account>): boolean {
  const { 'x-signature': given = '', 'x-timestamp': timestamp = '', 'x-nonce': nonce = '' } = headers
  const secret = key || account.secretKey
  if (secret === undefined || secret === '' || !isRecent(timestamp, world.now())) return false
  const digest = createHash('md5').update(body).digest('hex')
  return isSame(given.toLowerCase(), sevenSignature(secret, [timestamp, nonce, method, url, digest]))
}

function read(call: InboundCall): readonly Receipt[] {
  const report = jsonOf(call)
  if (report.string('webhook_event') !== 'dlr') return []
  const status = report.string('data.status') ?? ''
  const known = statuses.get(status)
  const timestamp = report.id('data.timestamp') ?? ''
  return receiptOf({
    status: known,
    reference: report.string('data.foreign_id'),
    providerMessageId: report.id('data.msg_id'),
    // A date is in a zone that it does not name.
    at: /^\d+$/.test(timestamp) ? timestampOf(timestamp) : undefined,
    words: known === 'failed' ? status : undefined,
    row: report.value(''),
  })
}
