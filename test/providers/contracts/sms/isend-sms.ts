// iSend’s contract.
import { isendSms } from '../../../../src/providers/sms/isend-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, message: string) => ({ status, body: { status: 'error', message } })

export const contract: ProviderContract = {
  provider: isendSms,
  account: { apiToken: '1|top-secret-0001', from: 'Shop' },
  message: { customData: { schedule_time: '2026-01-02 10:00', recipient: '218900000000', type: 'plain' } },
  variants: [
    {
      name: 'the older host',
      account: { apiToken: '1|top-secret-0001', from: 'Shop', baseUrl: 'https://send.com.ly/' },
      message: { from: undefined },
    },
  ],
  success: {
    answer: {
      status: 200,
      body: {
        status: 'success',
        message: 'Your message was successfully delivered',
        data: { uid: '606812e63f78b', to: '447700900123', from: 'Acme', status: 'Delivered', cost: '1' },
      },
    },
    id: '606812e63f78b',
  },
  errors: [
    ['a sender that is not authorised', failure(200, 'Sender ID is not authorized'), 'refused: other'],
    ['a wrong token', failure(401, 'Unauthenticated.'), 'misconfigured'],
    ['invalid members', failure(422, 'The recipient field is required.'), 'refused: other'],
    ['a success without an id', { status: 200, body: { status: 'success', data: {} } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { status: 'success', data: { remaining_unit: '12' } } }, 'good'],
    ['an error in a success', failure(200, 'Account inactive'), 'bad'],
    ['a wrong token', failure(401, 'Unauthenticated.'), 'bad: apiToken'],
  ],
}
