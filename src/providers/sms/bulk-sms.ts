// BulkSMS, the JSON API, "Send messages".
// https://www.bulksms.com/developer/json/v1/
import { createHash } from 'node:crypto'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { segmentsOf } from './sms-text.ts'

const api = 'https://api.bulksms.com/v1'
/** For a longer text BulkSMS requires the number of parts it may become. */
const untoldPartsMax = 3

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['DELIVERED', 'delivered'],
  ['FAILED', 'failed'],
  ['SENT', 'sent'],
  ['ACCEPTED', 'sent'],
])

export const bulkSms = httpProvider({
  id: 'bulk-sms',
  channel: 'sms',
  name: 'BulkSMS',
  docsUrl: 'https://www.bulksms.com/developer/json/v1/',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  // `deduplication-id` applies to a whole request, so there are no batches: a repeated one could not be matched.
  idempotent: true,
  form: {
    apiToken: secret('API token', {
      description: 'The token id and its secret, separated by a colon, or the basic auth value that BulkSMS shows.',
      placeholder: 'token-id:token-secret',
      mistake: ofVisibleAscii,
    }),
    from: optional(
      text('From', {
        description:
          'A name of up to 11 characters or a number; without it, BulkSMS chooses one that can receive replies.',
      }),
    ),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const query = new URLSearchParams({ 'auto-unicode': 'true', 'deduplication-id': deduplicationId(message.id) })
    return {
      url: `${api}/messages?${query}`,
      method: 'POST',
      headers: {
        authorization: authorizationOf(account.apiToken),
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify(bodyOf(message, senderOf(message, account))),
    }
  },

  outcome,

  probe: {
    request: ({ apiToken }) => ({
      url: `${api}/profile`,
      method: 'GET',
      headers: { authorization: authorizationOf(apiToken), accept: 'application/json' },
    }),
    field: 'apiToken',
    words: ['detail', 'title'],
  },

  receipts: {
    setUp:
      'BulkSMS does not sign its requests: register the webhook URL of this integration, with its key as `?token=…`, for sent messages, with `POST /v1/webhooks` or on its website.',
    read,
  },
})

/** Some copy the token as BulkSMS shows it, ready for the header. */
function authorizationOf(apiToken: string): string {
  return `Basic ${apiToken.includes(':') ? Buffer.from(apiToken).toString('base64') : apiToken}`
}

/** Of 63 bits, as BulkSMS counts; the same on every retry. */
function deduplicationId(messageId: string): string {
  return BigInt.asUintN(63, createHash('sha256').update(messageId).digest().readBigUInt64BE()).toString()
}

function bodyOf(message: SmsMessage, from: string): object {
  const parts = segmentsOf(message.content)
  return {
    ...(parts > untoldPartsMax ? { longMessageMaxParts: parts } : {}),
    ...settingsOf(message, ['to', 'body', 'from', 'userSuppliedId']),
    to: internationalOf(message.to),
    body: message.content,
    ...(from === '' ? {} : { from }),
    userSuppliedId: message.id,
  }
}

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('BulkSMS', answer, 'detail', 'title')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const id = answer.id('0.id')
  const type = answer.string('0.status.type')
  if (type === 'FAILED') {
    return refused('other', `BulkSMS did not send it: ${answer.string('0.status.subtype') ?? 'no reason was given'}`)
  }
  return id === undefined || type === undefined ? unsure(words) : sent(id)
}

function read(call: InboundCall): readonly Receipt[] {
  return eventsOf(call).flatMap((report) =>
    receiptOf({
      status: statuses.get(report.string('status.type') ?? ''),
      reference: report.string('userSuppliedId'),
      providerMessageId: report.id('id'),
      address: report.id('to'),
      words: report.string('status.subtype'),
      row: report.value(''),
    }),
  )
}
