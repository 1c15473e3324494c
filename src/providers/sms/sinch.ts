// Sinch, the SMS REST API of a service plan, "Send a batch".
// https://developers.sinch.com/docs/sms/api-reference/sms/tag/Batches/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { choice, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { carriesKey } from '../inbound/inbound.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { hmac, isRecent, isSame } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const codes = codeTable({
  account: ['unauthorized', 'forbidden', 'missing_callback_url'],
  'bad-recipient': ['unknown_group'],
  'bad-content': ['syntax_constraint_violation'],
})

/** `Unknown` says nothing. */
const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['Queued', 'queued'],
  ['Dispatched', 'sent'],
  ['Delivered', 'delivered'],
  ['Failed', 'failed'],
  ['Expired', 'failed'],
  ['Aborted', 'failed'],
  ['Cancelled', 'failed'],
  ['Deleted', 'failed'],
  ['Rejected', 'rejected'],
])

interface Account {
  readonly accountSid: string
  readonly region: string
  readonly apiToken: string
}

export const sinch = httpProvider({
  id: 'sinch',
  channel: 'sms',
  name: 'Sinch',
  docsUrl: 'https://developers.sinch.com/docs/sms/api-reference/sms/tag/Batches/',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    accountSid: text('Service plan ID', {
      mistake: (value) => (/^[\w-]{1,100}$/.test(value) ? undefined : 'must be letters, digits, - and _'),
    }),
    apiToken: secret('API token', { mistake: ofVisibleAscii }),
    region: choice('Region', ['us', 'eu', 'au', 'br', 'ca'], { description: 'The region of the service plan.' }),
    from: text('From', { description: 'A number, a short code or a sender name.', placeholder: '+46700000000' }),
    webhookUrl: statusCallback('Sinch'),
    secretKey: optional(
      secret('Webhook secret', {
        description: 'The secret of signed callbacks, if it differs from the signing key.',
      }),
    ),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: batchesOf(account),
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify({
        from: senderOf(message, account),
        to: [internationalOf(message.to)],
        body: message.content,
        type: 'mt_text',
        delivery_report: 'per_recipient',
        client_reference: message.id,
        ...(account.webhookUrl === undefined ? {} : { callback_url: account.webhookUrl }),
        ...settingsOf(message, ['from', 'to', 'body', 'client_reference']),
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({ url: `${batchesOf(account)}?page_size=1`, method: 'GET', headers: headersOf(account) }),
    field: 'apiToken',
    words: ['text'],
  },

  receipts: {
    setUp:
      'Set the webhook URL of this integration as the status callback. If Sinch signs callbacks, its secret is the signing key; otherwise the URL must contain the key as `?token=…`.',
    verify,
    read: (call) => eventsOf(call).flatMap(receiptsOf),
  },
})

const batchesOf = ({ region, accountSid }: Account): string =>
  `https://${region}.sms.api.sinch.com/xms/v1/${encodeURIComponent(accountSid)}/batches`

const headersOf = ({ apiToken }: Account): Record<string, string> => ({
  authorization: `Bearer ${apiToken}`,
  accept: 'application/json',
})

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('Sinch', answer, 'text')
  if (answer.status === 201) {
    const id = answer.id('id')
    return id === undefined ? unsure(words) : sent(id)
  }
  // The address names nothing but the service plan.
  if (answer.status === 404) return misconfigured(words)
  if (answer.status < 400 || answer.status >= 500) return outcomeOfStatus(answer, words)
  // The same code for any parameter: it is the number where Sinch repeats it.
  const isNumber = answer.string('text')?.includes(digitsOf(message.to)) === true
  if (answer.string('code') === 'syntax_invalid_parameter_format' && isNumber) return refused('bad-recipient', words)
  return outcomeOfCode(codes, answer.string('code'), words, answer, message) ?? outcomeOfStatus(answer, words)
}

/** Signed, where Sinch has switched that on for the account; otherwise with the key. */
function verify(call: InboundCall, { key, account, world }: Proof<{ readonly secretKey?: string }>): boolean {
  const { headers, body } = call
  const signature = headers['x-sinch-webhook-signature']
  if (signature === undefined) return carriesKey(call, key)
  const nonce = headers['x-sinch-webhook-signature-nonce'] ?? ''
  const timestamp = headers['x-sinch-webhook-signature-timestamp'] ?? ''
  if (nonce === '' || !isRecent(timestamp, world.now())) return false
  const signed = Buffer.concat([body, Buffer.from(`.${nonce}.${timestamp}`)])
  // The key may be the address's token, and the secret another.
  return [key, account.secretKey].some(
    (one = '') => one !== '' && isSame(signature, hmac('sha256', one, signed).toString('base64')),
  )
}

/** On one recipient, or on a batch, which holds one message of ours. */
function receiptsOf(report: Reading): readonly Receipt[] {
  const isOfBatch = report.string('type') === 'delivery_report_sms'
  return (isOfBatch ? report.items('statuses') : [report]).flatMap((row) =>
    receiptOf({
      status: statuses.get(row.string('status') ?? ''),
      reference: report.string('client_reference'),
      providerMessageId: report.id('batch_id'),
      address: report.id('recipient'),
      at: timestampOf(report.string('at')),
      words: wordsOfCode(row.number('code')),
      row: report.value(''),
    }),
  )
}

/** 400 is queued, 401 dispatched, and below 400 nothing went wrong either. */
function wordsOfCode(code: number | undefined): string | undefined {
  return code === undefined || code <= 401 ? undefined : `Sinch reports code ${code}`
}
