// E-mail by webhook: the message goes as signed JSON to an address of the customer's own, which sends it on.
import type { EmailMessage } from '../../domain/outbound-message.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { misconfigured, refused, sent } from '../../domain/outcome.ts'
import { isMetadataHost } from '../../world/address-guard.ts'
import { ofEmailAddress, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { hmacSha256Hex } from '../signing.ts'
import { prepared } from './email-message.ts'

/** Headers that a static one must not stand in for. */
const ownHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
  'idempotency-key',
  'x-posthorn-signature',
])

export const emailWebhook = httpProvider({
  id: 'email-webhook',
  channel: 'email',
  name: 'Email Webhook',
  docsUrl: '/docs',
  // The receiver tells a repeat by its Idempotency-Key.
  idempotent: true,
  form: {
    webhookUrl: text('Webhook address', {
      description: 'Receives each e-mail as JSON. A private address must be in POSTHORN_OUTBOUND_ALLOW.',
      placeholder: 'https://ops.example.com/hooks/email',
      mistake: ofWebhookUrl,
    }),
    secretKey: secret('Signing secret', {
      description:
        'Each call carries `X-Posthorn-Signature: t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<body>` with this secret.',
    }),
    from: optional(text('From address', { placeholder: 'hello@example.com', mistake: ofEmailAddress })),
    senderName: optional(text('Sender name')),
    apiKeyRequestHeader: optional(
      text('Extra header', {
        description: 'A header with a fixed value, for receivers that ask for one.',
        placeholder: 'X-Api-Key',
        mistake: ofExtraHeader,
      }),
    ),
    apiKey: optional(secret('Value of the extra header', { mistake: ofVisibleAscii })),
    idPath: optional(
      text('Path of the id', {
        description: 'Where the answer’s JSON holds the id of the message; without it ours is kept.',
        placeholder: 'data.id',
        mistake: (value) =>
          /^(\$\.)?[\w-]+(\.[\w-]+|\[\d+\])*$/.test(value)
            ? undefined
            : 'must be a path such as data.id or items[0].id',
      }),
    ),
  },

  request(message, account, now) {
    // What sends it on may have a from address of its own.
    const email = prepared(message, account)
    if ('kind' in email) return email
    const body = JSON.stringify(bodyOf(email))
    const seconds = Math.floor(now.getTime() / 1000)
    const { apiKeyRequestHeader, apiKey } = account
    return {
      url: account.webhookUrl,
      method: 'POST',
      headers: {
        ...(apiKeyRequestHeader === undefined || apiKey === undefined ? {} : { [apiKeyRequestHeader]: apiKey }),
        'content-type': 'application/json',
        'idempotency-key': message.id,
        'x-posthorn-signature': `t=${seconds},v1=${hmacSha256Hex(account.secretKey, `${seconds}.${body}`)}`,
      },
      body,
    }
  },

  outcome(answer, message, { idPath }) {
    if (answer.status >= 200 && answer.status < 300) return sent(idAt(answer, idPath) ?? message.id)
    return trouble(answer)
  },

  async check(world, { webhookUrl }) {
    try {
      // Nothing a receiver acts on; whatever it answers, it is there.
      await world.fetch({ url: webhookUrl, method: 'HEAD', headers: {} })
      return good
    } catch (error) {
      const result = unreachable(error)
      return result.kind === 'bad' ? bad(result.words, 'webhookUrl') : result
    }
  },
})

function trouble(answer: ProviderAnswer): Outcome {
  const words = wordsOf('The webhook', answer, 'message', 'error')
  // The address is wrong, or takes no POST: another integration may do better.
  if (answer.status === 404 || answer.status === 405) return misconfigured(words)
  if (answer.status === 410) return refused('other', words)
  return outcomeOfStatus(answer, words)
}

/** Each member by name: what a receiver is sent does not change with what we happen to carry about. */
function bodyOf(email: EmailMessage): object {
  return {
    id: email.id,
    from: email.from,
    senderName: email.senderName,
    to: email.to,
    cc: email.cc,
    bcc: email.bcc,
    replyTo: email.replyTo,
    subject: email.subject,
    html: email.html,
    text: email.text,
    headers: email.headers,
    attachments: email.attachments,
    tags: email.tags,
    metadata: email.metadata,
    customData: email.customData,
  }
}

function idAt(answer: ProviderAnswer, idPath: string | undefined): string | undefined {
  if (idPath === undefined) return undefined
  const path = idPath.replace(/^\$\./, '').replaceAll(/\[(\d+)\]/g, '.$1')
  const found = answer.string(path) ?? answer.number(path)
  return found === undefined || found === '' ? undefined : String(found)
}

function ofWebhookUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return 'must be an address such as https://ops.example.com/hooks/email'
  const { protocol, username, password, hostname } = new URL(value)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') {
    return 'must be an http(s) address without user name and password'
  }
  return isMetadataHost(hostname) ? 'must not be a metadata address' : undefined
}

function ofExtraHeader(value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value)) return 'must be the name of a header'
  return ownHeaders.has(value.toLowerCase()) ? 'must not be a header that every call has anyway' : undefined
}
