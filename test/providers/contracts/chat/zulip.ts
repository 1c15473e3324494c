// Zulip’s contract.
import { zulip } from '../../../../src/providers/chat/zulip.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, code: string) => ({ status, body: { result: 'error', msg: 'words', code } })
const address = 'https://acme.zulipchat.com/api/v1/external/slack_incoming?api_key=FAKE&stream=7'

export const contract: ProviderContract = {
  provider: zulip,
  callsRecipient: true,
  account: {},
  message: {
    webhookUrl: `${address}&topic=orders`,
    channel: 'another topic',
    customData: { icon_emoji: ':box:', channel: 'off-topic' },
  },
  variants: [
    { name: 'the topic of the subscriber’s entry', message: { webhookUrl: address } },
    {
      name: 'a server of one’s own',
      message: {
        webhookUrl: 'https://chat.example.com/zulip/api/v1/external/slack_incoming?api_key=FAKE',
        channel: undefined,
        customData: { blocks: [{ type: 'divider' }] },
      },
    },
  ],
  success: {
    answer: { status: 200, body: { result: 'success', msg: '' } },
    id: '0197f3a0-0000-7000-8000-000000000004',
  },
  errors: [
    ['a message that is none', failure(400, 'BAD_REQUEST'), 'refused: bad-content'],
    ['no such stream', failure(400, 'STREAM_DOES_NOT_EXIST'), 'refused: bad-recipient'],
    ['no such stream, otherwise', failure(404, 'STREAM_DOES_NOT_EXIST'), 'refused: bad-recipient'],
    ['no key', failure(401, 'UNAUTHORIZED'), 'refused: bad-recipient'],
    ['a wrong key', failure(401, 'INVALID_API_KEY'), 'refused: bad-recipient'],
    ['a bot that is off', failure(401, 'USER_DEACTIVATED'), 'refused: bad-recipient'],
    ['a bot that is off, otherwise', failure(400, 'USER_DEACTIVATED'), 'refused: bad-recipient'],
    ['an organization that is off', failure(403, 'REALM_DEACTIVATED'), 'refused: bad-recipient'],
    [
      'too many calls',
      {
        status: 429,
        body: { result: 'error', msg: 'words', code: 'RATE_LIMIT_HIT', 'retry-after': 28.706807374954224 },
      },
      'busy',
      28_707,
    ],
    ['an error within a success', failure(200, 'BAD_REQUEST'), 'refused: bad-content'],
    ['down', { status: 502, body: '<html>' }, 'busy'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
}
