// What Mandrill reports of messages: a form with a list of events, signed with the address that it is posted to.
// https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/

import { receiptOf } from '../inbound/delivery-report.ts'
import { formFieldsOf, formOf, isShort, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOfExactJson } from '../reading.ts'
import { hmac, isSame } from '../signing/signing.ts'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  send: 'sent',
  delivered: 'delivered',
  deferral: 'deferred',
  hard_bounce: 'bounced',
  // A temporary bounce: Mandrill uses the other event for final ones.
  soft_bounce: 'deferred',
  reject: 'rejected',
  open: 'opened',
  click: 'clicked',
  spam: 'complained',
  unsub: 'unsubscribed',
}

export const mandrillReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp:
    'Add this URL as a webhook; the signing key is the key that Mandrill shows next to it (the field Webhook key can contain it as well). The URL must be exactly the one that Mandrill calls: it is part of the signature.',
  verify(call, { key, account }) {
    const secret = key || account.secretKey
    const signature = call.headers['x-mandrill-signature']
    if (!secret || !signature) return false
    return isSame(signature, hmac('sha1', secret, signedText(call)).toString('base64'))
  },
  // Before it accepts a URL, Mandrill tests it with no events and a key that is not known yet.
  greet: (call) => (isShort(call) && formOf(call).string('mandrill_events') === '[]' ? 'ok' : undefined),
  read: (call) =>
    readingOfExactJson(formOf(call).string('mandrill_events') ?? '')
      .items('')
      .flatMap(receiptIn),
}

/** The address, then each field in the order of their names, with nothing between. */
function signedText(call: InboundCall): string {
  return (
    call.url +
    [...formFieldsOf(call)]
      .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
      .map((field) => field.join(''))
      .join('')
  )
}

function receiptIn(event: Reading) {
  const name = event.string('event') ?? ''
  return receiptOf({
    status: Object.hasOwn(statuses, name) ? statuses[name] : undefined,
    reference: event.string('msg.metadata.message_id'),
    providerMessageId: event.id('_id') ?? event.id('msg._id'),
    address: event.string('msg.email'),
    at: timestampOf(event.number('ts')),
    words: event.string('msg.diag') || event.string('msg.bounce_description'),
    row: event.value(''),
  })
}
