// The contract of Rocket.Chat.
import { rocketChat } from '../../../../src/providers/chat/rocket-chat.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const token = 'personal-token-secret-1'
const user = 'aobEdbYhXfu5hkeqG'
const ownId = '0197f3a0-0000-7000-8000-000000000004'
const failure = (error: string, status = 400) => ({ status, body: { success: false, error } })

export const contract: ProviderContract = {
  provider: rocketChat,
  account: { token, user, baseUrl: 'https://chat.example.com/' },
  message: {
    webhookUrl: 'https://chat.example.com',
    channel: 'GENERAL',
    customData: { alias: 'Orders', message: { emoji: ':box:', rid: 'OTHER' }, previewUrls: [], rid: 'OTHER', _id: 'x' },
  },
  variants: [
    { name: 'the workspace of the account', message: { webhookUrl: undefined, customData: undefined } },
    {
      name: 'a workspace below a path',
      account: { token, user, baseUrl: 'https://example.com/chat/' },
      message: { webhookUrl: 'https://example.com/chat/', customData: undefined },
    },
    {
      name: 'an incoming webhook',
      message: {
        webhookUrl: 'https://other.example.com/hooks/64f0a1/FAKEtoken',
        channel: '#general',
        customData: { emoji: ':box:', channel: '#other' },
      },
    },
    {
      name: 'an incoming webhook, with a room it knows by name only',
      message: { webhookUrl: 'https://other.example.com/hooks/64f0a1/FAKEtoken', customData: undefined },
    },
  ],
  success: {
    answer: { status: 200, body: { message: { _id: 'LnCSJxxNkCy6K9X8X', rid: 'GENERAL' }, success: true } },
    id: 'LnCSJxxNkCy6K9X8X',
  },
  successes: [
    ['a message under an id that is known', { status: 200, body: { success: true } }, ownId],
    ['a message under an id that is taken', failure(`E11000 duplicate key error dup key: { _id: "${ownId}" }`), ownId],
  ],
  errors: [
    [
      'no login',
      { status: 401, body: { status: 'error', message: 'You must be logged in to do this.' } },
      'misconfigured',
    ],
    ['no permission', failure('unauthorized', 403), 'misconfigured'],
    ['no such room', failure('error-invalid-room'), 'refused: bad-recipient'],
    ['no such room, in words', failure('Invalid room [error-invalid-room]'), 'refused: bad-recipient'],
    [
      'no such room, by its type',
      { status: 400, body: { success: false, error: 'words', errorType: 'error-room-not-found' } },
      'refused: bad-recipient',
    ],
    ['not allowed', failure('error-not-allowed'), 'refused: bad-recipient'],
    ['not in the room', failure('error-user-not-in-room'), 'refused: bad-recipient'],
    ['bad parameters', failure('error-invalid-params'), 'refused: bad-content'],
    ['too long', failure('error-message-size-exceeded'), 'refused: bad-content'],
    ['something else', failure('error-the-weather'), 'refused: other'],
    ['an error within a success', failure('error-the-weather', 200), 'refused: other'],
    [
      'too many calls',
      // The tests’ clock stands at 2026-01-02T03:04:05.678Z.
      { ...failure('error-too-many-requests', 429), headers: { 'x-ratelimit-reset': '1767323055678' } },
      'busy',
      10_000,
    ],
    ['too many calls, as a bad request', failure('Error, too many requests. [error-too-many-requests]'), 'busy'],
    ['no Rocket.Chat at the account’s address', { status: 404, body: '<html>' }, 'misconfigured'],
    ['someone else’s id is taken', failure('E11000 duplicate key error dup key: { _id: "x" }'), 'refused: other'],
    ['down', { status: 503 }, 'busy'],
  ],
  check: [
    ['a good token', { status: 200, body: { _id: user, success: true } }, 'good'],
    ['a wrong token', { status: 401, body: { status: 'error', message: 'You must be logged in' } }, 'bad: token'],
    ['no Rocket.Chat there', { status: 404, body: '<html>' }, 'bad: baseUrl'],
    ['down', { status: 503 }, 'bad'],
  ],
}
