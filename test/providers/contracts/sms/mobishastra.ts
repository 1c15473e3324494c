// Mobishastra’s contract.
import { mobishastra } from '../../../../src/providers/sms/mobishastra.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const row = (msg_id: string, str_response: string, number = '971500000001') => ({ msg_id, number, str_response })
const failure = (words: string) => ({ status: 200, body: [row(' ', words)] })

export const contract: ProviderContract = {
  provider: mobishastra,
  account: {
    baseUrl: 'https://mshastra.com/sendsms_api_json.aspx',
    user: '20100001',
    password: 'fake-password',
    from: 'AcmeAlerts',
  },
  message: { to: '+971500000001' },
  variants: [
    {
      name: 'settings of the caller, who cannot say whose account it is',
      message: { customData: { language: 'Arabic', pwd: 'x', User: 'y', number: '1' } },
    },
  ],
  success: { answer: { status: 200, body: [row('65423189', 'Send Successful')] }, id: '65423189' },
  successes: [['an id among spaces', { status: 200, body: [row(' 65423190 ', 'Send Successful')] }, '65423190']],
  errors: [
    ['a wrong password', failure('Invalid Profile Id or Password'), 'misconfigured'],
    ['no credits', failure('Insufficient Credits'), 'misconfigured'],
    ['a bad sender', failure('Invalid Sender'), 'refused: bad-content'],
    ['a bad number', failure('Invalid Mobile Number'), 'refused: bad-recipient'],
    ['anything else', failure('Something is wrong'), 'refused: other'],
    ['a success without an id', failure('Send Successful'), 'unsure'],
    ['nothing said', failure(''), 'unsure'],
    ['trouble', { status: 503 }, 'busy'],
  ],
  batch: {
    messages: [
      {},
      { id: '0197f3a0-0000-7000-8000-000000000012', to: '+971500000002', content: 'Another text' },
      { to: '+971500000003' },
    ],
    answer: {
      status: 200,
      body: [
        row('65423189', 'Send Successful'),
        row(' ', 'Invalid Mobile Number', '+971500000002'),
        row('65423190', 'Send Successful', '971500000009'),
      ],
    },
    kinds: ['sent', 'refused: bad-recipient', 'unsure'],
  },
}
