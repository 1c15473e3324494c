// Sendchamp’s contract.
import { sendchamp } from '../../../../src/providers/sms/sendchamp.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, message: string, code = status) => ({
  status,
  body: { code, status: 'error', message, data: null, errors: 'in other words' },
})
const success = (data: object) => ({
  status: 200,
  body: { code: 200, status: 'success', message: 'message request sent', data, errors: null },
})

export const contract: ProviderContract = {
  provider: sendchamp,
  account: { apiKey: 'sendchamp_live_top-secret', from: 'Shop', channelId: 'non_dnd' },
  message: { customData: { to: ['2348000000009'], sender_name: 'Other', campaign: 'codes' } },
  variants: [
    {
      name: 'to Nigeria',
      account: { apiKey: 'sendchamp_live_top-secret', from: 'Shop' },
      message: { to: '+2348000000001', customData: undefined },
    },
    {
      name: 'the sandbox',
      account: {
        apiKey: 'sendchamp_test_top-secret',
        from: 'Shop',
        baseUrl: 'https://sandbox-api.sendchamp.com/api/v1',
      },
      message: { customData: { route: 'dnd' } },
    },
  ],
  success: {
    answer: success({ id: '9c55', business_id: 'b-1', reference: 'MN-SMS-1', status: 'processing' }),
    id: '9c55',
  },
  successes: [['only a reference', success({ business_id: 'b-1', reference: 'MN-SMS-1' }), 'MN-SMS-1']],
  errors: [
    ['a wrong key', failure(401, 'Unauthorized'), 'misconfigured'],
    ['a bad request', failure(400, 'sender_name is required'), 'refused: other'],
    ['an error in a success', failure(200, 'Sender not approved', 400), 'refused: other'],
    ['trouble of theirs', failure(500, 'Internal error'), 'busy'],
    ['a success without an id', success({ business_id: 'b-1' }), 'unsure'],
  ],
}
