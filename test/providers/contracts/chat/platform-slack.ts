// The contract of our own Slack app.
import { platformSlack } from '../../../../src/providers/chat/platform-slack.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (error: string, status = 200) => ({ status, body: { ok: false, error } })
const kinds: Readonly<Record<string, readonly string[]>> = {
  'refused: bad-recipient': [
    'channel_not_found',
    'is_archived',
    'user_not_found',
    'cannot_dm_bot',
    'user_disabled',
    'messages_tab_disabled',
    'not_in_channel',
  ],
  'refused: other': ['restricted_action', 'restricted_action_read_only_channel', 'ekm_access_denied', 'access_denied'],
  misconfigured: [
    'not_authed',
    'invalid_auth',
    'account_inactive',
    'token_revoked',
    'token_expired',
    'missing_scope',
    'no_permission',
    'org_login_required',
    'not_allowed_token_type',
  ],
  'refused: bad-content': [
    'no_text',
    'msg_too_long',
    'msg_blocks_too_long',
    'invalid_blocks',
    'invalid_blocks_format',
    'too_many_attachments',
    'invalid_arguments',
    'invalid_json',
    'markdown_text_conflict',
    'metadata_too_large',
  ],
  busy: ['service_unavailable', 'request_timeout', 'team_added_to_org'],
  unsure: ['internal_error', 'fatal_error'],
}

export const contract: ProviderContract = {
  provider: platformSlack,
  account: { token: 'xoxb-top-secret', channelId: 'C0000000001' },
  message: {
    channel: 'C0123456789',
    customData: { blocks: [{ type: 'divider' }], thread_ts: '1.2', channel: '#other', token: 'xoxb-other' },
  },
  variants: [
    { name: 'the account’s own channel', message: { channel: undefined } },
    { name: 'GovSlack', account: { token: 'xoxb-top-secret', baseUrl: 'https://slack-gov.com/api/' } },
    {
      name: 'blocks alone, with metadata of the caller’s own',
      message: { content: '', customData: { blocks: [{ type: 'divider' }], metadata: { event_type: 'order' } } },
    },
  ],
  success: {
    answer: { status: 200, body: { ok: true, channel: 'C0123456789', ts: '1503435956.000247' } },
    id: 'C0123456789:1503435956.000247',
  },
  errors: [
    ...Object.entries(kinds).flatMap(([kind, errors]) => errors.map((error) => [error, failure(error), kind] as const)),
    ['ratelimited', { ...failure('ratelimited', 429), headers: { 'retry-after': '9' } }, 'busy', 9_000],
    ['ratelimited without a wait', failure('ratelimited', 429), 'busy', 30_000],
    ['rate_limited', failure('rate_limited'), 'busy', 30_000],
    ['message_limit_exceeded', failure('message_limit_exceeded'), 'busy', 30_000],
    ['a success without an id', { status: 200, body: { ok: true } }, 'unsure'],
    ['a status', { status: 503 }, 'busy'],
  ],
  check: [
    ['a good token', { status: 200, headers: { 'x-oauth-scopes': 'im:write,chat:write' }, body: { ok: true } }, 'good'],
    ['a wrong token', { status: 200, body: { ok: false, error: 'invalid_auth' } }, 'bad: token'],
    ['Slack is down', { status: 503 }, 'bad'],
  ],
}
