// iMedia, brand-name SMS in Vietnam. The vendor publishes no documentation.
// https://mobilebranding.vn
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { baseAddress, ofVisibleAscii, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'

const vendorOrigin = 'https://api.mobilebranding.vn'
const successCode = '000'
const tokenCode = '001'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['accepted', 'queued'],
  ['queued', 'queued'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
])

export const imedia = httpProvider({
  id: 'imedia',
  channel: 'sms',
  name: 'iMedia',
  docsUrl: 'https://mobilebranding.vn',
  evidence: {
    source: 'others',
    unsure: 'The vendor publishes no documentation: error codes and the format of reports are unknown.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    token: secret('Token', { mistake: ofVisibleAscii }),
    from: text('Brand name', { description: 'A brand name that is registered with iMedia.', placeholder: 'ACME' }),
    baseUrl: ownBaseUrl('iMedia'),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const origin = account.baseUrl === undefined ? vendorOrigin : baseAddress(account.baseUrl)
    return {
      url: `${origin}/api/SMSBrandname/SendSMS`,
      method: 'POST',
      headers: { token: account.token, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        to: digitsOf(message.to),
        from: plainSenderOf(message, account),
        message: message.content,
        scheduled: '',
        requestId: message.id,
        useUnicode: isGsm(message.content) ? 0 : 1,
        type: 1,
        ...settingsOf(message, ['to', 'from', 'message', 'requestId']),
      }),
    }
  },

  outcome,

  receipts: {
    setUp:
      'iMedia does not sign its requests: ask for reports to the webhook URL of this integration, with its key as `?token=…`.',
    read,
  },
})

function outcome(answer: ProviderAnswer): Outcome {
  if (answer.status !== 200) return outcomeOfStatus(answer, wordsOf('iMedia', answer, 'errorMessage', 'message'))
  const code = answer.id('errorCode')
  const words = `${wordsOf('iMedia', answer, 'errorMessage')} (${code ?? 'no code'})`
  if (code === successCode) {
    const id = answer.id('referentId')
    return id === undefined ? unsure(words) : sent(id)
  }
  if (code === undefined) return unsure(words)
  return code === tokenCode ? misconfigured(words) : refused('other', words)
}

function read(call: InboundCall): readonly Receipt[] {
  return eventsOf(call).flatMap((report) =>
    receiptOf({
      status: statuses.get(report.string('status')?.toLowerCase() ?? ''),
      reference: report.string('requestId'),
      providerMessageId: report.id('referentId'),
      address: report.id('to'),
      words: report.string('errorMessage'),
      row: report.value(''),
    }),
  )
}
