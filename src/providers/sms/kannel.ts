// Kannel, the operator's own gateway, through its sendsms interface.
// https://www.kannel.org/userguide.shtml
import type { Outcome, RefusalReason } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, flag, ofBaseUrl, ofHost, ofPort, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { bad, good, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { reportForm } from './report-form.ts'
import { smsForm } from './sms-form.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { isGsm } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** Every kind of report: delivered, not delivered, buffered, handed on, refused by the centre. */
const allReports = '31'
const missingReceiver = 'Missing receiver number, rejected'

const reasons: ReadonlyMap<string, RefusalReason> = new Map([
  [missingReceiver, 'bad-recipient'],
  ['Empty receiver number not allowed, rejected', 'bad-recipient'],
  ['Number(s) has/have been denied by white- and/or black-lists.', 'bad-recipient'],
  ['Not routable. Do not try again.', 'other'],
])

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['1', 'delivered'],
  ['2', 'failed'],
  ['4', 'queued'],
  ['8', 'sent'],
  ['16', 'rejected'],
])

interface Account {
  readonly host: string
  readonly port: string
  readonly from: string
  readonly user?: string
  readonly password?: string
  readonly secure?: boolean
  readonly webhookUrl?: string
  readonly baseUrl?: string
}

export const kannel = httpProvider({
  id: 'kannel',
  channel: 'sms',
  name: 'Kannel SMS',
  docsUrl: 'https://www.kannel.org/userguide.shtml',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    host: text('Host', {
      description: 'The host of the gateway’s smsbox; it may be private.',
      placeholder: 'kannel.example.internal',
      mistake: ofHost,
    }),
    port: text('Port', { placeholder: '13013', mistake: ofPort }),
    from: text('From'),
    user: optional(text('Username', { description: 'From the `sendsms-user` group.' })),
    password: optional(secret('Password')),
    secure: flag('Use HTTPS', {
      description: 'The password is part of the URL: switch it off only in a trusted network.',
    }),
    webhookUrl: statusCallback('Kannel'),
    baseUrl: optional(
      text('Base URL', {
        description: 'Replaces scheme, host, port and `/cgi-bin`.',
        mistake: ofBaseUrl,
      }),
    ),
  },

  recipientMembers: ['to', 'username', 'user', 'password', 'pass'],

  reach: () => 'operator',

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const { mask, address } = reportsOf(message, account)
    const decided = {
      ...identityOf(account),
      from: senderOf(message, account),
      to: internationalOf(message.to),
      text: message.content,
      charset: 'UTF-8',
      coding: isGsm(message.content) ? undefined : '2',
      'dlr-url': address,
    }
    return asked(account, smsForm(message, decided, { 'dlr-mask': mask }))
  },

  outcome,

  async check(world, account) {
    // Without a receiver nothing is sent, and the credentials are checked first.
    const request = asked(account, smsForm({}, { ...identityOf(account), text: 'check' }))
    try {
      const answer = answerOf(await world.fetch(request, { reach: 'operator', timeoutMs: checkTimeoutMs }))
      if (answer.status === 400 && answer.body.trim() === missingReceiver) return good
      return bad(wordsOf('Kannel', answer), answer.status === 403 ? 'password' : undefined)
    } catch (error) {
      return unreachable(error)
    }
  },

  receipts: {
    setUp:
      'Kannel does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback of the account; each message requests its reports there.',
    read,
  },
})

/** With both names of each, so that the caller's settings can set neither. */
const identityOf = ({ user, password }: Account) => ({ username: user, user: undefined, password, pass: undefined })

function asked(account: Account, form: string): OutboundRequest {
  const query = [...new URLSearchParams(form)]
    // Encoded the way secrets are redacted: a form would write a space as a plus sign.
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
  return { url: `${addressOf(account)}/sendsms?${query}`, method: 'GET', headers: {} }
}

function addressOf({ host, port, secure, baseUrl }: Account): string {
  if (baseUrl !== undefined) return baseAddress(baseUrl)
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return `${secure === true ? 'https' : 'http'}://${name}:${port}/cgi-bin`
}

/** Kannel expands percent codes, so those of the address itself are doubled. */
function reportsOf({ id }: SmsMessage, { webhookUrl }: Account): { mask?: string; address?: string } {
  if (webhookUrl === undefined) return {}
  const own = webhookUrl.replaceAll('%', '%%')
  const filledIn = `id=${id}&status=%d&answer=%A&smsc-id=%F&time=%T`
  return { mask: allReports, address: `${own}${own.includes('?') ? '&' : '?'}${filledIn}` }
}

/** Kannel assigns no id: ours is returned with the reports. */
function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('Kannel', answer)
  const said = answer.body.trim()
  if (answer.status >= 200 && answer.status < 300) return /^[03]:/.test(said) ? sent(message.id) : unsure(words)
  const reason = reasons.get(said)
  if (reason !== undefined) return refused(reason, words)
  if (said === 'Sender missing and no global set, rejected') return misconfigured(words)
  return outcomeOfStatus(answer, words)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  return receiptOf({
    status: statuses.get(report.string('status') ?? ''),
    reference: report.string('id'),
    at: timestampOf(report.string('time')),
    words: report.string('answer'),
    row: report.value(''),
  })
}
