// Mailgun, "Send an email" of the Messages API.
// https://documentation.mailgun.com/docs/mailgun/api-reference/openapi-final/messages
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { World } from '../../world/world.ts'
import { baseAddress, choice, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { FormPart } from '../multipart.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth } from '../signing/signing.ts'
import { isInline, variablesOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { bareId } from './inbound-mail.ts'
import { mailbox } from './mailbox.ts'
import { mailgunReceipts, mailgunReplies } from './mailgun-inbound.ts'

const origins = { us: 'https://api.mailgun.net', eu: 'https://api.eu.mailgun.net' }
/** What a caller may set; recipients and content belong to the message, and so do headers such as `h:To`. */
const settingName = /^(?:[otv]:.|template$|recipient-variables$|amp-html$)/
const recipientMembers = ['to', 'cc', 'bcc', 'h:to', 'h:cc', 'h:bcc']
/** Mailgun's text, with a 200, at a URL that is not part of its API. */
const wrongPath = 'Mailgun Magnificent API'

export const mailgun = httpProvider({
  id: 'mailgun',
  channel: 'email',
  name: 'Mailgun',
  docsUrl: 'https://documentation.mailgun.com/docs/mailgun/api-reference/openapi-final/messages',
  evidence: { source: 'vendor', unsure: 'That `o:sending-ip-pool` selects an IP pool.' },
  form: {
    apiKey: secret('API key', {
      description: 'The key of the account, or a sending key of the domain.',
      mistake: ofVisibleAscii,
    }),
    domain: text('Sending domain', {
      placeholder: 'mg.example.com',
      mistake: (value) =>
        /^[A-Za-z0-9.-]{1,253}$/.test(value) ? undefined : 'must be a domain such as mg.example.com',
    }),
    ...emailSender,
    region: optional(choice('Region', ['us', 'eu'], { description: 'Where the domain was set up.' })),
    ipPoolName: optional(text('IP pool', { description: 'The id of the pool.' })),
    secretKey: optional(
      secret('Webhook signing key', { description: 'Proves that delivery receipts and replies come from Mailgun.' }),
    ),
    user: optional(text('User name', { description: '`api`, unless a proxy needs another.', mistake: ofUserName })),
    baseUrl: ownBaseUrl('Mailgun'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'IP pool', 'sender per message'],
  limits: { messageBytesMax: 25 * 1024 * 1024 },
  recipientMembers,
  receipts: mailgunReceipts,
  replies: mailgunReplies,

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return {
      url: `${domainAddress('v3', account)}/messages`,
      method: 'POST',
      headers: { authorization: authorizationOf(account), accept: 'application/json' },
      parts: partsOf(email, account.ipPoolName),
    }
  },

  outcome(answer) {
    const words = wordsOf('Mailgun', answer, 'message')
    if (answer.status === 200) return outcomeOfSuccess(answer, words)
    if (answer.status === 400) return refused(reasonOf(answer), words)
    // Billing, or a domain that is not in this account or region.
    if (answer.status === 402 || answer.status === 404) return misconfigured(words)
    if (answer.status === 413) return refused('bad-content', words)
    return outcomeOfStatus(answer, words)
  },

  async check(world, account) {
    try {
      const answer = await asked(world, account, `${domainAddress('v4', account)}`, 'GET')
      if (answer.status === 200) return stateOf(answer)
      if (answer.status !== 401 && answer.status !== 403) return trouble(answer)
      // A sending key may not look at its domain. An empty request is authenticated and goes no further.
      const tried = await asked(world, account, `${domainAddress('v3', account)}/messages`, 'POST')
      return tried.status === 400 ? good : trouble(tried)
    } catch (error) {
      return unreachable(error)
    }
  },
})

interface Account {
  readonly apiKey: string
  readonly domain: string
  readonly user?: string
  readonly region?: string
  readonly baseUrl?: string
}

function domainAddress(version: 'v3' | 'v4', { domain, region, baseUrl }: Account): string {
  const own = region === 'eu' ? origins.eu : origins.us
  const origin = baseUrl === undefined ? own : baseAddress(baseUrl).replace(/\/v3$/, '')
  const path = version === 'v3' ? 'v3' : 'v4/domains'
  return `${origin}/${path}/${encodeURIComponent(domain)}`
}

const authorizationOf = ({ user = 'api', apiKey }: Account): string => basicAuth(user, apiKey)

function ofUserName(value: string): string | undefined {
  return /^[^\p{Cc}:]+$/u.test(value) ? undefined : 'must be a user name without a colon'
}

function partsOf(email: AddressedEmail, ownPool: string | undefined): FormPart[] {
  const pool = email.ipPoolName ?? ownPool
  const many = (name: string, values: readonly string[]): FormPart[] => values.map((value) => ({ name, value }))
  const some = (name: string, value: string | undefined): FormPart[] =>
    value === undefined || value === '' ? [] : [{ name, value }]
  return [
    { name: 'from', value: mailbox(email.from, email.senderName) },
    ...many('to', email.to),
    ...many('cc', email.cc),
    ...many('bcc', email.bcc),
    { name: 'subject', value: email.subject },
    ...some('text', email.text),
    ...some('html', email.html),
    ...some('h:Reply-To', email.replyTo),
    ...Object.entries(email.headers).map(([name, value]): FormPart => ({ name: `h:${name}`, value })),
    ...Object.entries(variablesOf(email)).map(([name, value]): FormPart => ({ name: `v:${name}`, value })),
    ...many('o:tag', email.tags),
    ...some('o:sending-ip-pool', pool),
    ...settingsParts(email),
    ...email.attachments.map(filePart),
  ]
}

/** Options such as `o:testmode` or `template`. Several values are several fields; an object is JSON. */
function settingsParts(email: AddressedEmail): FormPart[] {
  const settings = Object.entries(settingsOf(email, ['v:message_id'])).filter(([name]) => settingName.test(name))
  return settings.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown): FormPart => ({ name, value: written(one) })),
  )
}

const written = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** A part without a file name is dropped silently; an inline one is referred to by it. */
function filePart(attachment: AddressedEmail['attachments'][number]): FormPart {
  const { name, mime, content, cid } = attachment
  const inline = isInline(attachment)
  return {
    name: inline ? 'inline' : 'attachment',
    value: Buffer.from(content, 'base64'),
    filename: (inline ? cid : name) || 'file',
    contentType: mime,
  }
}

function outcomeOfSuccess(answer: ProviderAnswer, words: string): Outcome {
  // Receipts name it without the brackets.
  const id = bareId(answer.string('id') ?? '')
  if (id !== '') return sent(id)
  return answer.body.includes(wrongPath) ? misconfigured(words) : unsure(words)
}

/** Mailgun has no codes: its message begins with the parameter in question. */
function reasonOf(answer: ProviderAnswer): 'bad-recipient' | 'bad-content' {
  return /^['"]?(to|cc|bcc)['"]? parameter\b/i.test(answer.string('message') ?? '') ? 'bad-recipient' : 'bad-content'
}

async function asked(world: World, account: Account, url: string, method: 'GET' | 'POST'): Promise<ProviderAnswer> {
  const headers = { authorization: authorizationOf(account), accept: 'application/json' }
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
  const request = method === 'GET' ? { url, method, headers } : { url, method, headers: form, body: '' }
  return answerOf(await world.fetch(request, { reach: account.baseUrl === undefined ? 'guarded' : 'operator' }))
}

function stateOf(answer: ProviderAnswer): CheckResult {
  const state = answer.string('domain.state') ?? answer.string('state')
  return state === 'disabled' ? bad('Mailgun has disabled this domain', 'domain') : good
}

function trouble(answer: ProviderAnswer): CheckResult {
  const words = wordsOf('Mailgun', answer, 'message')
  if (answer.status === 401 || answer.status === 403) return bad(words, 'apiKey')
  return bad(words, answer.status === 404 ? 'domain' : undefined)
}
