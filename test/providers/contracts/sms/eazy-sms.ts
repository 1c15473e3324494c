// Eazy’s contract.
import { eazySms } from '../../../../src/providers/sms/eazy-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

export const contract: ProviderContract = {
  provider: eazySms,
  account: { apiKey: 'fake-api-key', channelId: 'c0ffee@sms.eazy.im' },
  message: { to: '+971500000001' },
  variants: [
    { name: 'a channel without its domain', account: { apiKey: 'fake-api-key', channelId: 'c0ffee' } },
    {
      name: 'a setting of the caller, who cannot say the text otherwise',
      message: { customData: { priority: 'high', message: { type: 'text', text: 'x' } } },
    },
  ],
  success: { answer: { status: 200, body: { id: '2574a339-86ff' } }, id: '2574a339-86ff' },
  successes: [['made', { status: 201, body: { id: 7 } }, '7']],
  errors: [
    ['a wrong key', { status: 401, body: { message: 'Unauthorized' } }, 'misconfigured'],
    ['a bad request', { status: 400, body: { error: 'words' } }, 'refused: other'],
    ['a success without an id', { status: 200, body: { status: 'ok' } }, 'unsure'],
  ],
}
