// Pushpad’s contract.
import { pushpad } from '../../../../src/providers/push/pushpad.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const created = (...uids: unknown[]) => ({ status: 201, body: { id: 197_123, scheduled: 1, uids } })
const failure = (status: number) => ({ status, body: { error: 'words' } })

export const contract: ProviderContract = {
  provider: pushpad,
  account: { apiKey: '5374d7dfFAKE', applicationId: '123' },
  message: {
    target: 'user-1',
    customData: {
      target_url: 'https://shop.example.test/orders/42',
      iconUrl: 'https://cdn.example.test/icon.png',
      image_url: 'https://cdn.example.test/a.png',
      ttl: 3600,
      actions: [{ title: 'Track', target_url: 'https://shop.example.test/track' }],
    },
  },
  variants: [
    {
      name: 'a title alone, and settings that do not say where it goes',
      message: { content: '', customData: { uids: [], tags: ['everybody'], require_interaction: true } },
    },
  ],
  success: { answer: created('user-1'), id: '197123' },
  successes: [
    ['an answer that lists no one by name', { status: 201, body: { id: 7, scheduled: 1 } }, '7'],
    ['an id beyond what JSON counts', { status: 201, body: '{"id":12345678901234567890}' }, '12345678901234567890'],
  ],
  errors: [
    ['a user without a subscription', created(), 'refused: bad-recipient'],
    ['another user’s subscription', created('user-10'), 'refused: bad-recipient'],
    ['a success without an id', { status: 201, body: { scheduled: 1 } }, 'unsure'],
    ['malformed', failure(400), 'refused: bad-content'],
    ['a wrong token', { status: 401 }, 'misconfigured'],
    ['unpaid', failure(402), 'misconfigured'],
    ['no permission', failure(403), 'misconfigured'],
    ['no such project', failure(404), 'misconfigured'],
    ['not valid', failure(422), 'refused: bad-content'],
    ['too many', failure(429), 'busy', 60_000],
    ['trouble', failure(503), 'busy'],
    ['a gateway that gave up', failure(504), 'unsure'],
  ],
  check: [
    ['the project', { status: 200, body: { id: 123 } }, 'good'],
    ['a wrong token', { status: 401 }, 'bad: apiKey'],
    ['a project of someone else', { status: 404 }, 'bad: applicationId'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  batch: {
    messages: [{}, { target: 'user-2' }, { target: '3' }],
    answer: created('user-1', 3),
    kinds: ['sent', 'refused: bad-recipient', 'sent'],
  },
}
