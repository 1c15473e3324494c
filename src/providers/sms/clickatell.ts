// Clickatell, the One API, "Send messages"; and its older REST API, for the keys that belong to it.
// https://guides.clickatell.com/clickatell-chat-commerce-platform/developer/channels/whatsapp-and-sms-one-api/api-reference/messages/send-messages
import type { Outcome } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { settingsOf } from '../settings.ts'
import { clickatellOutcome, clickatellOutcomes } from './clickatell-outcome.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

/** The most that Clickatell accepts in one request. */
const messagesMax = 100

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['2', 'queued'],
  ['3', 'queued'],
  ['4', 'sent'],
  ['5', 'delivered'],
  ['6', 'delivered'],
  ['20', 'failed'],
  ['23', 'failed'],
  ['100', 'failed'],
  // Stopped, no balance, beyond a volume, no such recipient: never sent on.
  ...['21', '22', '25', '26', '27', '28', '29', '60', '61', '80', '81', '82', '83', '84', '85'].map(
    (code): [string, ReceiptStatus] => [code, 'rejected'],
  ),
])

interface Account {
  readonly apiKey: string
  readonly from?: string
  readonly baseUrl?: string
}

export const clickatell = httpProvider({
  id: 'clickatell',
  channel: 'sms',
  name: 'Clickatell',
  docsUrl: 'https://docs.clickatell.com/',
  evidence: {
    source: 'vendor',
    unsure: 'The balance endpoint, which the check uses, is not documented.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', {
      description: 'The key of an SMS integration in the Clickatell portal.',
      mistake: ofVisibleAscii,
    }),
    from: optional(
      text('Two-way number', {
        description: 'Only for a two-way integration: a one-way integration rejects messages with a sender.',
      }),
    ),
    baseUrl: optional(
      text('Base URL', {
        description:
          'A URL other than the default of Clickatell. `https://platform.clickatell.com/messages` is the older REST API, for keys created for it.',
        mistake: ofBaseUrl,
      }),
    ),
  },

  recipientMembers: ['messages', 'to'],

  request(message, account) {
    const item = itemOf(message, account)
    if ('kind' in item) return item
    const { channel: _sms, to, ...rest } = item
    return isOlder(account)
      ? requestTo(account, '', { to: [to], ...rest })
      : requestTo(account, '/v1/message', { messages: [item] })
  },

  outcome: clickatellOutcome,

  batch: {
    max: messagesMax,
    // A setting that Clickatell does not take would fail the whole request; and the older API supports one text per request.
    key: ({ customData, passthrough }, account) =>
      customData === undefined && passthrough === undefined && !isOlder(account) ? '' : undefined,
    item: itemOf,
    request: (messages, account) => requestTo(account, '/v1/message', { messages }),
    outcomes: clickatellOutcomes,
  },

  probe: {
    request: (account) => ({
      url: isOlder(account)
        ? `${baseOf(account).replace(/\/messages$/, '')}/public-client/balance`
        : `${baseOf(account)}/v1/balance`,
      method: 'GET',
      headers: { authorization: account.apiKey, accept: 'application/json' },
    }),
    field: 'apiKey',
    words: ['error.description', 'errorDescription', 'error'],
  },

  receipts: {
    setUp:
      'Clickatell does not sign its requests: in the portal, set the webhook URL of this integration, with its key as `?token=…`, for message status updates, or its key as the password of Basic authentication.',
    read,
  },
})

const baseOf = ({ baseUrl }: Account): string =>
  baseUrl === undefined ? 'https://platform.clickatell.com' : baseAddress(baseUrl)

const isOlder = (account: Account): boolean => baseOf(account).endsWith('/messages')

interface Item {
  readonly channel: 'sms'
  readonly to: string
  readonly content: string
  readonly from?: string
  readonly clientMessageId: string
}

function itemOf(message: SmsMessage, account: Account): Item | Outcome {
  const mistake = mistakeOfSms(message)
  if (mistake !== undefined) return mistake
  const from = plainSenderOf(message, account)
  return {
    // Without `kind`, which distinguishes an Outcome from it.
    ...settingsOf(message, ['channel', 'to', 'content', 'from', 'clientMessageId', 'binary', 'kind']),
    channel: 'sms',
    to: digitsOf(message.to),
    content: message.content,
    ...(from === '' ? {} : { from }),
    clientMessageId: message.id,
  }
}

function requestTo(account: Account, path: string, body: object): OutboundRequest {
  return {
    url: `${baseOf(account)}${path}`,
    method: 'POST',
    headers: { authorization: account.apiKey, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function read(call: InboundCall): readonly Receipt[] {
  return jsonOf(call)
    .items('event.messageStatusUpdate')
    .flatMap((update) => {
      const status = statuses.get(update.id('statusCode') ?? '')
      return receiptOf({
        status,
        reference: update.string('clientMessageId'),
        providerMessageId: update.id('messageId'),
        at: timestampOf(update.number('timestamp') ?? update.string('timestamp')),
        words: status === 'failed' || status === 'rejected' ? update.string('status') : undefined,
        row: update.value(''),
      })
    })
}
