// Plivo’s contract. Its receipts are signed by their address alone, so they are tested in test/providers/plivo.test.ts.
import { plivo } from '../../../../src/providers/sms/plivo.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { accountSid: 'MAFAKEFAKEFAKEFAKE00', token: 'fake-plivo-token', from: '+14155550100' }
const uuid = 'db3ce55a-7f1d-11e1-8ea7-1231380bc196'
const failure = (status: number, error: unknown = 'words') => ({ status, body: { api_id: '6c1a', error } })

export const contract: ProviderContract = {
  provider: plivo,
  account: { ...account, webhookUrl: 'https://hooks.example.test/sms/plivo/' },
  message: { customData: { log: 'content_only', DST: '999' } },
  variants: [
    { name: 'by a Powerpack', message: { customData: { powerpack_uuid: 'pp-1' } } },
    { name: 'a list of numbers is none', message: { to: '+44 7700 900123<+447700900124', customData: undefined } },
  ],
  success: {
    answer: { status: 202, body: { message: 'message(s) queued', message_uuid: [uuid], api_id: 'db342550' } },
    id: uuid,
  },
  errors: [
    ['a parameter', failure(400, 'src parameter not present'), 'refused: other'],
    ['a parameter, in another form', failure(400, { error: 'words' }), 'refused: other'],
    ['a wrong token, in plain text', { status: 401, body: 'Could not verify your access level' }, 'misconfigured'],
    ['no such account', failure(404), 'misconfigured'],
    ['another method', failure(405), 'refused: other'],
    ['too fast', { ...failure(429), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['an error of its own', failure(500), 'busy'],
    [
      'a number that is none',
      { status: 202, body: { message: 'x', message_uuid: [], invalid_number: ['1'], api_id: 'a' } },
      'refused: bad-recipient',
    ],
    ['no id', { status: 202, body: { message: 'message(s) queued', message_uuid: [] } }, 'unsure'],
    ['another success', { status: 200, body: { message_uuid: [uuid] } }, 'unsure'],
  ],
  check: [
    ['credits', { status: 200, body: { cash_credits: '10.0' } }, 'good'],
    ['a wrong token', { status: 401, body: 'Could not verify' }, 'bad: token'],
    ['trouble', { status: 500 }, 'bad'],
  ],
}
