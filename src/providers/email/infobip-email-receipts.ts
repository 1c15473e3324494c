// What Infobip reports of e-mails: deliveries in lists, opens and clicks one by one.
// https://www.infobip.com/docs/api/channels/email

import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { statusUnder } from './email-receipt.ts'

const groups: Readonly<Record<string, ReceiptStatus>> = {
  PENDING: 'queued',
  DELIVERED: 'delivered',
  UNDELIVERABLE: 'bounced',
  EXPIRED: 'failed',
  REJECTED: 'rejected',
}
const trackings: Readonly<Record<string, ReceiptStatus>> = {
  OPENED: 'opened',
  CLICKED: 'clicked',
  UNSUBSCRIBED: 'unsubscribed',
  COMPLAINED: 'complained',
}

export const infobipEmailReceipts: ReceiptReader<object> = {
  setUp:
    'Set this URL, with `?token=` and the signing key appended, as the report URL of the integration, or as the webhook of a subscription at Infobip. Infobip does not sign its requests, so the key in the URL authenticates them.',
  read(call) {
    const whole = jsonOf(call)
    const reports = whole.items('results')
    return reports.length > 0 ? reports.flatMap(reportOf) : trackingOf(whole)
  },
}

function reportOf(report: Reading): readonly Receipt[] {
  const status = statusUnder(groups, report.string('status.groupName'))
  const isForNow = status === 'bounced' && report.flag('error.permanent') !== true
  return receiptOf({
    status: isForNow ? 'deferred' : status,
    reference: report.id('callbackData'),
    providerMessageId: report.id('messageId'),
    address: report.string('to'),
    at: timestampOf(report.string('doneAt')),
    words: report.string('smtp.response') ?? report.string('error.description') ?? report.string('error.name'),
    row: report.value(''),
  })
}

function trackingOf(event: Reading): readonly Receipt[] {
  return receiptOf({
    status: statusUnder(trackings, event.string('notificationType')),
    reference: event.id('callbackData'),
    providerMessageId: event.id('messageId'),
    address: event.string('recipient'),
    at: timestampOf(event.id('sendDateTime')),
    words: event.string('url'),
    row: event.value(''),
  })
}
