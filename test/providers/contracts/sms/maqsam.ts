// Maqsam’s contract.
import { maqsam } from '../../../../src/providers/sms/maqsam.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, message: unknown) => ({ status, body: { result: 'error', message } })
const message = { identifier: '9f1c', timestamp: 1_704_161_045 }

export const contract: ProviderContract = {
  provider: maqsam,
  account: { apiKey: 'access-1', secretKey: 'top-secret-0001', from: 'Shop' },
  message: { customData: { campaign: 'codes', to: '+962790000009', sender: 'Other' } },
  success: { answer: { status: 200, body: { result: 'success', message } }, id: '9f1c' },
  successes: [['without a result', { status: 200, body: { message } }, '9f1c']],
  errors: [
    ['wrong keys', failure(401, 'Unauthorized'), 'misconfigured'],
    ['an error within a success', failure(200, 'Invalid sender'), 'refused: other'],
    ['an error as an object', failure(200, { message: 'Invalid number' }), 'refused: other'],
    ['a bad request', failure(400, 'Missing to'), 'refused: other'],
    ['a success without an id', { status: 200, body: { result: 'success', message: {} } }, 'unsure'],
  ],
  check: [
    ['a list of calls', { status: 200, body: { result: 'success', message: [] } }, 'good'],
    ['wrong keys', failure(401, 'Unauthorized'), 'bad: secretKey'],
    ['an error within a success', failure(200, 'Suspended'), 'bad'],
  ],
}
