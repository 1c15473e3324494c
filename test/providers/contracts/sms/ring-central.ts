// RingCentral’s contract.
import { ringCentral } from '../../../../src/providers/sms/ring-central.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, errorCode: string, more: object = {}, headers = {}) => ({
  status,
  headers,
  body: { errorCode, message: 'words', errors: [{ errorCode, message: 'words', ...more }] },
})
const success = (messageStatus: string) => ({
  status: 200,
  body: {
    id: 1724872004,
    uri: 'https://platform.ringcentral.com/restapi/v1.0/account/1/extension/1/message-store/1724872004',
    type: 'SMS',
    direction: 'Outbound',
    messageStatus,
    creationTime: '2024-01-02T03:04:05.000Z',
  },
})
const { clientId, secretKey, token, from } = {
  clientId: 'fake-client',
  secretKey: 'fake-client-secret',
  token: 'fake.jwt.credential',
  from: '+14155550100',
}

export const contract: ProviderContract = {
  provider: ringCentral,
  account: { clientId, secretKey, token, from, secure: false },
  message: { to: '+14155550101', from: '+14155550102' },
  variants: [
    { name: 'by the sandbox', account: { clientId, secretKey, token, from, secure: true } },
    {
      name: 'by a base address, with a setting of the caller',
      account: { clientId, secretKey, token, from, baseUrl: 'https://ringcentral.proxy.test/' },
      message: { customData: { country: { isoCode: 'US' }, to: [{ phoneNumber: '+1' }] } },
    },
  ],
  before({ url, body }: AskedRequest): ContractAnswer | undefined {
    if (!url.endsWith('/restapi/oauth/token')) return undefined
    return body.includes(token)
      ? { status: 200, body: { access_token: 'fake-access-token', token_type: 'bearer', expires_in: 3600 } }
      : { status: 400, body: { error: 'invalid_grant' } }
  },
  success: { answer: success('Queued'), id: '1724872004' },
  successes: [
    ['sent at once', success('Sent'), '1724872004'],
    [
      'an id beyond 2^53',
      { status: 200, body: '{"id":17248720041724872004,"messageStatus":"Sent"}' },
      '17248720041724872004',
    ],
  ],
  errors: [
    ['failed within a success', success('SendingFailed'), 'refused: other'],
    ['not delivered within a success', success('DeliveryFailed'), 'refused: other'],
    ['a bad number', failure(400, 'CMN-101', { parameterName: 'to.phoneNumber' }), 'refused: bad-recipient'],
    ['a bad sender', failure(400, 'CMN-101', { parameterName: 'from' }), 'refused: bad-content'],
    ['a bad text', failure(400, 'CMN-101', { parameterName: 'text' }), 'refused: bad-content'],
    ['another bad parameter', failure(400, 'CMN-101', { parameterName: 'country' }), 'refused: other'],
    ['a number that is not ours', failure(403, 'MSG-304'), 'refused: bad-content'],
    ['no SMS at all', failure(403, 'FeatureNotAvailable'), 'misconfigured'],
    ['no such extension', failure(404, 'CMN-102'), 'misconfigured'],
    ['a token that is never good', failure(401, 'OAU-128'), 'misconfigured'],
    ['too many calls', failure(429, 'CMN-301', {}, { 'retry-after': '60' }), 'busy', 60_000],
  ],
  check: [
    ['a good account', { status: 200, body: { id: 1 } }, 'good'],
    ['no right to read it', failure(403, 'FeatureNotAvailable'), 'bad'],
  ],
}
