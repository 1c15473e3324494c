// What MailerSend reports of e-mails.
// https://developers.mailersend.com/api/v1/webhooks
import { isUuid } from '../../domain/uuid-v7.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { isShort, jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import { hasSignedBody } from '../signing/body-signature.ts'
import { statusUnder } from './email-receipt.ts'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  'activity.sent': 'sent',
  'activity.delivered': 'delivered',
  'activity.deferred': 'deferred',
  'activity.soft_bounced': 'deferred',
  'activity.hard_bounced': 'bounced',
  'activity.opened': 'opened',
  'activity.opened_unique': 'opened',
  'activity.clicked': 'clicked',
  'activity.clicked_unique': 'clicked',
  'activity.spam_complaint': 'complained',
  'activity.unsubscribed': 'unsubscribed',
}

export const mailersendReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp:
    'Add this URL as a webhook of the domain, and set its signing secret as the signing key of the integration. MailerSend signs the body of each request.',
  verify: (call, { key, account }) => hasSignedBody(call, 'signature', key || account.secretKey),
  // Sent when a webhook is created, with a key that is not ours; it contains nothing, and only needs a response.
  greet: (call) => (isShort(call) && jsonOf(call).string('type') === 'webhook.test' ? 'ok' : undefined),
  read(call) {
    const event = jsonOf(call)
    return receiptOf({
      status: statusUnder(statuses, event.string('type')),
      reference: event.list('data.email.tags').find((tag): tag is string => typeof tag === 'string' && isUuid(tag)),
      providerMessageId: event.id('data.email.message.id'),
      address: event.string('data.email.recipient.email'),
      at: timestampOf(event.string('data.created_at') ?? event.string('created_at')),
      words: event.string('data.morph.reason') ?? event.string('data.morph.url'),
      row: event.value(''),
    })
  },
}
