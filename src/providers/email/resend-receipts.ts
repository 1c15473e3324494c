// What Resend reports of e-mails.
// https://resend.com/docs/dashboard/webhooks/event-types

import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { isStandardWebhook } from '../signing/standard-webhook.ts'
import { statusUnder } from './email-receipt.ts'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  'email.sent': 'sent',
  'email.scheduled': 'queued',
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'deferred',
  'email.bounced': 'bounced',
  'email.complained': 'complained',
  'email.failed': 'failed',
  'email.suppressed': 'rejected',
  'email.opened': 'opened',
  'email.clicked': 'clicked',
}

export const resendReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp:
    'Add this URL as a webhook at Resend, and set its signing secret (whsec_…) as the signing key of the integration. Resend signs each request as Svix does.',
  verify: (call, { key, account, world }) => isStandardWebhook(call, key || account.secretKey, world.now()),
  read(call) {
    const event = jsonOf(call)
    return receiptOf({
      status: statusOf(event),
      reference: event.id('data.tags.message_id'),
      providerMessageId: event.id('data.email_id'),
      // It is not reported which of several recipients opened an e-mail.
      address: event.list('data.to').length === 1 ? event.string('data.to.0') : undefined,
      at: timestampOf(event.string('created_at')),
      words:
        event.string('data.bounce.message') ?? event.string('data.failed.reason') ?? event.string('data.click.link'),
      row: event.value(''),
    })
  },
}

function statusOf(event: Reading): ReceiptStatus | undefined {
  const status = statusUnder(statuses, event.string('type'))
  return status === 'bounced' && event.string('data.bounce.type') === 'Transient' ? 'deferred' : status
}
