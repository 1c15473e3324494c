// What Mailtrap reports of e-mails.
// https://docs.mailtrap.io/email-api-smtp/advanced/webhooks
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOfExactJson } from '../reading.ts'
import { hasSignedBody } from '../signing/body-signature.ts'
import { statusUnder } from './email-receipt.ts'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  delivery: 'delivered',
  'soft bounce': 'deferred',
  bounce: 'bounced',
  suspension: 'deferred',
  reject: 'rejected',
  open: 'opened',
  click: 'clicked',
  spam: 'complained',
  'spam complaint': 'complained',
  unsubscribe: 'unsubscribed',
}
/** Mailtrap posts at most 500. */
const eventsMax = 1_000

export const mailtrapReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp:
    'Add this URL as a webhook, and set the signing secret, which Mailtrap shows only once, as the signing key of the integration. Mailtrap signs the body of each request.',
  verify: (call, { key, account }) => hasSignedBody(call, 'mailtrap-signature', key || account.secretKey),
  read: (call) => eventsIn(call).flatMap(receiptsOf),
}

/** One JSON document with all of them, or one per line, depending on the webhook's settings. */
function eventsIn(call: InboundCall): readonly Reading[] {
  const events = jsonOf(call).items('events')
  if (events.length > 0) return events
  return call.body.toString('utf8').split('\n', eventsMax).map(readingOfExactJson)
}

function receiptsOf(event: Reading): readonly Receipt[] {
  return receiptOf({
    status: statusUnder(statuses, event.string('event')?.toLowerCase().replaceAll('_', ' ')),
    reference: event.id('custom_variables.message_id'),
    providerMessageId: event.id('message_id'),
    address: event.string('email'),
    at: timestampOf(event.id('timestamp')),
    words: event.string('response') ?? event.string('reason') ?? event.string('url'),
    row: event.value(''),
  })
}
