// Why SendGrid calls us: events, which it signs, and mails by Inbound Parse, which it does not.
// https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
// https://www.twilio.com/docs/sendgrid/for-developers/parsing-email/setting-up-the-inbound-parse-webhook
import type { KeyObject } from 'node:crypto'
import { createPublicKey, verify } from 'node:crypto'
import { receiptOf } from '../inbound/delivery-report.ts'
import { carriesKey } from '../inbound/inbound.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, InboundMail, ReceiptReader, ReceiptStatus, ReplyReader } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOfJson } from '../reading.ts'
import { bytesIn, fieldsOf, textIn } from './inbound-form.ts'
import { addressesIn, filesIn, headersIn, idsIn, senderIn } from './inbound-mail.ts'
import { wasSignedWithin } from './signed-timestamp.ts'

/** A call that fails is repeated for a day. */
const signedAgoHoursMax = 25

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  processed: 'queued',
  deferred: 'deferred',
  delivered: 'delivered',
  bounce: 'bounced',
  dropped: 'rejected',
  open: 'opened',
  click: 'clicked',
  spamreport: 'complained',
  unsubscribe: 'unsubscribed',
  group_unsubscribe: 'unsubscribed',
}

export const sendgridReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp:
    'Add this URL as an Event Webhook with Signed Event Webhook enabled; the signing key is the verification key that SendGrid then shows (the field Event webhook verification key can contain it as well).',
  verify({ headers, body }, { key, account, world }) {
    const signature = headers['x-twilio-email-event-webhook-signature']
    const timestamp = headers['x-twilio-email-event-webhook-timestamp']
    if (signature === undefined || timestamp === undefined) return false
    if (!wasSignedWithin(signedAgoHoursMax, timestamp, world.now())) return false
    const signed = Buffer.concat([Buffer.from(timestamp), body])
    return [key, account.secretKey].some((given) => {
      const publicKey = publicKeyOf(given)
      return publicKey !== undefined && verify('sha256', signed, publicKey, Buffer.from(signature, 'base64'))
    })
  },
  read: (call) => eventsOf(call).flatMap(receiptIn),
}

function receiptIn(event: Reading) {
  return receiptOf({
    status: statusOf(event),
    reference: event.string('message_id'),
    // The id that sending returned, then a dot and SendGrid's own data.
    providerMessageId: event.string('sg_message_id')?.split('.')[0] || undefined,
    address: event.string('email'),
    at: timestampOf(event.number('timestamp')),
    words: event.string('reason') || event.string('response'),
    row: event.value(''),
  })
}

function statusOf(event: Reading): ReceiptStatus | undefined {
  const name = event.string('event') ?? ''
  // The server rejected this message; the address may be valid.
  if (name === 'bounce' && event.string('type') === 'blocked') return 'failed'
  return Object.hasOwn(statuses, name) ? statuses[name] : undefined
}

/** A P-256 key in base64, as SendGrid shows it; undefined where it is anything else. */
function publicKeyOf(given: string | undefined): KeyObject | undefined {
  if (given === undefined || !/^[A-Za-z0-9+/=\s]{80,400}$/.test(given)) return undefined
  try {
    const key = createPublicKey({ key: Buffer.from(given, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

export const sendgridReplies: ReplyReader<object> = {
  setUp:
    'Set this URL, with `?token=` and the signing key, as the URL of Inbound Parse, without the raw message. SendGrid does not sign these requests, so the signing key must be a secret of your own; put the verification key of events into its own field.',
  // The verification key proves nothing by itself: it is meant to be public.
  verify: (call, { key }) => publicKeyOf(key) === undefined && carriesKey(call, key),
  read: mailOf,
}

function mailOf(call: InboundCall): InboundMail | undefined {
  const form = fieldsOf(call)
  // Each field has its own charset.
  const charsets = readingOfJson(textIn(form, 'charsets'))
  const field = (name: string): string => decoded(bytesIn(form, name) ?? Buffer.alloc(0), charsets.string(name))
  const envelope = readingOfJson(field('envelope'))
  const from = senderIn(field('from'), envelope.string('from') ?? '')
  if (bytesIn(form, 'headers') === undefined || from === '') return undefined
  const headers = headersIn(field('headers'))
  const recipients = envelope.list('to').filter((address) => typeof address === 'string')
  return {
    from,
    to: addressesIn(...recipients, field('to')),
    subject: field('subject'),
    text: field('text'),
    html: field('html'),
    headers,
    ...idsIn(headers),
    attachments: filesIn(form),
  }
}

function decoded(bytes: Buffer, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}
