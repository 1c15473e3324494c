// AfroMessage’s contract.
import { afroMessage } from '../../../../src/providers/sms/afro-message.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const success = (more: object) => ({
  status: 200,
  body: {
    acknowledge: 'success',
    response: { status: 'Send in progress ...', message: 'x', to: '+251900000001', ...more },
  },
})
const failure = (response: unknown) => ({ status: 200, body: { acknowledge: 'error', response } })
const report = (status: string) => ({ method: 'GET', query: `?message_id=9d9e0f4c&status=${status}&attempts=1` })

export const contract: ProviderContract = {
  provider: afroMessage,
  account: {
    apiKey: 'fake-api-key',
    from: 'e80ad9d8-adf3-463f-80f4-7c4b39f70000',
    senderName: 'AcmeAlerts',
    webhookUrl: 'https://posthorn.example.com/v1/webhooks/env-1/int-1?token=k',
  },
  message: { to: '+251900000001' },
  variants: [
    {
      name: 'a setting of the caller, who cannot say where it goes',
      message: { customData: { template: '0', to: '+1', from: 'x' } },
    },
  ],
  success: { answer: success({ message_id: '9d9e0f4c' }), id: '9d9e0f4c' },
  successes: [['an id by its other name', success({ id: 7 }), '7']],
  errors: [
    ['a bad sender', failure({ errors: ['Invalid sender name'] }), 'refused: other'],
    ['several mistakes', failure({ errors: ['one', 'two'] }), 'refused: other'],
    ['a mistake as text', failure('words'), 'refused: other'],
    ['a success without an id', success({}), 'unsure'],
    ['a wrong token', { status: 401, body: { message: 'words' } }, 'misconfigured'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      ...(['queued', 'sent', 'delivered', 'failed', 'rejected'] as const).map((status) => ({
        name: status,
        call: report(status.toUpperCase()),
        expected: [{ status, providerMessageId: '9d9e0f4c' }],
      })),
      {
        name: 'undelivered, by POST',
        call: { body: 'message_id=9d9e0f4c&status=undelivered&to=%2B251900000001' },
        expected: [{ status: 'failed', providerMessageId: '9d9e0f4c', address: '+251900000001' }],
      },
      { name: 'an unknown status', call: report('hm'), expected: [] },
    ],
  },
}
