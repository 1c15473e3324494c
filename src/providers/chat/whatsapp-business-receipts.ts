// What Meta's webhook reports of WhatsApp messages, and the question it asks before the first report.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { hmac, isSame } from '../signing/signing.ts'

interface Account {
  readonly secretKey?: string
  readonly token?: string
}

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map<string, ReceiptStatus>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'opened'],
  ['played', 'opened'],
  ['failed', 'failed'],
])
/** Never sent on: the service window, the person's limits and choices, an experiment, a template, a setting of the account. */
const rejections: ReadonlySet<number> = new Set([130472, 131031, 131042, 131047, 131049, 131050])

export const whatsappReceipts: ReceiptReader<Account> = {
  setUp:
    'In the Meta app, under WhatsApp → Configuration, set the callback URL and the verify token, and subscribe to `messages`. Requests are signed with the app secret (`X-Hub-Signature-256`): set it as the app secret or the signing key of the integration.',

  greet({ method, query }, { account }) {
    const { token = '' } = account
    const challenge = query.get('hub.challenge') ?? ''
    const isAsked = method === 'GET' && query.get('hub.mode') === 'subscribe' && /^[\w.-]{1,200}$/.test(challenge)
    return isAsked && token !== '' && isSame(query.get('hub.verify_token') ?? '', token) ? challenge : undefined
  },

  verify: ({ headers, body }: InboundCall, { key, account }: Proof<Account>): boolean => {
    const secret = key || account.secretKey
    if (secret === undefined || secret === '') return false
    return isSame(headers['x-hub-signature-256'] ?? '', `sha256=${hmac('sha256', secret, body).toString('hex')}`)
  },

  read: (call) =>
    jsonOf(call)
      .items('entry')
      .flatMap((entry) => entry.items('changes'))
      .flatMap((change) => change.items('value.statuses'))
      .flatMap(receiptsOf),
}

function receiptsOf(report: Reading): readonly Receipt[] {
  const status = statuses.get(report.string('status') ?? '')
  const isRejection = status === 'failed' && rejections.has(report.number('errors.0.code') ?? 0)
  return receiptOf({
    status: isRejection ? 'rejected' : status,
    reference: report.string('biz_opaque_callback_data'),
    providerMessageId: report.string('id'),
    address: report.id('recipient_id'),
    at: timestampOf(report.id('timestamp')),
    words: wordsOfError(report),
    row: report.value(''),
  })
}

function wordsOfError(report: Reading): string | undefined {
  const code = report.id('errors.0.code')
  const said = ['errors.0.error_data.details', 'errors.0.message', 'errors.0.title']
    .map((path) => report.string(path))
    .find((words) => words !== undefined && words !== '')
  if (code === undefined) return said
  return said === undefined ? `Error ${code}` : `${said} (${code})`
}
