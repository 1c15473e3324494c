// What SparkPost reports of e-mails.
// https://developers.sparkpost.com/api/events/

import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { statusUnder } from './email-receipt.ts'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  injection: 'queued',
  delivery: 'delivered',
  delay: 'deferred',
  bounce: 'bounced',
  out_of_band: 'bounced',
  policy_rejection: 'rejected',
  generation_failure: 'failed',
  generation_rejection: 'rejected',
  spam_complaint: 'complained',
  open: 'opened',
  initial_open: 'opened',
  click: 'clicked',
  list_unsubscribe: 'unsubscribed',
  link_unsubscribe: 'unsubscribed',
}
const members = ['message_event', 'track_event', 'gen_event', 'unsubscribe_event']
/** Temporary bounces: a full mailbox, an unavailable server, and the like. */
const softClasses: ReadonlySet<string | undefined> = new Set(['20', '21', '22', '23', '24', '70'])

export const sparkpostReceipts: ReceiptReader<object> = {
  setUp:
    'Add this URL as a webhook with basic authentication: any user name, and the signing key as the password. SparkPost does not sign its requests.',
  read: (call) => eventsOf(call).flatMap((event) => members.flatMap((member) => receiptsOf(event, `msys.${member}`))),
}

function receiptsOf(event: Reading, path: string): readonly Receipt[] {
  const status = statusUnder(statuses, event.string(`${path}.type`))
  const isSoft = status === 'bounced' && softClasses.has(event.id(`${path}.bounce_class`))
  return receiptOf({
    status: isSoft ? 'deferred' : status,
    reference: event.id(`${path}.rcpt_meta.message_id`),
    providerMessageId: event.id(`${path}.transmission_id`),
    address: event.string(`${path}.raw_rcpt_to`) ?? event.string(`${path}.rcpt_to`),
    at: timestampOf(event.id(`${path}.timestamp`)),
    words: event.string(`${path}.raw_reason`) ?? event.string(`${path}.target_link_url`),
    row: event.value(path),
  })
}
