// Ryver’s contract.
import { ryver } from '../../../../src/providers/chat/ryver.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const ownId = '0197f3a0-0000-7000-8000-000000000004'

export const contract: ProviderContract = {
  provider: ryver,
  callsRecipient: true,
  account: {},
  message: {
    webhookUrl: 'https://acme.ryver.com/application/webhook/4zFAKE76nj7FicM',
    customData: { createSource: { displayName: 'Orders', avatar: null }, webhookUrl: 'https://evil.example' },
  },
  variants: [
    {
      name: 'a webhook of the kind for Slack',
      message: { content: '', customData: { text: 'Order 42' } },
    },
  ],
  success: { answer: { status: 200 }, id: ownId },
  successes: [['another success', { status: 204 }, ownId]],
  errors: [
    ['an unknown address', { status: 404 }, 'refused: bad-recipient'],
    ['an address that was closed', { status: 410 }, 'refused: bad-recipient'],
    ['not for us', { status: 403 }, 'refused: bad-recipient'],
    ['a redirect', { status: 301 }, 'refused: bad-recipient'],
    ['a message it does not want', { status: 400, body: { message: 'no' } }, 'refused: bad-content'],
    ['too large', { status: 413 }, 'refused: bad-content'],
    ['too many calls', { status: 429, headers: { 'retry-after': '5' } }, 'busy', 5_000],
    ['down', { status: 500 }, 'busy'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
  bodyIsIgnored: true,
}
