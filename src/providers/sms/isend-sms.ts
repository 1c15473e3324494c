// iSend, of Libya: "Send SMS" of its v3 API.
// https://isend.com.ly
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { baseAddress, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'

interface Account {
  readonly apiToken: string
  readonly baseUrl?: string
}

export const isendSms = httpProvider({
  id: 'isend-sms',
  channel: 'sms',
  name: 'iSend SMS',
  docsUrl: 'https://isend.com.ly',
  evidence: {
    source: 'others',
    unsure:
      'The vendor’s documentation requires a login: errors, the balance endpoint and the host are from third-party code.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    apiToken: secret('API token', { placeholder: '1|…', mistake: ofVisibleAscii }),
    from: optional(text('Sender id', { description: 'As registered with iSend.' })),
    baseUrl: ownBaseUrl('iSend'),
  },

  recipientMembers: ['recipient', 'contact_list_id'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const sender = senderOf(message, account)
    return {
      url: `${apiOf(account)}/sms/send`,
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify({
        ...settingsOf(message, ['recipient', 'contact_list_id', 'sender_id', 'type', 'message']),
        recipient: digitsOf(message.to),
        ...(sender === '' ? {} : { sender_id: sender }),
        type: isGsm(message.content) ? 'plain' : 'unicode',
        message: message.content,
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({ url: `${apiOf(account)}/balance`, method: 'GET', headers: headersOf(account) }),
    result: (answer) =>
      answer.status === 200 && answer.string('status') === 'success'
        ? good
        : bad(wordsOf('iSend', answer, 'message'), answer.status === 401 ? 'apiToken' : undefined),
  },
})

const apiOf = ({ baseUrl }: Account): string => `${baseAddress(baseUrl ?? 'https://isend.com.ly')}/api/v3`

const headersOf = ({ apiToken }: Account): Record<string, string> => ({
  authorization: `Bearer ${apiToken}`,
  accept: 'application/json',
})

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('iSend', answer, 'message')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const state = answer.string('status')
  const id = answer.id('data.uid')
  if (state === 'success' && id !== undefined) return sent(id)
  // It gives the reason as text only, so it is taken for a fault of the message.
  return state === 'error' ? refused('other', words) : unsure(words)
}
