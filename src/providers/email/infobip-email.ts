// Infobip, "Send fully featured email" (v3, a form with files).
// https://www.infobip.com/docs/api/channels/email
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, emailSender, ofBaseUrl, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { FormPart } from '../multipart.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { ofWebhookUrl } from '../webhook.ts'
import { isInline } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { infobipEmailReceipts } from './infobip-email-receipts.ts'
import { mailbox } from './mailbox.ts'

const ownFields = [
  ...['from', 'to', 'cc', 'bcc', 'replyTo', 'subject', 'text', 'html', 'headers', 'attachment', 'inlineImage'],
  ...['ipPoolId', 'callbackData', 'preserveRecipients', 'notifyUrl', 'trackingUrl'],
]
const subjectLengthMax = 1_000
/** Where both versions of the API report errors. */
const wordPaths = ['requestError.serviceException.text', 'description']

export const infobipEmail = httpProvider({
  id: 'infobip-email',
  channel: 'email',
  name: 'Infobip',
  docsUrl: 'https://www.infobip.com/docs/api/channels/email',
  evidence: { source: 'vendor', unsure: 'It is not confirmed whether Infobip can sign its reports.' },
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    baseUrl: text('Base URL', {
      description: 'The base URL that Infobip shows with the API key.',
      placeholder: 'https://abc12.api.infobip.com',
      mistake: ofBaseUrl,
    }),
    ...emailSender,
    ipPoolName: optional(text('IP pool id')),
    webhookUrl: {
      ...optional(
        text('Report URL', {
          description: 'Where Infobip sends delivery reports, if not to the URL set in the account.',
          mistake: ofWebhookUrl,
        }),
      ),
      // It may contain the key that authenticates the reports.
      guarded: true,
    },
  },
  features: [...wholeEmail, 'IP pool', 'sender per message'],
  limits: { recipientsMax: 1_000 },
  recipientMembers: ['to', 'cc', 'bcc'],
  receipts: infobipEmailReceipts,
  probe: {
    request: (account) => ({ ...asked(account, '/email/1/domains?size=1'), method: 'GET' }),
    result(answer) {
      // A key that may send need not be allowed to manage domains.
      if (answer.status === 200 || answer.status === 403) return good
      return bad(wordsOf('Infobip', answer, ...wordPaths), answer.status === 401 ? 'apiKey' : undefined)
    },
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    if (email.subject.length > subjectLengthMax) {
      return refused(
        'bad-content',
        `The subject has ${email.subject.length} characters; Infobip accepts at most ${subjectLengthMax}`,
      )
    }
    return { ...asked(account, '/email/3/send'), parts: partsOf(email, account) }
  },

  outcome: infobipOutcome,
})

function asked({ apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl: string }, path: string) {
  return {
    url: `${baseAddress(baseUrl)}${path}`,
    method: 'POST',
    headers: { authorization: `App ${apiKey}`, accept: 'application/json' },
  }
}

function partsOf(email: AddressedEmail, account: { readonly ipPoolName?: string; readonly webhookUrl?: string }) {
  const field = (name: string, value: string | undefined): FormPart[] =>
    value === undefined || value === '' ? [] : [{ name, value }]
  const all = (name: string, values: readonly string[]): FormPart[] => values.map((value) => ({ name, value }))
  const headers = Object.keys(email.headers).length === 0 ? undefined : JSON.stringify(email.headers)
  return [
    ...field('from', mailbox(email.from, email.senderName)),
    ...all('to', email.to),
    ...all('cc', email.cc),
    ...all('bcc', email.bcc),
    ...field('replyTo', email.replyTo),
    ...field('subject', email.subject),
    ...field('text', email.text),
    ...field('html', email.html),
    ...field('headers', headers),
    ...email.attachments.map(fileOf),
    ...field('ipPoolId', email.ipPoolName ?? account.ipPoolName),
    ...field('callbackData', email.id),
    // One e-mail in which all recipients see each other; otherwise each would get a separate one.
    ...field('preserveRecipients', 'true'),
    ...field('notifyUrl', account.webhookUrl),
    ...field('trackingUrl', account.webhookUrl),
    ...settingsParts(email),
  ]
}

/** Inline images are named as the HTML refers to them: `cid:` and the file's name. */
function fileOf(attachment: AddressedEmail['attachments'][number]): FormPart {
  const { name, mime, content, cid } = attachment
  const inline = isInline(attachment)
  return {
    name: inline ? 'inlineImage' : 'attachment',
    filename: inline ? (cid ?? name) : name,
    contentType: mime,
    value: Buffer.from(content, 'base64'),
  }
}

function settingsParts(message: EmailMessage): FormPart[] {
  return Object.entries(settingsOf(message, ownFields)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown) => ({
      name,
      value: typeof one === 'object' ? JSON.stringify(one) : String(one),
    })),
  )
}

function infobipOutcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Infobip', answer, ...wordPaths)
  if (answer.status !== 200) {
    return answer.status === 400 ? refused('bad-content', words) : outcomeOfStatus(answer, words)
  }
  const entries = answer.items('messages')
  const taken = entries.map((entry, index) =>
    isTurnedDown(entry) ? undefined : answer.id(`messages.${index}.messageId`),
  )
  const id = taken.find((one) => one !== undefined)
  const turnedDown = entries.filter(isTurnedDown)
  const descriptions = turnedDown
    .map((entry) => entry.string('status.description') ?? entry.string('status.name'))
    .join('; ')
  if (id !== undefined)
    return turnedDown.length === 0 ? sent(id) : sent(id, `Infobip rejected some recipients: ${descriptions}`)
  const [first] = turnedDown
  return first === undefined ? unsure(words) : outcomeOfStatusName(first.string('status.name') ?? '', descriptions)
}

/** UNDELIVERABLE and REJECTED: reported within a success, but final. */
function isTurnedDown(entry: Reading): boolean {
  const group = entry.string('status.groupName')
  const number = entry.number('status.groupId')
  return group === 'REJECTED' || group === 'UNDELIVERABLE' || number === 5 || number === 2
}

/** https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes */
function outcomeOfStatusName(name: string, descriptions: string): Outcome {
  const words = `Infobip rejected it: ${descriptions}`
  switch (name) {
    case 'REJECTED_NOT_ENOUGH_CREDITS':
    case 'REJECTED_PREPAID_PACKAGE_EXPIRED':
    case 'REJECTED_SENDER':
    case 'REJECTED_SOURCE':
      return misconfigured(words)
    case 'REJECTED_DND':
    case 'REJECTED_USER_UNSUBSCRIBED':
      return refused('opted-out', words)
    case 'REJECTED_DESTINATION':
    case 'REJECTED_DESTINATION_NOT_REGISTERED':
    case 'REJECTED_INVALID_DESTINATION':
      return refused('bad-recipient', words)
    default:
      return refused('other', words)
  }
}
