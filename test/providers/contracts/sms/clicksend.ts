// ClickSend’s contract.
import { clicksend } from '../../../../src/providers/sms/clicksend.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const otherId = '0197f3a0-0000-7000-8000-000000000007'
const id = 'BF7AD270-0DE2-418B-B606-71D527D9C1AE'
const answered = (...messages: object[]): ContractAnswer => ({
  status: 200,
  body: { http_code: 200, response_code: 'SUCCESS', response_msg: 'Messages queued for delivery.', data: { messages } },
})
const item = (status: string) => answered({ to: '+447700900123', message_id: id, custom_string: messageId, status })
const failure = (status: number, response_code: string) => ({
  status,
  body: { http_code: status, response_code, response_msg: 'In words.', data: null },
})
const report = (code: string, text = '') => ({
  body: `message_id=${id}&status=x&status_code=${code}&status_text=${text}&error_code=&error_text=&custom_string=${messageId}&timestamp_send=1704161040&timestamp=1704161045`,
})
const reported = { messageId, providerMessageId: id, at: new Date('2024-01-02T02:04:05Z') }

export const contract: ProviderContract = {
  provider: clicksend,
  account: { user: 'acme', apiKey: 'top-secret-0001', from: 'Shop' },
  message: { customData: { source: 'posthorn', country: 'GB', to: '+61411111119', custom_string: 'other' } },
  success: { answer: item('SUCCESS'), id },
  successes: [['without our own id', answered({ message_id: id, status: 'SUCCESS' }), id]],
  errors: [
    ['an invalid number', item('INVALID_RECIPIENT'), 'refused: bad-recipient'],
    ['a sender of the message that is not allowed', item('INVALID_SENDER_ID'), 'refused: bad-content'],
    ['no credit', item('INSUFFICIENT_CREDIT'), 'misconfigured'],
    ['nothing said', item('EMPTY_MESSAGE'), 'refused: bad-content'],
    ['a country that is not enabled', item('COUNTRY_NOT_ENABLED'), 'misconfigured'],
    ['the same just before', item('THROTTLED'), 'busy', 60_000],
    ['trouble of theirs', item('INTERNAL_ERROR'), 'busy'],
    ['other trouble of theirs', item('SOMETHING_IS_WRONG'), 'busy'],
    ['an unknown status', item('DANCING'), 'refused: other'],
    ['wrong credentials', failure(401, 'UNAUTHORIZED'), 'misconfigured'],
    ['invalid credentials', failure(401, 'INVALID_CREDENTIALS'), 'misconfigured'],
    ['no credentials', failure(401, 'MISSING_CREDENTIALS'), 'misconfigured'],
    ['a bad request', failure(400, 'BAD_REQUEST'), 'refused: other'],
    ['forbidden', failure(403, 'FORBIDDEN'), 'misconfigured'],
    ['not found', failure(404, 'NOT_FOUND'), 'refused: other'],
    ['too many calls', { ...failure(429, 'TOO_MANY_REQUESTS'), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['an internal error', failure(500, 'INTERNAL_SERVER_ERROR'), 'busy'],
    ['another message’s answer', answered({ message_id: id, custom_string: otherId, status: 'SUCCESS' }), 'unsure'],
    ['a success without an id', answered({ custom_string: messageId, status: 'SUCCESS' }), 'unsure'],
  ],
  check: [
    ['an account', { status: 200, body: { data: { balance: '10.5' } } }, 'good'],
    ['wrong credentials', failure(401, 'UNAUTHORIZED'), 'bad: apiKey'],
    ['trouble', failure(500, 'INTERNAL_SERVER_ERROR'), 'bad'],
  ],
  batch: {
    messages: [
      {},
      { id: otherId, to: '+61411111111' },
      { id: '0197f3a0-0000-7000-8000-000000000008', to: '+61411111112' },
    ],
    answer: answered(
      // Out of order, as far as they are named; the third is reported by its place.
      { message_id: 'm-2', custom_string: otherId, status: 'INVALID_RECIPIENT' },
      { message_id: 'm-1', custom_string: messageId, status: 'SUCCESS' },
      { message_id: 'm-3', status: 'THROTTLED' },
    ),
    kinds: ['sent', 'refused: bad-recipient', 'busy'],
  },
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      { name: 'sent', call: report('200'), expected: [{ status: 'sent', ...reported }] },
      {
        name: 'delivered',
        call: report('201', 'Success'),
        expected: [{ status: 'delivered', ...reported, words: 'Success' }],
      },
      {
        name: 'a temporary failure',
        call: report('300', 'Temporary'),
        expected: [{ status: 'deferred', ...reported, words: 'Temporary' }],
      },
      { name: 'failed', call: report('301', 'Failed'), expected: [{ status: 'failed', ...reported, words: 'Failed' }] },
      { name: 'failed for another reason', call: report('302'), expected: [{ status: 'failed', ...reported }] },
      { name: 'any other of 4xx', call: report('404'), expected: [{ status: 'failed', ...reported }] },
      { name: 'an unknown code', call: report('700'), expected: [] },
    ],
  },
}
