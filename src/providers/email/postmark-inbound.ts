// Why Postmark calls us: events of a message, and mails to an inbound address. It signs neither.
// https://postmarkapp.com/developer/webhooks/webhooks-overview

import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, InboundMail, ReceiptReader, ReceiptStatus, ReplyReader } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { addressesIn, headersOf, idsIn, senderIn } from './inbound-mail.ts'

const records: Readonly<Record<string, ReceiptStatus>> = {
  Delivery: 'delivered',
  SpamComplaint: 'complained',
  Open: 'opened',
  Click: 'clicked',
}

/** A soft bounce is final for this message, for Postmark has stopped trying, and not for the address. An automatic reply is not a bounce. */
const bounces: Readonly<Record<string, ReceiptStatus>> = {
  HardBounce: 'bounced',
  BadEmailAddress: 'bounced',
  SoftBounce: 'failed',
  VirusNotification: 'failed',
  Transient: 'deferred',
  DnsError: 'deferred',
  Blocked: 'rejected',
  ManuallyDeactivated: 'rejected',
  DMARCPolicy: 'rejected',
  Unconfirmed: 'rejected',
  SpamNotification: 'complained',
}

const timestamps = ['DeliveredAt', 'BouncedAt', 'ReceivedAt', 'ChangedAt']

export const postmarkReceipts: ReceiptReader<object> = {
  setUp:
    'Add this URL as a webhook of the message stream, with the signing key as the Basic auth password, or as `?token=` in the URL: Postmark does not sign its requests.',
  read(call) {
    const event = jsonOf(call)
    return receiptOf({
      status: statusOf(event),
      reference: event.string('Metadata.message_id'),
      providerMessageId: event.id('MessageID'),
      address: event.string('Recipient') ?? event.string('Email'),
      at: timestampOf(timestamps.map((name) => event.string(name)).find((timestamp) => timestamp !== undefined)),
      words: event.string('Details') || event.string('Description') || event.string('SuppressionReason'),
      row: event.value(''),
    })
  },
}

function statusOf(event: Reading): ReceiptStatus | undefined {
  const record = event.string('RecordType') ?? ''
  if (record === 'SubscriptionChange') return event.flag('SuppressSending') === true ? 'unsubscribed' : undefined
  const [known, name] = record === 'Bounce' ? [bounces, event.string('Type') ?? ''] : [records, record]
  return Object.hasOwn(known, name) ? known[name] : undefined
}

export const postmarkReplies: ReplyReader<object> = {
  setUp:
    'Set this URL as the webhook of the inbound stream, with the signing key as the Basic auth password or as `?token=`.',
  read: mailOf,
}

function mailOf(call: InboundCall): InboundMail | undefined {
  const mail = jsonOf(call)
  const record = mail.string('RecordType') ?? 'Inbound'
  const from = mail.string('FromFull.Email') ?? senderIn(mail.string('From') ?? '')
  if (record !== 'Inbound' || from === '' || mail.string('Subject') === undefined) return undefined
  const people = [...mail.items('ToFull'), ...mail.items('CcFull'), ...mail.items('BccFull')]
  const headers = headersOf(
    mail.items('Headers').map((header) => [header.string('Name') ?? '', header.string('Value') ?? '']),
  )
  return {
    from,
    to: addressesIn(mail.string('OriginalRecipient') ?? '', ...people.map((person) => person.string('Email') ?? '')),
    subject: mail.string('Subject') ?? '',
    text: mail.string('TextBody') ?? '',
    html: mail.string('HtmlBody') ?? '',
    headers,
    // Not `MessageID`, which is Postmark's own.
    ...idsIn(headers),
    attachments: mail.items('Attachments').map((file) => ({
      name: file.string('Name') ?? '',
      mime: file.string('ContentType') ?? 'application/octet-stream',
      content: file.string('Content') ?? '',
    })),
  }
}
