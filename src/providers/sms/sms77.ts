// seven.io, once sms77, "Send SMS".
// https://docs.seven.io/en/rest-api/endpoints/sms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { sms77Receipts } from './sms77-receipts.ts'

const api = 'https://gateway.seven.io/api'

const codes = codeTable({
  'bad-recipient': ['201', '202', '301'],
  'bad-content': ['305', '401', '801', '802', '803'],
  sender: ['306'],
  account: ['300', '500', '900', '901', '902', '903'],
  // A carrier that failed, or an unknown reason.
  busy: ['600', '700'],
  // 402 is a repeat within three minutes: what was to be sent was sent.
  other: ['304', '307', '400', '402', '403'],
})

export const sms77 = httpProvider({
  id: 'sms77',
  channel: 'sms',
  name: 'seven.io (sms77)',
  docsUrl: 'https://docs.seven.io/en/rest-api/endpoints/sms',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    from: text('From', { description: 'A name of up to 11 letters and digits, or a number of up to 16 digits.' }),
    secretKey: optional(secret('Signing key', { description: 'Proves that delivery receipts come from seven.io.' })),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/sms`,
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify({
        ...settingsOf(message, ['to', 'text', 'from', 'foreign_id', 'p']),
        to: internationalOf(message.to),
        from: senderOf(message, account),
        text: message.content,
        foreign_id: message.id,
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({ url: `${api}/balance`, method: 'GET', headers: headersOf(account) }),
    result: balance,
  },

  receipts: sms77Receipts,
})

const headersOf = ({ apiKey }: { readonly apiKey: string }): Record<string, string> => ({
  'x-api-key': apiKey,
  accept: 'application/json',
})

/** Of the whole request, or of a body that is nothing but the code. */
const codeOf = (answer: ProviderAnswer): string | undefined => answer.id('success') ?? answer.id('')

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const whole = codeOf(answer)
  const ofMessage = answer.id('messages.0.error')
  const code = ofMessage ?? whole
  const said = wordsOf('seven.io', answer, 'messages.0.error_text')
  const words = code === undefined ? said : `${said} (${code})`
  if (answer.status !== 200) {
    const isTheirs = answer.status < 500 && answer.status !== 429
    return (isTheirs ? outcomeOfCode(codes, code, words, answer, message) : undefined) ?? outcomeOfStatus(answer, words)
  }
  const id = answer.id('messages.0.id')
  if (answer.flag('messages.0.success') === true && id !== undefined) return sent(id)
  // The bare code is a success without an id; the report returns ours.
  if (answer.id('') === '100') return sent(message.id)
  const isFailure = answer.flag('messages.0.success') === false || /^[2-9]\d\d$/.test(code ?? '')
  if (!isFailure) return unsure(words)
  return outcomeOfCode(codes, code, words, answer, message) ?? refused('other', words)
}

function balance(answer: ProviderAnswer): CheckResult {
  if (answer.status === 200 && answer.number('amount') !== undefined) return good
  const words = wordsOf('seven.io', answer)
  const isKey = answer.status === 401 || codes.get(codeOf(answer) ?? '') === 'account'
  return bad(words, isKey ? 'apiKey' : undefined)
}
