// Africa’s Talking’s contract.
import { africasTalking } from '../../../../src/providers/sms/africas-talking.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const id = 'ATPid_Sample'
const answered = (statusCode: number, status: string, messageId = 'None') => ({
  status: 201,
  body: {
    SMSMessageData: {
      Message: 'Sent to 1/1 Total Cost: KES 0.8000',
      Recipients: [{ statusCode, number: '+254711000001', status, cost: 'KES 0.8000', messageId }],
    },
  },
})
const noRecipients = (Message: string) => ({ status: 201, body: { SMSMessageData: { Message, Recipients: [] } } })
const report = (status: string, failureReason = '') => ({
  body: `id=${id}&status=${status}&phoneNumber=%2B254711000001&networkCode=63902&failureReason=${failureReason}&retryCount=0`,
})
const reported = { providerMessageId: id, address: '+254711000001' }

export const contract: ProviderContract = {
  provider: africasTalking,
  account: { apiKey: 'top-secret-0001', user: 'acme', from: 'SHOP' },
  message: { customData: { enqueue: 1, to: '+254711000009', username: 'other', phoneNumbers: ['+254711000009'] } },
  variants: [
    { name: 'the sandbox', account: { apiKey: 'top-secret-0001', user: 'sandbox', from: 'SHOP' } },
    { name: 'a list of numbers is never left', message: { to: '+254711000001,+254711000002', customData: undefined } },
  ],
  success: { answer: answered(101, 'Success', id), id },
  successes: [
    ['processed', answered(100, 'Success', id), id],
    ['queued', answered(102, 'Success', id), id],
  ],
  errors: [
    ['a risk', answered(401, 'RiskHold'), 'refused: other'],
    ['a sender of the message that is not allowed', answered(402, 'InvalidSenderId'), 'refused: bad-content'],
    ['an invalid number', answered(403, 'InvalidPhoneNumber'), 'refused: bad-recipient'],
    ['a kind of number', answered(404, 'UnsupportedNumberType'), 'refused: bad-recipient'],
    ['no balance', answered(405, 'InsufficientBalance'), 'misconfigured'],
    ['a blacklist', answered(406, 'UserInBlacklist'), 'refused: opted-out'],
    ['no route for now', answered(407, 'CouldNotRoute'), 'busy'],
    ['do not disturb', answered(409, 'DoNotDisturbRejection'), 'refused: other'],
    ['trouble of theirs', answered(500, 'InternalServerError'), 'busy'],
    ['trouble of the gateway', answered(501, 'GatewayError'), 'busy'],
    ['refused by the gateway', answered(502, 'RejectedByGateway'), 'refused: other'],
    ['an unknown code', answered(499, 'Dancing'), 'refused: other'],
    ['no one was sent anything: the sender', noRecipients('InvalidSenderId'), 'refused: bad-content'],
    ['no one was sent anything: the balance', noRecipients('InsufficientBalance'), 'misconfigured'],
    ['no one was sent anything, in other words', noRecipients('Sent to 0/1'), 'refused: other'],
    ['a wrong key', { status: 401, body: 'The supplied authentication is invalid' }, 'misconfigured'],
    ['a success without an id', answered(101, 'Success'), 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { UserData: { balance: 'KES 1785.50' } } }, 'good'],
    ['a wrong key', { status: 401, body: 'The supplied authentication is invalid' }, 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      { name: 'delivered', call: report('Success'), expected: [{ status: 'delivered', ...reported }] },
      {
        name: 'failed',
        call: report('Failed', 'UserNotProvisioned'),
        expected: [{ status: 'failed', ...reported, words: 'UserNotProvisioned' }],
      },
      {
        name: 'rejected',
        call: report('Rejected', 'UserInBlackList'),
        expected: [{ status: 'rejected', ...reported, words: 'UserInBlackList' }],
      },
      { name: 'no one there', call: report('AbsentSubscriber'), expected: [{ status: 'failed', ...reported }] },
      { name: 'expired', call: report('Expired'), expected: [{ status: 'failed', ...reported }] },
      { name: 'sent', call: report('Sent'), expected: [{ status: 'sent', ...reported }] },
      { name: 'submitted', call: report('Submitted'), expected: [{ status: 'sent', ...reported }] },
      { name: 'buffered', call: report('Buffered'), expected: [{ status: 'queued', ...reported }] },
      { name: 'an unknown status', call: report('Dancing'), expected: [] },
    ],
  },
}
