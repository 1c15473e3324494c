// Telegram’s contract.
import { telegram } from '../../../../src/providers/chat/telegram.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const token = '123456789:AAtopsecrettopsecrettopsecret-_1234'
const failure = (status: number, description: string, parameters?: object) => ({
  status,
  body: { ok: false, error_code: status, description, parameters },
})

export const contract: ProviderContract = {
  provider: telegram,
  account: { token, channelId: '@acme_orders' },
  message: {
    channel: '-1001234567890',
    customData: { parse_mode: 'MarkdownV2', disable_notification: true, chat_id: '1' },
  },
  variants: [
    { name: 'the account’s own chat', message: { channel: undefined, customData: undefined } },
    { name: 'a Bot API server of one’s own', account: { token, baseUrl: 'http://127.0.0.1:8081/' } },
  ],
  success: {
    answer: { status: 200, body: { ok: true, result: { message_id: 17, chat: { id: -1001234567890 }, date: 1 } } },
    id: '-1001234567890:17',
  },
  errors: [
    ['no such chat', failure(400, 'Bad Request: chat not found'), 'refused: bad-recipient'],
    ['no such user', failure(400, 'Bad Request: user not found'), 'refused: bad-recipient'],
    ['no such peer', failure(400, 'Bad Request: PEER_ID_INVALID'), 'refused: bad-recipient'],
    ['no rights', failure(400, 'Bad Request: have no rights to send a message'), 'refused: bad-recipient'],
    [
      'a group that moved',
      failure(400, 'Bad Request: words', { migrate_to_chat_id: -1009876543210 }),
      'refused: bad-recipient',
    ],
    ['no text', failure(400, 'Bad Request: message text is empty'), 'refused: bad-content'],
    ['too long', failure(400, 'Bad Request: message is too long'), 'refused: bad-content'],
    ['markup that is none', failure(400, "Bad Request: can't parse entities: words"), 'refused: bad-content'],
    ['a wrong token', failure(401, 'Unauthorized'), 'misconfigured'],
    ['no such bot', failure(404, 'Not Found'), 'misconfigured'],
    ['blocked', failure(403, 'Forbidden: bot was blocked by the user'), 'refused: bad-recipient'],
    ['put out', failure(403, 'Forbidden: bot was kicked from the group chat'), 'refused: bad-recipient'],
    ['too many calls', failure(429, 'Too Many Requests: retry after 34', { retry_after: 34 }), 'busy', 34_000],
    ['down', failure(502, 'Bad Gateway'), 'busy'],
    ['a success without an id', { status: 200, body: { ok: true, result: {} } }, 'unsure'],
  ],
  check: [
    ['a good token', { status: 200, body: { ok: true, result: { id: 1, is_bot: true } } }, 'good'],
    ['a wrong token', failure(401, 'Unauthorized'), 'bad: token'],
    ['no such bot', failure(404, 'Not Found'), 'bad: token'],
    ['down', failure(502, 'Bad Gateway'), 'bad'],
  ],
}
