// Mattermost’s contract.
import { mattermost } from '../../../../src/providers/chat/mattermost.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, id: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { id, message: 'words', detailed_error: '', request_id: 'r', status_code: status },
})

export const contract: ProviderContract = {
  provider: mattermost,
  callsRecipient: true,
  account: {},
  message: {
    webhookUrl: 'https://mattermost.example.com/hooks/xxxFAKEgeneratedkeyxxx',
    channel: 'town-square',
    customData: { username: 'Orders', attachments: [{ text: 'x' }], channel: 'off-topic' },
  },
  variants: [
    {
      name: 'a server below a path, and the webhook’s own channel',
      message: {
        webhookUrl: 'https://example.com/team/chat/hooks/xxxFAKEgeneratedkeyxxx',
        channel: undefined,
        customData: undefined,
      },
    },
  ],
  success: {
    answer: { status: 200, headers: { 'x-request-id': 'hoan6o9ws7rp5xj7wu9rmysrte' }, body: 'ok' },
    id: 'hoan6o9ws7rp5xj7wu9rmysrte',
  },
  successes: [['no trace', { status: 200, body: 'ok' }, '0197f3a0-0000-7000-8000-000000000004']],
  errors: [
    ['an unknown webhook', failure(400, 'web.incoming_webhook.invalid.app_error'), 'refused: bad-recipient'],
    ['a message that is none', failure(400, 'web.incoming_webhook.parse.app_error'), 'refused: bad-content'],
    ['an empty text', failure(400, 'web.incoming_webhook.text.app_error'), 'refused: bad-content'],
    ['a channel that is locked', failure(403, 'web.incoming_webhook.channel_locked.app_error'), 'refused: other'],
    ['no such channel', failure(404, 'web.incoming_webhook.channel.app_error'), 'refused: bad-recipient'],
    ['no such user', failure(404, 'web.incoming_webhook.user.app_error'), 'refused: bad-recipient'],
    ['too large', failure(413, 'api.context.request_body_too_large.app_error'), 'refused: bad-content'],
    ['too many calls', failure(429, 'rate_limited', { 'x-ratelimit-reset': '4' }), 'busy', 4_000],
    // The tests’ clock stands at 2026-01-02T03:04:05.678Z.
    [
      'too many calls until a given time',
      failure(429, 'rate_limited', { 'x-ratelimit-reset': '1767323055' }),
      'busy',
      9_322,
    ],
    ['webhooks that are off', failure(501, 'web.incoming_webhook.disabled.app_error'), 'refused: bad-recipient'],
    ['down', { status: 503 }, 'busy'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
}
