// Chat by webhook: the message goes as JSON to an address of the subscriber or the customer, signed if there is a secret.
import { misconfigured, refused, sent } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { good } from '../provider.ts'
import { wordsOf } from '../provider-answer.ts'
import { checkWebhook, ofWebhookUrl, signatureDescription, signed, webhookRequest } from '../webhook.ts'
import { hasAddress } from './chat-address.ts'
import { isDeadAddress } from './chat-outcome.ts'

/** Fields by which callers of other services choose the address and the secret; here they cannot choose either. */
const droppedMembers: ReadonlySet<string> = new Set(['webhookUrl', 'hmacSecretKey'])

export const chatWebhook = httpProvider({
  id: 'chat-webhook',
  channel: 'chat',
  name: 'Chat Webhook',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  features: ['metadata'],
  // The receiver recognises a repeat by its Idempotency-Key.
  idempotent: true,
  form: {
    secretKey: optional(secret('Signing secret', { description: signatureDescription })),
    webhookUrl: optional(
      text('Default webhook URL', {
        description:
          'For subscribers without their own URL. A private address must be listed in POSTHORN_OUTBOUND_ALLOW.',
        placeholder: 'https://ops.example.com/hooks/chat',
        mistake: ofWebhookUrl,
      }),
    ),
  },
  callsRecipient: hasAddress,

  request(message, account) {
    const webhookUrl = hasAddress(message) ? message.webhookUrl : account.webhookUrl
    if (webhookUrl === undefined) {
      return refused('bad-recipient', 'The subscriber has no webhookUrl, and the integration has no default')
    }
    const mistake = ofWebhookUrl(webhookUrl)
    if (mistake !== undefined) return refused('bad-recipient', `The webhookUrl ${mistake}`)
    return webhookRequest(webhookUrl, message.id, bodyOf(message))
  },

  sign: (request, { secretKey }, now) => (secretKey === undefined ? request : signed(request, secretKey, now)),

  outcome(answer, message) {
    const { status } = answer
    if (status >= 200 && status < 300) return sent(answer.id('id') ?? message.id)
    const words = wordsOf('The webhook', answer, 'message', 'error')
    if (isDeadAddress(status)) {
      return hasAddress(message) ? refused('bad-recipient', words) : misconfigured(words)
    }
    return outcomeOfStatus(answer, words)
  },

  check: async (world, { webhookUrl }) => (webhookUrl === undefined ? good : checkWebhook(world, webhookUrl)),
})

function bodyOf({ id, content, channel, phone, metadata, customData = {} }: ChatMessage): object {
  const given = Object.entries(customData).filter(([name]) => !droppedMembers.has(name))
  return {
    content,
    ...Object.fromEntries(given),
    // Last: the event may not decide where a message goes.
    channel,
    phoneNumber: phone,
    ...metadata,
    messageId: id,
  }
}
