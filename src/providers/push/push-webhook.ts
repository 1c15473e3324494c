// Push by webhook: the message goes as signed JSON to an address of the customer, which reaches the device.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent } from '../../domain/delivery/outcome.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { checkWebhook, ofWebhookUrl, signatureDescription, signed, webhookRequest } from '../webhook.ts'

export const pushWebhook = httpProvider({
  id: 'push-webhook',
  channel: 'push',
  name: 'Push Webhook',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  features: ['title', 'data'],
  // The receiver recognises a repeat by its Idempotency-Key.
  idempotent: true,
  form: {
    webhookUrl: text('Webhook URL', {
      description: 'Receives each message as JSON. A private address must be listed in POSTHORN_OUTBOUND_ALLOW.',
      placeholder: 'https://ops.example.com/hooks/push',
      mistake: ofWebhookUrl,
    }),
    secretKey: secret('Signing secret', { description: signatureDescription }),
  },

  request(message, { webhookUrl }) {
    if (message.target === '') return refused('bad-recipient', 'The device token is empty')
    return webhookRequest(webhookUrl, message.id, bodyOf(message))
  },

  sign: (request, { secretKey }, now) => signed(request, secretKey, now),

  outcome(answer, message) {
    if (answer.status < 200 || answer.status >= 300) return trouble(answer)
    if (answer.list('invalidTokens').includes(message.target)) {
      return refused('dead-token', 'The webhook says that the device token is no longer valid')
    }
    return sent(answer.id('id') ?? message.id)
  },

  check: (world, { webhookUrl }) => checkWebhook(world, webhookUrl),
})

function trouble(answer: ProviderAnswer): Outcome {
  const words = wordsOf('The webhook', answer, 'message', 'error')
  // The address is wrong, or accepts no POST: another integration may work.
  if (answer.status === 404 || answer.status === 405) return misconfigured(words)
  return outcomeOfStatus(answer, words)
}

function bodyOf({ id, target, title, content, payload, subscriberId, metadata, customData }: PushMessage): object {
  return {
    target: [target],
    title,
    content,
    overrides: customData,
    payload: { subscriber: { subscriberId }, ...payload },
    ...metadata,
    subscriberId,
    messageId: id,
  }
}
