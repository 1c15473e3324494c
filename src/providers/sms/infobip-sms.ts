// Infobip, "Send SMS messages" (v3).
// https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-messages
import type { Outcome } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { settingsOf } from '../settings.ts'
import { infobipOutcome, infobipOutcomes } from './infobip-sms-outcome.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

/** Infobip takes more; a request that fails as a whole should not hold too many. */
const messagesMax = 100

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['DELIVERED', 'delivered'],
  ['UNDELIVERABLE', 'failed'],
  ['EXPIRED', 'failed'],
  ['REJECTED', 'failed'],
  ['PENDING', 'sent'],
])

/** In the group of delivered messages, but not yet at the handset. */
const toOperator = 'DELIVERED_TO_OPERATOR'

export const infobipSms = httpProvider({
  id: 'infobip-sms',
  channel: 'sms',
  name: 'Infobip',
  docsUrl: 'https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-messages',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    baseUrl: text('Base URL', {
      description: 'The base URL of the account, as shown in the portal.',
      placeholder: 'https://xxxxx.api.infobip.com',
      mistake: ofBaseUrl,
    }),
    from: text('From', { description: 'A number, or a name of up to 11 characters.' }),
    webhookUrl: statusCallback('Infobip'),
  },

  recipientMembers: ['messages'],

  request(message, account) {
    const item = itemOf(message, account)
    return 'kind' in item ? item : requestTo(account, [item])
  },

  outcome: infobipOutcome,

  batch: {
    max: messagesMax,
    // A setting that Infobip does not take would fail the whole request.
    key: ({ customData, passthrough }) => (customData === undefined && passthrough === undefined ? '' : undefined),
    item: itemOf,
    request: (items, account) => requestTo(account, items),
    outcomes: infobipOutcomes,
  },

  probe: {
    request: (account) => ({
      url: `${baseAddress(account.baseUrl)}/account/1/balance`,
      method: 'GET',
      headers: { authorization: `App ${account.apiKey}`, accept: 'application/json' },
    }),
    field: 'apiKey',
    words: ['description', 'requestError.serviceException.text'],
  },

  receipts: {
    setUp:
      'Infobip does not sign its requests by default: set the webhook URL of this integration, with its key as `?token=…`, as its status callback, or in a subscription for SMS delivery reports.',
    read,
  },
})

interface Account {
  readonly apiKey: string
  readonly baseUrl: string
  readonly from: string
  readonly webhookUrl?: string
}

function itemOf(message: SmsMessage, account: Account): object | Outcome {
  const mistake = mistakeOfSms(message)
  if (mistake !== undefined) return mistake
  const { webhookUrl } = account
  return {
    sender: plainSenderOf(message, account),
    destinations: [{ to: digitsOf(message.to), messageId: message.id }],
    content: { text: message.content },
    ...(webhookUrl === undefined
      ? {}
      : { webhooks: { delivery: { url: webhookUrl }, contentType: 'application/json', callbackData: message.id } }),
    // Without `kind`, which distinguishes an Outcome from it.
    ...settingsOf(message, ['sender', 'destinations', 'content', 'kind']),
  }
}

function requestTo({ baseUrl, apiKey }: Account, messages: readonly object[]): OutboundRequest {
  return {
    url: `${baseAddress(baseUrl)}/sms/3/messages`,
    method: 'POST',
    headers: { authorization: `App ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({ messages }),
  }
}

function read(call: InboundCall): readonly Receipt[] {
  return jsonOf(call)
    .items('results')
    .flatMap((report) => {
      const name = report.string('status.name')
      const status = name === toOperator ? 'sent' : statuses.get(report.string('status.groupName') ?? '')
      const words = [name, report.string('error.description')]
      return receiptOf({
        status,
        reference: report.string('callbackData'),
        providerMessageId: report.id('messageId'),
        address: report.id('to'),
        at: timestampOf(report.string('doneAt')),
        words: status === 'failed' ? words.filter((one) => one !== undefined).join(': ') : undefined,
        row: report.value(''),
      })
    })
}
