// Braze’s contract.
import { braze } from '../../../../src/providers/email/braze.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'bz-fake-key',
  baseUrl: 'https://rest.iad-01.braze.com',
  applicationId: '1111-aaaa',
  from: 'hello@acme.test',
  senderName: 'Acme',
}

/** Yan has no id of the customer's own, and Amy is no user. */
function users({ url, body }: AskedRequest): ContractAnswer | undefined {
  if (!url.endsWith('/users/export/ids')) return undefined
  const { email_address: address } = JSON.parse(body) as { email_address: string }
  const known: Record<string, object[]> = {
    'zoe@example.org': [{ user_aliases: [{ alias_name: 'zoe', alias_label: 'x' }] }, { external_id: 'u-17' }],
    'yan@example.org': [{ braze_id: 'b-1', user_aliases: [{ alias_name: 'yan', alias_label: 'crm' }] }],
  }
  return { status: 201, body: { message: 'success', users: known[address] ?? [], invalid_user_ids: [] } }
}
const failure = (status: number, message: string) => ({ status, body: { message, errors: ['words'] } })

export const contract: ProviderContract = {
  provider: braze,
  account,
  message: {
    attachments: [],
    customData: {
      campaign_id: 'c-1',
      broadcast: true,
      messages: { email: { should_inline_css: true, bcc: 'eve@example.org' } },
    },
  },
  variants: [
    {
      name: 'text that looks like Liquid, and nothing else',
      message: { subject: '{{ name }}', html: '', text: 'Hi {{ name }}{% if x %}', bcc: [], customData: {} },
    },
    { name: 'an endpoint without a scheme', account: { ...account, baseUrl: 'rest.fra-01.braze.eu/' } },
  ],
  before: users,
  success: { answer: { status: 201, body: { dispatch_id: 'c1d2', message: 'success' } }, id: 'c1d2' },
  successes: [
    ['200 is one too', { status: 200, body: { dispatch_id: 'c1d2' } }, 'c1d2'],
    ['with complaints', { status: 201, body: { dispatch_id: 'c1d2', errors: ['one is not subscribed'] } }, 'c1d2'],
  ],
  errors: [
    ['malformed', failure(400, 'no message'), 'refused: bad-content'],
    ['a wrong key', failure(401, 'Invalid API key'), 'misconfigured'],
    ['a key that may not', failure(403, 'Forbidden'), 'misconfigured'],
    ['another instance', failure(404, 'Invalid URL'), 'misconfigured'],
    ['too large', failure(413, 'Too large'), 'refused: bad-content'],
    ['another kind of content', failure(415, 'Unsupported'), 'refused: bad-content'],
    [
      'too fast',
      { ...failure(429, 'Rate limited'), headers: { 'x-ratelimit-reset': String(Date.UTC(2026, 0, 2, 3, 5) / 1000) } },
      'busy',
      54_322,
    ],
    ['an internal failure', failure(500, 'Error'), 'busy'],
    ['a success without an id', { status: 201, body: { message: 'success' } }, 'unsure'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  check: [
    ['it finds fault with an empty message', failure(400, 'no recipients'), 'good'],
    ['a wrong key', failure(401, 'Invalid API key'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
}
