// The contract of chat by webhook.
import { chatWebhook } from '../../../../src/providers/chat/chat-webhook.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { secretKey: 'whsec-secret-0001', webhookUrl: 'https://ops.example.com/hooks/chat' }

export const contract: ProviderContract = {
  provider: chatWebhook,
  callsRecipient: true,
  account,
  message: {
    webhookUrl: 'https://hooks.example.com/chat?team=1',
    channel: 'ops',
    phone: '+447700900123',
    customData: { card: { a: 1 }, webhookUrl: 'https://evil.example', channel: 'other' },
  },
  variants: [{ name: 'the account’s own address', message: { webhookUrl: undefined } }],
  success: { answer: { status: 200, body: { id: 'evt_2' } }, id: 'evt_2' },
  successes: [
    ['no body', { status: 204 }, '0197f3a0-0000-7000-8000-000000000004'],
    ['a number of many digits', { status: 200, body: '{"id":12345678901234567890}' }, '12345678901234567890'],
  ],
  errors: [
    ['gone', { status: 410 }, 'refused: bad-recipient'],
    ['a redirect', { status: 302 }, 'refused: bad-recipient'],
    ['not for us', { status: 403 }, 'refused: bad-recipient'],
    ['no such place', { status: 404 }, 'refused: bad-recipient'],
    ['no POST', { status: 405 }, 'refused: bad-recipient'],
    ['a message it does not want', { status: 422, body: { message: 'no' } }, 'refused: other'],
    ['too many calls', { status: 429, headers: { 'retry-after': '9' } }, 'busy', 9_000],
    ['down', { status: 503 }, 'busy'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  statuses: { 401: 'refused: bad-recipient' },
  bodyIsIgnored: true,
  check: [['someone is there', { status: 405 }, 'good']],
}
