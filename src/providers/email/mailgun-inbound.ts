// Why Mailgun calls us: events of a message, and mails that a route forwards.
// https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks

import { receiptOf } from '../inbound/delivery-report.ts'
import { isShort, jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, InboundMail, Proof, ReceiptReader, ReceiptStatus, ReplyReader } from '../inbound/receipt.ts'
import { parsedJson, readingOf } from '../reading.ts'
import { hmacSha256Hex, isSame } from '../signing/signing.ts'
import type { FormField } from './inbound-form.ts'
import { fieldsOf, textIn } from './inbound-form.ts'
import { addressesIn, filesIn, headersOf, idsIn, senderIn } from './inbound-mail.ts'
import { wasSignedWithin } from './signed-timestamp.ts'

/** A request that fails is repeated for eight hours, and it is not documented whether it is signed again. */
const signedAgoHoursMax = 9

interface Account {
  readonly secretKey?: string
}

const setUp =
  'The signing key is the HTTP webhook signing key of the account; the field Webhook signing key can contain it as well.'

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  accepted: 'queued',
  delivered: 'delivered',
  rejected: 'rejected',
  opened: 'opened',
  clicked: 'clicked',
  complained: 'complained',
  unsubscribed: 'unsubscribed',
}

export const mailgunReceipts: ReceiptReader<Account> = {
  setUp: `Add this URL as a webhook of the sending domain. ${setUp}`,
  verify(call, proof) {
    if (!isShort(call)) return false
    const signature = jsonOf(call)
    const [timestamp, token] = [signature.id('signature.timestamp'), signature.string('signature.token')]
    return ['signature.signature', 'signature.parent-signature'].some((path) =>
      isSigned(timestamp, token, signature.string(path), proof),
    )
  },
  signedWord: (call) => ({ token: jsonOf(call).string('signature.token') ?? '', content: call.body }),
  read(call) {
    const event = readingOf(jsonOf(call).value('event-data'))
    return receiptOf({
      status: statusOf(event.string('event'), event.string('severity')),
      reference: event.string('user-variables.message_id'),
      providerMessageId: event.id('message.headers.message-id'),
      address: event.string('recipient'),
      at: timestampOf(event.number('timestamp') ?? event.string('timestamp')),
      words:
        event.string('delivery-status.message') ||
        event.string('delivery-status.description') ||
        event.string('reason'),
      row: event.value(''),
    })
  },
}

function statusOf(event = '', severity = ''): ReceiptStatus | undefined {
  if (event === 'failed') return severity === 'temporary' ? 'deferred' : 'bounced'
  return Object.hasOwn(statuses, event) ? statuses[event] : undefined
}

/** Mailgun signs a timestamp and a random text, not the body. */
function isSigned(
  timestamp: string | undefined,
  token: string | undefined,
  signature: string | undefined,
  { key, account, world }: Proof<Account>,
): boolean {
  const secret = key || account.secretKey
  if (!secret || !timestamp || !token || !signature) return false
  if (!wasSignedWithin(signedAgoHoursMax, timestamp, world.now())) return false
  return isSame(signature, hmacSha256Hex(secret, timestamp + token))
}

export const mailgunReplies: ReplyReader<Account> = {
  setUp: `Create a route that forwards to this URL: \`forward("…")\`. ${setUp}`,
  verify(call, proof) {
    const form = fieldsOf(call)
    return isSigned(textIn(form, 'timestamp'), textIn(form, 'token'), textIn(form, 'signature'), proof)
  },
  signedWord(call) {
    const form = fieldsOf(call)
    // Not the whole body: a repeat may use another boundary between its parts.
    const content = JSON.stringify(form.map(({ name, bytes }) => [name, bytes.toString('base64')]))
    return { token: textIn(form, 'token'), content }
  },
  read: mailOf,
}

function mailOf(call: InboundCall): InboundMail | undefined {
  const form = fieldsOf(call)
  const has = (name: string): boolean => form.some((field) => field.name === name)
  const [recipient, sender] = [textIn(form, 'recipient'), textIn(form, 'sender')]
  // The webhooks of older accounts are forms too; those report events.
  if (recipient === '' || sender === '' || has('event')) return undefined
  const headers = headersIn(form)
  return {
    from: senderIn(textIn(form, 'from') || textIn(form, 'From'), sender),
    to: addressesIn(recipient, textIn(form, 'To')),
    subject: textIn(form, 'subject'),
    text: textIn(form, 'body-plain'),
    html: textIn(form, 'body-html'),
    headers,
    ...idsIn(headers),
    attachments: filesIn(form),
  }
}

/** Pairs in JSON; the most important ones are also separate fields. */
function headersIn(form: readonly FormField[]): InboundMail['headers'] {
  const pairs = parsedJson(textIn(form, 'message-headers'))
  const listed = (Array.isArray(pairs) ? pairs : []).flatMap((pair: unknown): [string, string][] => {
    const [name, value] = Array.isArray(pair) ? pair : []
    return typeof name === 'string' && typeof value === 'string' ? [[name, value]] : []
  })
  if (listed.length > 0) return headersOf(listed)
  const names = new Set(['Message-Id', 'In-Reply-To', 'References', 'Date'])
  const own = form.filter(({ name }) => names.has(name))
  return headersOf(own.map(({ name, bytes }) => [name, bytes.toString('utf8')]))
}
