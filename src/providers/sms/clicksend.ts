// ClickSend, "Send SMS" of its v3 API.
// https://developers.clicksend.com/docs/messaging/sms/other/send-sms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

const api = 'https://rest.clicksend.com/v3'
/**
 * ClickSend accepts 1,000 and repeats each text in its response, of which 64 KiB are read: this many of this length
 * stay within, at six bytes per character and 600 more per message.
 */
const messagesMax = 25
const sharedContentMax = 306
/** The same text was just sent to the same number: at once it would be held back again. */
const throttledMs = 60_000

/** Statuses of one message in the answer. */
const codes = codeTable({
  'bad-recipient': ['INVALID_RECIPIENT'],
  sender: ['INVALID_SENDER_ID'],
  account: ['INSUFFICIENT_CREDIT', 'COUNTRY_NOT_ENABLED'],
  'bad-content': ['EMPTY_MESSAGE'],
  busy: ['INTERNAL_ERROR', 'SOMETHING_IS_WRONG', 'TOO_MANY_REQUESTS'],
})

interface Account {
  readonly user: string
  readonly apiKey: string
  readonly from?: string
}

export const clicksend = httpProvider({
  id: 'clicksend',
  channel: 'sms',
  name: 'ClickSend',
  docsUrl: 'https://developers.clicksend.com/docs/messaging/sms/other/send-sms',
  evidence: { source: 'vendor', unsure: 'The vendor does not list all status codes of delivery reports.' },
  features: ['sender per message', 'Unicode'],
  form: {
    user: text('API username'),
    apiKey: secret('API key'),
    from: optional(
      text('From', {
        description: 'A number of the account, or a name of up to 11 letters and digits without spaces.',
      }),
    ),
  },

  recipientMembers: ['messages'],

  request(message, account) {
    const item = itemOf(message, account)
    return 'kind' in item ? item : requestOf([item], account)
  },

  outcome: (answer, message) => outcomes(answer, [message])[0] ?? unsure(wordsOfAll(answer)),

  batch: {
    max: messagesMax,
    key: ({ content, passthrough }) =>
      content.length <= sharedContentMax && passthrough === undefined ? '' : undefined,
    item: itemOf,
    request: requestOf,
    outcomes,
  },

  probe: {
    request: ({ user, apiKey }) => ({
      url: `${api}/account`,
      method: 'GET',
      headers: { authorization: basicAuth(user, apiKey), accept: 'application/json' },
    }),
    field: 'apiKey',
    words: ['response_msg'],
  },

  receipts: {
    setUp:
      'ClickSend does not sign its requests: add a rule for SMS delivery reports with the action URL, by `POST /v3/automations/sms/receipts` or on the dashboard, to the webhook URL of this integration, with its key as `?token=…`.',
    read,
  },
})

function itemOf(message: SmsMessage, account: Account): object | Outcome {
  const mistake = mistakeOfSms(message)
  if (mistake !== undefined) return mistake
  const from = senderOf(message, account)
  return {
    // Without `kind`, which distinguishes an Outcome from it.
    ...settingsOf(message, ['to', 'list_id', 'body', 'from', 'custom_string', 'kind']),
    to: internationalOf(message.to),
    body: message.content,
    ...(from === '' ? {} : { from }),
    custom_string: message.id,
  }
}

function requestOf(items: readonly object[], { user, apiKey }: Account): OutboundRequest {
  return {
    url: `${api}/sms/send`,
    method: 'POST',
    headers: {
      authorization: basicAuth(user, apiKey),
      accept: 'application/json',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ messages: items }),
  }
}

const wordsOfAll = (answer: ProviderAnswer): string => wordsOf('ClickSend', answer, 'response_msg', 'response_code')

function outcomes(answer: ProviderAnswer, messages: readonly SmsMessage[]): readonly Outcome[] {
  if (answer.status < 200 || answer.status >= 300) {
    return messages.map(() => outcomeOfStatus(answer, wordsOfAll(answer)))
  }
  const items = answer.items('data.messages')
  const named = new Map(items.map((item) => [item.string('custom_string'), item]))
  return messages.map((message, index) => {
    const item = named.get(message.id) ?? inOrder(items, index)
    return item === undefined ? unsure(wordsOfAll(answer)) : outcomeOfItem(item, answer, message)
  })
}

/** Answers keep the order of the request; one that names another message is not of this one. */
function inOrder(items: readonly Reading[], index: number): Reading | undefined {
  const item = items[index]
  return item?.string('custom_string') ? undefined : item
}

function outcomeOfItem(item: Reading, answer: ProviderAnswer, message: SmsMessage): Outcome {
  const state = item.string('status')
  if (state === undefined || state === '') return unsure(wordsOfAll(answer))
  if (state === 'SUCCESS') {
    const id = item.id('message_id')
    return id === undefined ? unsure('ClickSend accepted the message but returned no id') : sent(id)
  }
  const words = `ClickSend rejected the message: ${state}`
  if (state === 'THROTTLED') return busy(words, throttledMs)
  return outcomeOfCode(codes, state, words, answer, message) ?? refused('other', words)
}

/** 300 is temporary; all others of 3xx and 4xx are final. */
function statusOf(code: string): ReceiptStatus | undefined {
  if (code === '200') return 'sent'
  if (code === '201') return 'delivered'
  if (code === '300') return 'deferred'
  return /^[34]\d\d$/.test(code) ? 'failed' : undefined
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  return receiptOf({
    status: statusOf(report.string('status_code') ?? ''),
    reference: report.string('custom_string'),
    providerMessageId: report.id('message_id'),
    at: timestampOf(report.string('timestamp')),
    words: report.string('error_text') || report.string('status_text'),
    row: report.value(''),
  })
}
