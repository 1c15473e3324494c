// E-mail by webhook: the message goes as signed JSON to an address of the customer, which sends it on.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { ofEmailAddress, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { webhookReceipts } from '../inbound/webhook-receipts.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { checkWebhook, ofWebhookUrl, signatureDescription, signed, webhookRequest } from '../webhook.ts'
import { prepared, wholeEmail } from './email-message.ts'

/** Headers that a static one must not replace. */
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
  evidence: { source: 'ours' },
  // The receiver recognises a repeat by its Idempotency-Key.
  idempotent: true,
  features: [...wholeEmail, 'tags', 'metadata', 'IP pool', 'sender per message'],
  receipts: webhookReceipts,
  form: {
    webhookUrl: text('Webhook URL', {
      description: 'Receives each e-mail as JSON. A private address must be listed in POSTHORN_OUTBOUND_ALLOW.',
      placeholder: 'https://ops.example.com/hooks/email',
      mistake: ofWebhookUrl,
    }),
    secretKey: secret('Signing secret', { description: signatureDescription }),
    from: optional(text('From address', { placeholder: 'hello@example.com', mistake: ofEmailAddress })),
    senderName: optional(text('Sender name')),
    apiKeyRequestHeader: optional(
      text('Extra header', {
        description: 'A header with a fixed value, for receivers that require one.',
        placeholder: 'X-Api-Key',
        mistake: ofExtraHeader,
      }),
    ),
    apiKey: optional(secret('Value of the extra header', { mistake: ofVisibleAscii })),
    idPath: optional(
      text('Path of the id', {
        description: 'The path of the message id in the JSON response; without it, the id of Posthorn is used.',
        placeholder: 'data.id',
        mistake: (value) =>
          /^(\$\.)?[\w-]+(\.[\w-]+|\[\d+\])*$/.test(value)
            ? undefined
            : 'must be a path such as data.id or items[0].id',
      }),
    ),
  },

  request(message, account) {
    // The service that sends it on may have its own from address.
    const email = prepared(message, account)
    return 'kind' in email ? email : webhookRequest(account.webhookUrl, message.id, bodyOf(email))
  },

  sign(request, { secretKey, apiKeyRequestHeader, apiKey }, now) {
    const hasExtra = apiKeyRequestHeader !== undefined && apiKey !== undefined
    const extra = hasExtra ? { [apiKeyRequestHeader.toLowerCase()]: apiKey } : {}
    return signed({ ...request, headers: { ...request.headers, ...extra } }, secretKey, now)
  },

  outcome(answer, message, { idPath }) {
    if (answer.status < 200 || answer.status >= 300) return trouble(answer)
    return sent((idPath === undefined ? undefined : answer.id(plainPath(idPath))) ?? message.id)
  },

  check: (world, { webhookUrl }) => checkWebhook(world, webhookUrl),
})

function trouble(answer: ProviderAnswer): Outcome {
  const words = wordsOf('The webhook', answer, 'message', 'error')
  // The address is wrong, or accepts no POST: another integration may work.
  if (answer.status === 404 || answer.status === 405) return misconfigured(words)
  if (answer.status === 410) return refused('other', words)
  return outcomeOfStatus(answer, words)
}

/** Each field by name: what a receiver gets does not change with our internal fields. */
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
    ipPoolName: email.ipPoolName,
    tags: email.tags,
    metadata: email.metadata,
    customData: email.customData,
  }
}

/** `$.items[0].id` as `items.0.id`. */
function plainPath(idPath: string): string {
  return idPath.replace(/^\$\./, '').replaceAll(/\[(\d+)\]/g, '.$1')
}

function ofExtraHeader(value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value)) return 'must be a valid header name'
  return ownHeaders.has(value.toLowerCase()) ? 'must not be a header that every request already has' : undefined
}
