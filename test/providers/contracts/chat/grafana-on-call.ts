// The contract of Grafana On Call.
import { grafanaOnCall } from '../../../../src/providers/chat/grafana-on-call.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const webhookUrl = 'https://oncall-prod-us-central-0.grafana.net/oncall/integrations/v1/formatted_webhook/FAKEtoken/'

export const contract: ProviderContract = {
  provider: grafanaOnCall,
  callsRecipient: true,
  account: {
    alertUid: 'account-uid',
    title: 'Account title',
    imageUrl: 'https://example.com/account.png',
    state: 'alerting',
    externalLink: 'https://example.com/account',
  },
  message: {
    webhookUrl,
    entry: { alertUid: 'order-42', title: 'Order delayed', externalUrl: 'https://example.com/orders/42' },
    customData: { title: 'Order 42 is late', severity: 'high', webhookUrl: 'https://evil.example' },
  },
  variants: [
    { name: 'what the account says, where no one else does', message: { entry: {}, customData: undefined } },
    {
      name: 'settings in either spelling, at a server of one’s own without the last slash',
      message: {
        webhookUrl: 'https://oncall.example.com/integrations/v1/formatted_webhook/FAKEtoken',
        customData: { alert_uid: 'own-uid', imageUrl: 'https://example.com/own.png', state: 'ok' },
      },
    },
  ],
  success: { answer: { status: 200, body: '"Ok."' }, id: 'order-42' },
  errors: [
    ['the address of another kind of webhook', { status: 400, body: { detail: 'words' } }, 'refused: bad-recipient'],
    ['an unknown address', { status: 403, body: { detail: 'words' } }, 'refused: bad-recipient'],
    ['a wrong path', { status: 404 }, 'refused: bad-recipient'],
    ['an organization that moved', { status: 302 }, 'refused: bad-recipient'],
    ['too many alerts', { status: 429, body: 'Rate limit' }, 'busy', 60_000],
    ['down', { status: 503 }, 'busy'],
    ['something else than its word', { status: 200, body: 'hello' }, 'unsure'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
}
