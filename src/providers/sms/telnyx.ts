// Telnyx, "Send a message".
// https://developers.telnyx.com/api/messaging/send-message
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { signedStatusCallback } from './status-callback.ts'
import { ofPublicKey, telnyxReceipts } from './telnyx-receipts.ts'

const api = 'https://api.telnyx.com/v2'

/** https://developers.telnyx.com/docs/messaging/messages/error-codes */
const codes = codeTable({
  account: ['10009', '10010', '10039'],
  busy: ['10007', '10011', '40011'],
  'opted-out': ['40300'],
  'bad-recipient': ['10002', '10016', '40001', '40310'],
  sender: ['40013', '40305'],
  'bad-content': ['40009'],
})

/** Codes of a message that failed while it was accepted. */
const failedStates: ReadonlySet<string> = new Set(['sending_failed', 'delivery_failed', 'expired'])

export const telnyx = httpProvider({
  id: 'telnyx',
  channel: 'sms',
  name: 'Telnyx',
  docsUrl: 'https://developers.telnyx.com/api/messaging/send-message',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', { placeholder: 'KEY…', mistake: ofVisibleAscii }),
    from: text('From', {
      description: 'A number in E.164, a short code, or a sender name.',
      placeholder: '+14155550100',
    }),
    messageProfileId: text('Messaging profile ID', {
      description: 'Telnyx needs it for sender names and number pools.',
    }),
    secretKey: optional(
      secret('Public key', {
        description: 'The public key of the account, in base64: proves that delivery receipts come from Telnyx.',
        mistake: ofPublicKey,
      }),
    ),
    webhookUrl: signedStatusCallback('Telnyx'),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const { messageProfileId, webhookUrl } = account
    return {
      url: `${api}/messages`,
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify({
        from: senderOf(message, account),
        to: internationalOf(message.to),
        text: message.content,
        messaging_profile_id: messageProfileId,
        ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
        ...settingsOf(message, ['from', 'to', 'text', 'messaging_profile_id']),
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({ url: `${api}/balance`, method: 'GET', headers: headersOf(account) }),
    field: 'apiKey',
    words: ['errors.0.detail', 'errors.0.title'],
  },

  receipts: telnyxReceipts,
})

const headersOf = ({ apiKey }: { readonly apiKey: string }): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
  accept: 'application/json',
})

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const code = answer.id('errors.0.code') ?? answer.id('data.errors.0.code')
  const said = wordsOf('Telnyx', answer, 'errors.0.detail', 'errors.0.title', 'data.errors.0.detail')
  const words = code === undefined ? said : `${said} (${code})`
  const ofCode = outcomeOfCode(codes, code, words, answer, message)
  if (answer.status !== 200) return (answer.status < 500 ? ofCode : undefined) ?? outcomeOfStatus(answer, words)
  if (failedStates.has(answer.string('data.to.0.status') ?? '')) return ofCode ?? refused('other', words)
  const id = answer.id('data.id')
  return id === undefined ? unsure(words) : sent(id)
}
