// Plivo, "Send a message".
// https://www.plivo.com/docs/messaging/api/message/send-a-message
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Proof, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth, hmac, isSame } from '../signing/signing.ts'
import { reportForm, utcTimestampOf } from './report-form.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { signedStatusCallback } from './status-callback.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['queued', 'queued'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['rejected', 'failed'],
])

export const plivo = httpProvider({
  id: 'plivo',
  channel: 'sms',
  name: 'Plivo',
  docsUrl: 'https://www.plivo.com/docs/messaging/api/message/send-a-message',
  evidence: { source: 'vendor', unsure: 'Errors with status 400 name the parameter only in their text.' },
  features: ['sender per message', 'Unicode'],
  form: {
    accountSid: text('Auth ID', {
      placeholder: 'MA…',
      mistake: (value) => (/^\w+$/.test(value) ? undefined : 'must be an Auth ID: letters and digits'),
    }),
    token: secret('Auth token'),
    from: text('From', { description: 'A number of the account in E.164, a short code, or a sender name.' }),
    webhookUrl: signedStatusCallback('Plivo'),
  },

  recipientMembers: ['dst'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const settings = settingsOf(message, ['src', 'dst', 'text'])
    const { webhookUrl } = account
    return {
      url: addressOf(account, 'Message/'),
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify({
        // A Powerpack chooses the sender itself.
        ...('powerpack_uuid' in settings ? {} : { src: senderOf(message, account) }),
        dst: internationalOf(message.to),
        text: message.content,
        type: 'sms',
        ...(webhookUrl === undefined ? {} : { url: webhookUrl, method: 'POST' }),
        ...settings,
      }),
    }
  },

  outcome,

  probe: {
    request: (account) => ({ url: addressOf(account, ''), method: 'GET', headers: headersOf(account) }),
    field: 'token',
    words: ['error'],
  },

  receipts: {
    setUp:
      'Plivo signs each request with the auth token of the account (`X-Plivo-Signature-V3`, or `-V2`, which covers only the URL). Set the webhook URL of this integration as its status callback, or in the Plivo application.',
    verify: (call, proof) => isSignedWhole(call, proof) || isAddressSigned(call, proof),
    // Also if version 3 verifies the call: otherwise the nonce of version 2 would be valid for any report.
    signedWord: (call, proof) =>
      isAddressSigned(call, proof) ? { token: call.headers[nonceV2] ?? '', content: signedContent(call) } : undefined,
    read,
  },
})

interface Account {
  readonly accountSid: string
  readonly token: string
}

/** With the trailing slash that Plivo requires. */
const addressOf = ({ accountSid }: Account, path: string): string =>
  `https://api.plivo.com/v1/Account/${encodeURIComponent(accountSid)}/${path}`

const headersOf = ({ accountSid, token }: Account): Record<string, string> => ({
  authorization: basicAuth(accountSid, token),
  accept: 'application/json',
})

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Plivo', answer, 'error', 'error.error', 'error.message')
  if (answer.status === 202) {
    const id = answer.id('message_uuid.0')
    if (id !== undefined) return sent(id)
    return answer.list('invalid_number').length > 0 ? refused('bad-recipient', words) : unsure(words)
  }
  // The address names nothing but the account.
  return answer.status === 404 ? misconfigured(words) : outcomeOfStatus(answer, words)
}

const nonceV2 = 'x-plivo-signature-v2-nonce'

/** What a repeated call has in common with the first: its report, by either method. */
const signedContent = (call: InboundCall): string => `${call.query}\n${call.body.toString('latin1')}`

/** Version 2 signs the address without its query, and a nonce: not the report. */
function isAddressSigned(call: InboundCall, proof: Proof<Account>): boolean {
  const nonce = call.headers[nonceV2] ?? ''
  const { origin, pathname } = new URL(call.url)
  return nonce !== '' && isSigned(call, 'v2', `${origin}${pathname}${nonce}`, proof)
}

/**
 * Version 3 signs the report as well: the parameters of the address as pairs, those of the body as names and values without
 * anything between them, each in the order of their names.
 * https://www.plivo.com/docs/voice/concepts/signature-validation
 */
function isSignedWhole(call: InboundCall, proof: Proof<Account>): boolean {
  const nonce = call.headers['x-plivo-signature-v3-nonce'] ?? ''
  if (nonce === '' || call.body.length > signedBytesMax) return false
  const { origin, pathname, searchParams } = new URL(call.url)
  const query = sortedPairs(searchParams).map((pair) => pair.join('='))
  const isForm = call.method !== 'GET' && call.body.length > 0
  const form = isForm ? sortedPairs(new URLSearchParams(call.body.toString('utf8'))) : []
  const head = `${origin}${pathname}${query.length > 0 || isForm ? '?' : ''}${query.join('&')}`
  const signed = `${head}${query.length > 0 && isForm ? '.' : ''}${form.flat().join('')}.${nonce}`
  return isSigned(call, 'v3', signed, proof)
}

/** A report is some hundred bytes. */
const signedBytesMax = 64 * 1024

const sortedPairs = (parameters: URLSearchParams): [string, string][] =>
  [...parameters].sort(([one, first], [other, second]) =>
    one === other ? (first < second ? -1 : 1) : one < other ? -1 : 1,
  )

function isSigned(
  { headers }: InboundCall,
  version: 'v2' | 'v3',
  text: string,
  { key, account }: Proof<Account>,
): boolean {
  // One of the account that sent it, the other of the main account above it.
  const given = [headers[`x-plivo-signature-${version}`] ?? '', headers[`x-plivo-signature-ma-${version}`] ?? '']
  return [key ?? '', account.token].some((secret) => {
    const expected = hmac('sha256', secret, text).toString('base64')
    // Several, separated by commas, if the token was changed recently.
    return secret !== '' && given.some((list) => list.split(',').some((one) => isSame(one.trim(), expected)))
  })
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  const status = report.string('Status') ?? ''
  const known = statuses.get(status)
  const code = report.string('ErrorCode') ?? ''
  return receiptOf({
    status: known,
    // Each part of a long text is reported; the first has the id that sending returned.
    providerMessageId: report.id('ParentMessageUUID') ?? report.id('MessageUUID'),
    address: report.string('To'),
    at: utcTimestampOf(report.string('DeliveryReportTime')),
    words: known === 'failed' ? `${status}${code === '' ? '' : ` (${code})`}` : undefined,
    row: report.value(''),
  })
}
