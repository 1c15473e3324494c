// Slack’s contract.
import { slack } from '../../../../src/providers/chat/slack.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const token = 'xoxb-top-secret'
const failure = (status: number, body: string) => ({ status, body })

export const contract: ProviderContract = {
  provider: slack,
  callsRecipient: true,
  account: {
    applicationId: 'A0123456789',
    clientId: '1234.5678',
    secretKey: 'client-secret-0001',
    redirectUrl: 'https://app.example.com/settings',
    hmac: true,
    token,
    channelId: 'C0000000001',
  },
  message: {
    webhookUrl: 'https://hooks.slack.com/services/T00000000/B00000000/FAKEFAKEFAKE',
    channel: 'slack',
    customData: { blocks: [{ type: 'divider' }], unfurl_links: false, channel: '#other' },
  },
  variants: [
    {
      name: 'a bot, to the channel of the subscriber',
      message: { webhookUrl: undefined, channel: 'C0123456789' },
    },
    { name: 'a bot, to the channel of the account', message: { webhookUrl: undefined } },
    {
      name: 'a bot at GovSlack',
      account: { token, baseUrl: 'https://slack-gov.com/api' },
      message: { webhookUrl: undefined, channel: 'C0123456789' },
    },
    {
      name: 'a workflow of GovSlack',
      account: {},
      message: { webhookUrl: 'https://hooks.slack-gov.com/triggers/T00000000/1/FAKE', customData: { orderId: '42' } },
    },
  ],
  success: {
    answer: { status: 200, headers: { 'x-slack-req-id': 'trace-1' }, body: 'ok' },
    id: 'trace-1',
  },
  successes: [['a workflow', { status: 200, body: { ok: true } }, '0197f3a0-0000-7000-8000-000000000004']],
  errors: [
    ['a payload that is none', failure(400, 'invalid_payload'), 'refused: bad-content'],
    ['no text', failure(400, 'no_text'), 'refused: bad-content'],
    ['blocks that are none', failure(400, 'invalid_blocks'), 'refused: bad-content'],
    ['too many attachments', failure(400, 'too_many_attachments'), 'refused: bad-content'],
    ['no such user', failure(400, 'user_not_found'), 'refused: bad-recipient'],
    ['a prohibition', failure(403, 'action_prohibited'), 'refused: bad-recipient'],
    ['no posts to #general', failure(403, 'posting_to_general_channel_denied'), 'refused: bad-recipient'],
    ['an address that was revoked', failure(403, 'invalid_token'), 'refused: bad-recipient'],
    ['a team that was closed', failure(403, 'team_disabled'), 'refused: bad-recipient'],
    ['no such address', failure(404, 'no_service'), 'refused: bad-recipient'],
    ['half an address', failure(404, 'no_service_id'), 'refused: bad-recipient'],
    ['an address that is off', failure(404, 'no_active_hooks'), 'refused: bad-recipient'],
    ['no such team', failure(404, 'no_team'), 'refused: bad-recipient'],
    ['no such channel', failure(404, 'channel_not_found'), 'refused: bad-recipient'],
    ['a channel that is archived', failure(410, 'channel_is_archived'), 'refused: bad-recipient'],
    ['an address that is mangled', failure(302, ''), 'refused: bad-recipient'],
    ['too many calls', { status: 429, headers: { 'retry-after': '3' }, body: 'rate_limited' }, 'busy', 3_000],
    ['an error of Slack’s', failure(500, 'rollup_error'), 'busy'],
    ['a gateway that waited too long', failure(504, ''), 'unsure'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
  check: [
    ['a good token', { status: 200, headers: { 'x-oauth-scopes': 'chat:write' }, body: { ok: true } }, 'good'],
    [
      'a token that may not send',
      { status: 200, headers: { 'x-oauth-scopes': 'im:read' }, body: { ok: true } },
      'bad: token',
    ],
    ['a wrong token', { status: 200, body: { ok: false, error: 'invalid_auth' } }, 'bad: token'],
    ['Slack is down', { status: 503 }, 'bad'],
  ],
}
