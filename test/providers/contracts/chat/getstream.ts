// The contract of GetStream.
import { getstream } from '../../../../src/providers/chat/getstream.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { apiKey: 'stream-key-0001', secretKey: 'stream-secret-0001', user: 'notifier' }
const ownId = '0197f3a0-0000-7000-8000-000000000004'
const failure = (status: number, code: number, message = 'words', headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { code, message, StatusCode: status, duration: '0.00ms' },
})

export const contract: ProviderContract = {
  provider: getstream,
  account,
  message: {
    webhookUrl: 'https://relay.example.com/chat?team=1',
    channel: 'messaging:orders-42',
    customData: { attachments: [{ type: 'image' }], skip_push: true, user_id: 'somebody', cid: 'messaging:other' },
  },
  variants: [
    {
      name: 'a region',
      account: { ...account, baseUrl: 'https://chat-proxy-singapore.stream-io-api.com' },
      message: { customData: undefined },
    },
    {
      name: 'a relay',
      account: { apiKey: 'stream-key-0001', baseUrl: 'https://relay.example.com' },
      message: { customData: { extra: 1, headers: { a: 'b' } } },
    },
  ],
  success: {
    answer: { status: 201, body: { message: { id: ownId, text: 'x' }, duration: '12.34ms' } },
    id: ownId,
  },
  successes: [
    [
      'a message under an id that is taken',
      failure(400, 4, `SendMessage failed with error: "a message with ID ${ownId} already exists"`),
      ownId,
    ],
  ],
  errors: [
    ['no such key', failure(401, 2), 'misconfigured'],
    ['no login', failure(401, 3), 'misconfigured'],
    ['a token that ended', failure(401, 40), 'misconfigured'],
    ['a token that is not valid yet', failure(401, 41), 'misconfigured'],
    ['a token from the future', failure(401, 42), 'misconfigured'],
    ['another secret', failure(401, 43), 'misconfigured'],
    ['an app that is suspended', failure(403, 99), 'misconfigured'],
    ['bad input', failure(400, 4), 'refused: bad-content'],
    ['another id that is taken', failure(400, 4, '"a message with ID x already exists"'), 'refused: bad-content'],
    ['too long', failure(400, 20), 'refused: bad-content'],
    ['too big', failure(413, 22), 'refused: bad-content'],
    ['no such channel', failure(404, 16), 'refused: bad-recipient'],
    ['not allowed', failure(403, 17), 'refused: other'],
    // The tests’ clock stands at 2026-01-02T03:04:05.678Z.
    ['too many calls', failure(429, 9, 'words', { 'x-ratelimit-reset': '1767323055' }), 'busy', 9_322],
    ['a timeout', failure(408, 23), 'busy'],
    ['internal', failure(500, -1), 'busy'],
    ['slow mode', failure(403, 60), 'busy'],
    ['a success without an id', { status: 201, body: { message: {} } }, 'unsure'],
  ],
  check: [
    ['a good account', { status: 200, body: { app: {} } }, 'good'],
    ['a wrong key', failure(401, 2), 'bad: apiKey'],
    ['a wrong secret', failure(401, 43), 'bad: secretKey'],
    ['down', { status: 503 }, 'bad'],
  ],
}
