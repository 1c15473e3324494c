// SparkPost (Bird), "Create a Transmission".
// https://developers.sparkpost.com/api/transmissions/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { isFields } from '../../domain/merged.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { storable } from '../words.ts'
import { filled, isInline, senderOf, variablesOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'
import { sparkpostReceipts } from './sparkpost-receipts.ts'

const origins = { us: 'https://api.sparkpost.com', eu: 'https://api.eu.sparkpost.com' }
const ownMembers = ['recipients', 'content', 'metadata', 'options']
const campaignBytesMax = 64
/** The most that a recipient may have. */
const tagsMax = 10

export const sparkpost = httpProvider({
  id: 'sparkpost',
  channel: 'email',
  name: 'SparkPost',
  docsUrl: 'https://developers.sparkpost.com/api/transmissions/',
  evidence: { source: 'vendor' },
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    ...emailSender,
    region: optional(
      text('Region', {
        description: '`eu` for accounts in Europe.',
        choices: ['us', 'eu'],
        // Accounts imported from elsewhere may say whether it is Europe.
        mistake: (value) => (/^(us|eu|true|false)$/.test(value) ? undefined : 'must be us or eu'),
      }),
    ),
    ipPoolName: optional(text('IP pool')),
    baseUrl: ownBaseUrl('SparkPost'),
  },
  features: [
    ...(['several recipients', 'cc and bcc', 'reply-to', 'attachments', 'inline images'] as const),
    ...(['headers', 'tags', 'metadata', 'IP pool', 'sender per message'] as const),
  ],
  limits: { recipientsMax: 2_000, messageBytesMax: 20 * 1024 * 1024 },
  recipientMembers: ['recipients', 'content.headers.cc'],
  receipts: sparkpostReceipts,
  probe: {
    request: (account) => ({ ...asked(account, '/account'), method: 'GET' }),
    result(answer) {
      // A key that may not look at the account may well send.
      if (answer.status === 200 || answer.status === 403) return good
      return bad(errorWords(answer), answer.status === 401 ? 'apiKey' : undefined)
    },
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    const { headers, ...rest } = asked(account, '/transmissions')
    const pool = email.ipPoolName ?? account.ipPoolName
    return {
      ...rest,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...settingsOf(message, ownMembers), ...bodyOf(email, pool) }),
    }
  },

  outcome: sparkpostOutcome,
})

interface Account {
  readonly apiKey: string
  readonly region?: string
  readonly baseUrl?: string
}

function asked({ apiKey, region = 'us', baseUrl }: Account, path: string) {
  const origin = baseUrl === undefined ? origins[/^(eu|true)$/.test(region) ? 'eu' : 'us'] : baseAddress(baseUrl)
  return {
    url: `${origin}/api/v1${path}`,
    method: 'POST',
    // The key alone: SparkPost uses no scheme.
    headers: { authorization: apiKey, accept: 'application/json' },
  }
}

function bodyOf(email: AddressedEmail, pool: string | undefined): object {
  const settings = email.customData?.['options']
  const tags = [...new Set(email.tags)].slice(0, tagsMax)
  // Every recipient can read to whom it was written, except for blind copies.
  const headerTo = email.to.join(', ')
  return {
    options: {
      transactional: true,
      // Braces are content of the message, not variables.
      perform_substitutions: false,
      ...(isFields(settings) ? settings : {}),
      ...filled({ ip_pool: pool }),
    },
    recipients: [...email.to, ...email.cc, ...email.bcc].map((address) =>
      filled({ address: { email: address, header_to: headerTo }, tags }),
    ),
    content: filled({
      from: senderOf(email),
      reply_to: email.replyTo,
      subject: email.subject,
      html: email.html,
      text: email.text,
      headers: filled({ CC: email.cc.join(', '), ...email.headers }),
      attachments: email.attachments.filter((one) => !isInline(one)).map((one) => fileOf(one, one.name)),
      inline_images: email.attachments.filter(isInline).map((one) => fileOf(one, one.cid ?? one.name)),
    }),
    metadata: variablesOf(email),
    ...filled({ campaign_id: storable(tags[0] ?? '', campaignBytesMax) }),
  }
}

const fileOf = ({ mime, content }: AddressedEmail['attachments'][number], name: string): object => ({
  name,
  type: mime,
  data: content,
})

function sparkpostOutcome(answer: ProviderAnswer, message: { readonly id: string }): Outcome {
  const words = errorWords(answer)
  const id = answer.id('results.id')
  const taken = answer.number('results.total_accepted_recipients')
  const turnedDown = answer.number('results.total_rejected_recipients') ?? 0
  // Some may be on their way although others make it an error: a repeat would reach them twice.
  if ((taken ?? 0) > 0 || (id !== undefined && answer.status === 200 && taken !== 0)) {
    const note = turnedDown > 0 ? `SparkPost rejected ${turnedDown} of the recipients` : undefined
    return sent(id ?? message.id, note)
  }
  if (taken === 0 && turnedDown > 0 && answer.status < 500) return refused('bad-recipient', words)
  switch (answer.status) {
    case 200:
      return taken === 0 && id !== undefined ? refused('bad-recipient', words) : unsure(words)
    case 420:
      return busy(words, retryAfterMsOf(answer))
    case 400:
    case 422:
      // A domain that the account has not set up.
      return answer.id('errors.0.code') === '7001' ? misconfigured(words) : refused('bad-content', words)
    default:
      return outcomeOfStatus(answer, words)
  }
}

function errorWords(answer: ProviderAnswer): string {
  const words = wordsOf('SparkPost', answer, 'errors.0.message')
  const description = answer.string('errors.0.description') ?? ''
  const code = answer.id('errors.0.code') ?? ''
  return [words, description, code === '' ? '' : `(${code})`].filter((one) => one !== '').join(' ')
}
