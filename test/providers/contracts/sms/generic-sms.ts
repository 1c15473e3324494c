// The contract of SMS by webhook.
import { genericSms } from '../../../../src/providers/sms/generic-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const plain = {
  baseUrl: 'https://sms.customer.test/send?team=ops',
  apiKeyRequestHeader: 'X-API-KEY',
  apiKey: 'top-secret-0001',
  from: 'Shop',
}
const tokenAddress = 'https://sms.customer.test/token'

export const contract: ProviderContract = {
  provider: genericSms,
  account: {
    ...plain,
    secretKeyRequestHeader: 'X-SECRET-KEY',
    secretKey: 'second-secret-0001',
    idPath: 'result.messageId',
    datePath: 'result.date',
    authenticateByToken: true,
    domain: tokenAddress,
    authenticationTokenKey: 'X-Auth-Token',
  },
  message: { customData: { campaign: 'codes', to: '+15550000000', sender: 'Other' } },
  variants: [
    { name: 'keys only', account: plain, message: { customData: undefined } },
    {
      name: 'both keys, no token',
      account: { ...plain, secretKeyRequestHeader: 'X-SECRET-KEY', secretKey: 'second-secret-0001' },
      message: { customData: undefined },
    },
  ],
  before: ({ url }) =>
    url === tokenAddress ? { status: 200, body: { data: { 'X-Auth-Token': 'granted-token-0001' } } } : undefined,
  success: { answer: { status: 200, body: { result: { messageId: 'm-77' } } }, id: 'm-77' },
  successes: [
    ['another success', { status: 204 }, messageId],
    ['an id elsewhere', { status: 200, body: { id: 'm-78' } }, messageId],
    [
      'an id of many digits',
      { status: 200, body: '{"result":{"messageId":12345678901234567890}}' },
      '12345678901234567890',
    ],
  ],
  errors: [
    [
      'a destination that is not allowed',
      { status: 422, body: { message: 'destination not allowed' } },
      'refused: other',
    ],
    ['an error in an object', { status: 400, body: { error: { message: 'no' } } }, 'refused: other'],
    ['a wrong key', { status: 401, body: { error: 'no' } }, 'misconfigured'],
    ['a wrong address', { status: 404, body: 'Not Found' }, 'misconfigured'],
    ['an address that takes no POST', { status: 405 }, 'misconfigured'],
    ['a busy receiver', { status: 503, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  bodyIsIgnored: true,
  check: [['a token that is granted', { status: 500 }, 'good']],
}
