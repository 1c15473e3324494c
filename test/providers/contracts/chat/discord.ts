// Discord’s contract.
import { discord } from '../../../../src/providers/chat/discord.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const webhookUrl = 'https://discord.com/api/webhooks/223704706495545344/FAKEtoken-1_x'
const failure = (status: number, code: number) => ({ status, body: { message: 'words', code } })
const limited = (body: object, headers: Record<string, string> = {}) => ({
  status: 429,
  headers,
  body: { message: 'You are being rate limited.', global: false, ...body },
})

export const contract: ProviderContract = {
  provider: discord,
  callsRecipient: true,
  account: {},
  message: {
    webhookUrl: `${webhookUrl}?thread_id=199737254929760256`,
    customData: {
      username: 'Orders',
      embeds: [{ title: 'Order 42', description: 'shipped' }],
      thread_id: '1',
      webhookUrl: 'https://evil.example',
    },
  },
  variants: [
    {
      name: 'a version of the API, components, and a wait that is ours to decide',
      message: {
        webhookUrl: 'https://ptb.discord.com/api/v10/webhooks/223704706495545344/FAKEtoken?wait=false',
        customData: { components: [{ type: 1, components: [] }] },
      },
    },
    {
      name: 'an embed alone, and mentions that the caller allows',
      message: {
        content: '',
        customData: { embeds: [{ title: 'Order 42' }], allowed_mentions: { parse: ['users'] } },
      },
    },
  ],
  success: {
    answer: { status: 200, body: { id: '1100000000000000000', type: 0, webhook_id: '223704706495545344' } },
    id: '1100000000000000000',
  },
  successes: [['an id as a number', { status: 200, body: '{"id":1100000000000000001}' }, '1100000000000000001']],
  errors: [
    ['an empty message', failure(400, 50006), 'refused: bad-content'],
    ['a form that is none', failure(400, 50035), 'refused: bad-content'],
    ['JSON that is none', failure(400, 50109), 'refused: bad-content'],
    ['a forum without a thread', failure(400, 220001), 'refused: bad-content'],
    ['a thread where there are none', failure(400, 220003), 'refused: bad-content'],
    ['a wrong token', failure(401, 50027), 'refused: bad-recipient'],
    ['an unknown webhook', failure(404, 10015), 'refused: bad-recipient'],
    ['an unknown channel', failure(404, 10003), 'refused: bad-recipient'],
    ['a block at the edge', failure(403, 40333), 'busy'],
    ['a prohibition', failure(403, 50013), 'refused: bad-recipient'],
    ['too many calls', limited({ retry_after: 0.529 }, { 'retry-after': '1' }), 'busy', 529],
    ['far too many calls', limited({ retry_after: 3600.5, global: true }), 'busy', 3_600_500],
    ['too many calls, as the header alone says', limited({}, { 'retry-after': '2' }), 'busy', 2_000],
    ['a wait below nothing', limited({ retry_after: -1 }), 'busy', 0],
    ['down', { status: 502, body: '' }, 'busy'],
    ['nothing to show whether it was kept', { status: 204 }, 'unsure'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
}
