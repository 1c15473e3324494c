// SimpleTexting, the v2 API, "Send a message".
// https://api-doc.simpletexting.com/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

const api = 'https://api-app2.simpletexting.com/v2/api'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['DELIVERY_REPORT', 'delivered'],
  ['NON_DELIVERED_REPORT', 'failed'],
])

export const simpletexting = httpProvider({
  id: 'simpletexting',
  channel: 'sms',
  name: 'SimpleTexting',
  docsUrl: 'https://api-doc.simpletexting.com/',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API token', { mistake: ofVisibleAscii }),
    from: text('Account phone', {
      description: 'A number of the account, in the USA or Canada.',
      placeholder: '8005551234',
      mistake: (value) =>
        northAmerican(value) === undefined ? 'must be a number of ten digits, such as 8005551234' : undefined,
    }),
  },

  recipientMembers: ['contactPhone'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const contactPhone = northAmerican(message.to)
    if (contactPhone === undefined) {
      return refused('bad-recipient', 'SimpleTexting reaches only numbers in the USA and Canada')
    }
    const sender = senderOf(message, account)
    return {
      url: `${api}/messages`,
      method: 'POST',
      headers: headersOf(account.apiKey),
      body: JSON.stringify({
        contactPhone,
        accountPhone: northAmerican(sender) ?? sender,
        mode: 'AUTO',
        text: message.content,
        ...settingsOf(message, ['contactPhone', 'accountPhone', 'text']),
      }),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey }) => ({ url: `${api}/tenant`, method: 'GET', headers: headersOf(apiKey) }),
    field: 'apiKey',
    words: ['message'],
  },

  receipts: {
    setUp:
      'SimpleTexting does not sign its requests: register the webhook URL of this integration, with its key as `?token=…`, with `POST /v2/api/webhooks` and the triggers DELIVERY_REPORT and NON_DELIVERED_REPORT.',
    read,
  },
})

const headersOf = (apiKey: string): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
  accept: 'application/json',
  'content-type': 'application/json',
})

/** The ten digits of a number in the USA or Canada; the country code may be missing only where no other can be meant. */
function northAmerican(number: string): string | undefined {
  const { 1: code, 2: digits } = /^(1?)([2-9]\d{9})$/.exec(digitsOf(number)) ?? []
  return code === '' && /^\s*(?:\+|00)/.test(number) ? undefined : digits
}

/** Reports have the ten digits alone; a message is known by its whole number. */
function withCountryCode(number: string | undefined): string | undefined {
  const digits = northAmerican(number ?? '')
  return digits === undefined ? number : `+1${digits}`
}

function outcome(answer: ProviderAnswer): Outcome {
  const id = answer.id('id')
  if (answer.status === 201) return id === undefined ? unsure(words(answer)) : sent(id)
  return outcomeOfStatus(answer, words(answer))
}

function words(answer: ProviderAnswer): string {
  const code = answer.string('errorCode')
  const said = wordsOf('SimpleTexting', answer, 'message')
  return code === undefined ? said : `${said} (${code})`
}

function read(call: InboundCall): readonly Receipt[] {
  const report = jsonOf(call)
  return receiptOf({
    status: statuses.get(report.string('type') ?? ''),
    providerMessageId: report.id('values.messageId'),
    address: withCountryCode(report.id('values.contactPhone')),
    row: report.value(''),
  })
}
