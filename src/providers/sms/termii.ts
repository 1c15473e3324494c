// Termii, "Send message" of its messaging API.
// https://developer.termii.com/messaging-api
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, choice, ofBaseUrl, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { hmac, isSame } from '../signing/signing.ts'
import { outcomeOfSender } from './code-meaning.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

/** In lower case; a detail of the network may follow after a bar. */
const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['message sent', 'sent'],
  ['message failed', 'failed'],
  ['rejected', 'rejected'],
  ['expired', 'failed'],
  ['dnd active on phone number', 'failed'],
])

export const termii = httpProvider({
  id: 'termii',
  channel: 'sms',
  name: 'Termii',
  docsUrl: 'https://developer.termii.com/messaging-api',
  evidence: { source: 'vendor', unsure: 'The vendor documents only a code and a text for errors.' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key'),
    from: text('Sender id', { description: 'Approved by Termii: 3 to 11 letters and digits.' }),
    channelId: optional(
      choice('Route', ['generic', 'dnd', 'whatsapp'], {
        description:
          '`dnd` for transactional messages, if Termii has enabled it for the account. Default: `generic`, which is not delivered to numbers on the Do Not Disturb list.',
      }),
    ),
    secretKey: optional(
      secret('Secret key', {
        description: 'Proves that delivery receipts come from Termii, if no signing key is set.',
      }),
    ),
    baseUrl: optional(
      text('Base URL', {
        description: 'The base URL of the account, as shown on the Termii dashboard.',
        placeholder: 'https://api.ng.termii.com',
        mistake: ofBaseUrl,
      }),
    ),
  },

  recipientMembers: ['to', 'api_key'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${originOf(account)}/api/sms/send`,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'plain',
        channel: account.channelId ?? 'generic',
        ...settingsOf(message, ['api_key', 'to', 'from', 'sms']),
        api_key: account.apiKey,
        to: digitsOf(message.to),
        from: senderOf(message, account),
        sms: message.content,
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({
      url: `${originOf(account)}/api/get-balance?api_key=${encodeURIComponent(account.apiKey)}`,
      method: 'GET',
      headers: { accept: 'application/json' },
    }),
    result: (answer) =>
      answer.status === 200 && answer.value('balance') !== undefined
        ? good
        : bad(wordsOf('Termii', answer, 'message'), answer.status === 401 ? 'apiKey' : undefined),
  },

  receipts: {
    setUp:
      'Set the webhook URL of this integration on the Termii dashboard. Each request is signed (`X-Termii-Signature`) with the secret key of the account, which is the signing key here.',
    verify({ headers, body }, { key, account }) {
      const secretKey = key || account.secretKey || ''
      const signature = headers['x-termii-signature'] ?? ''
      return secretKey !== '' && isSame(signature.toLowerCase(), hmac('sha512', secretKey, body).toString('hex'))
    },
    read,
  },
})

const originOf = ({ baseUrl }: { readonly baseUrl?: string }): string =>
  baseAddress(baseUrl ?? 'https://api.ng.termii.com')

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('Termii', answer, 'message')
  if (answer.status >= 200 && answer.status < 300) return taken(answer, words)
  // No credit; or an address that is not the account's.
  if (answer.status === 402 || answer.status === 405) return misconfigured(words)
  if (answer.status === 404) return outcomeOfSender(message, words)
  return outcomeOfStatus(answer, words)
}

function taken(answer: ProviderAnswer, words: string): Outcome {
  const id = answer.id('message_id_str') ?? answer.id('message_id')
  if (id !== undefined) return sent(id)
  const saysWhy = answer.string('message') !== undefined && answer.value('code') !== 'ok'
  return saysWhy ? refused('other', words) : unsure(words)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = jsonOf(call)
  if (report.string('type') !== 'outbound') return []
  const said = report.string('status') ?? ''
  const [state = ''] = said.toLowerCase().split(' | ')
  return receiptOf({
    status: state.startsWith('delivered') ? 'delivered' : statuses.get(state.trim()),
    providerMessageId: report.id('message_id'),
    address: report.id('receiver'),
    words: said,
    row: report.value(''),
  })
}
