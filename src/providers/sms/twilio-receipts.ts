// Twilio's status callbacks: whether they are Twilio's, and what they report.
// https://www.twilio.com/docs/usage/security#validating-requests
import { createHash } from 'node:crypto'
import { receiptOf } from '../inbound/delivery-report.ts'
import { formFieldsOf, isShort } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import { hmac, isSame } from '../signing/signing.ts'
import { reportForm } from './report-form.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['accepted', 'queued'],
  ['scheduled', 'queued'],
  ['queued', 'queued'],
  ['sending', 'queued'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])

interface Account {
  readonly token: string
}

export const twilioReceipts: ReceiptReader<Account> = {
  setUp:
    'Twilio signs with the auth token of the account (`X-Twilio-Signature`), even if an API key is used for sending. Set the webhook URL of this integration as its status callback, or in the Messaging Service.',
  verify,
  read,
}

/** The auth token is Twilio's key; a signing key of the integration is for one that was changed since. */
function verify(call: InboundCall, { key, account }: Proof<Account>): boolean {
  if (!isShort(call)) return false
  const given = call.headers['x-twilio-signature'] ?? ''
  const text = signedText(call)
  if (text === undefined) return false
  return [key ?? '', account.token].some(
    (secret) => secret !== '' && isSame(given, hmac('sha1', secret, text).toString('base64')),
  )
}

/** The address and every parameter of the form; or the address alone, where the body's digest is a part of it. */
function signedText({ url, query, body }: InboundCall): string | undefined {
  const digest = query.get('bodySHA256')
  if (digest !== null)
    return isSame(digest.toLowerCase(), createHash('sha256').update(body).digest('hex')) ? url : undefined
  const form = formFieldsOf({ body })
  const names = [...new Set(form.keys())].toSorted()
  return (
    url +
    names
      .map((name) =>
        [...new Set(form.getAll(name))]
          .toSorted()
          .map((value) => name + value)
          .join(''),
      )
      .join('')
  )
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  const status = report.string('MessageStatus') ?? report.string('SmsStatus') ?? ''
  const code = report.string('ErrorCode') ?? ''
  return receiptOf({
    status: statuses.get(status),
    providerMessageId: report.id('MessageSid') ?? report.id('SmsSid'),
    address: report.string('To'),
    words: code === '' ? '' : `${report.string('ErrorMessage') ?? status} (${code})`,
    row: report.value(''),
  })
}
