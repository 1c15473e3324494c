// Twilio’s contract.
import { createHash, createHmac } from 'node:crypto'
import { twilio } from '../../../../src/providers/sms/twilio.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'
import { webhookAddress } from '../../../support/provider-contract.ts'

const failure = (status: number, code: number) => ({ status, body: { code, message: 'words', status } })

const sign = (text: string, token = 'top-secret-token'): string =>
  createHmac('sha1', token).update(text).digest('base64')

function callback(status: string, more: Record<string, string> = {}): ContractCall {
  const report: Record<string, string> = {
    SmsSid: 'SMfake',
    SmsStatus: status,
    MessageStatus: status,
    To: '+447700900123',
    MessageSid: 'SMfake',
    AccountSid: 'ACtest',
    From: 'Acme & Co',
    ...more,
  }
  const names = Object.keys(report).sort()
  return {
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': sign(`${webhookAddress}${names.map((name) => `${name}${report[name]}`).join('')}`),
    },
    body: new URLSearchParams(report).toString(),
  }
}

const reported = { providerMessageId: 'SMfake', address: '+447700900123' } as const
const json = '{"MessageSid":"SMfake","MessageStatus":"delivered"}'
const digestQuery = `?bodySHA256=${createHash('sha256').update(json).digest('hex')}`

export const contract: ProviderContract = {
  provider: twilio,
  account: {
    accountSid: 'ACtest',
    token: 'top-secret-token',
    from: '+14155550100',
    apiKey: 'SKtest',
    secretKey: 'key-secret-0001',
    webhookUrl: 'https://hooks.example.test/sms',
  },
  variants: [
    {
      name: 'an account in a region, with a messaging service',
      account: {
        accountSid: 'ACtest',
        token: 'top-secret-token',
        from: '+14155550100',
        messageProfileId: 'MGtest',
        region: 'dublin.ie1',
      },
      message: { from: undefined },
    },
  ],
  success: { answer: { status: 201, body: { sid: 'SMfake', status: 'queued', error_code: null } }, id: 'SMfake' },
  errors: [
    ['a wrong token', failure(401, 20003), 'misconfigured'],
    ['no such account', failure(404, 20404), 'misconfigured'],
    ['trouble of Twilio’s own', failure(500, 20500), 'busy'],
    ['Twilio is away', failure(503, 20503), 'busy'],
    ['a sender that the message named', failure(400, 21212), 'refused: bad-content'],
    ['a sender that is none of ours', failure(400, 21606), 'refused: bad-content'],
    ['a country that is not enabled', failure(400, 21408), 'misconfigured'],
    ['a number that a trial may not send to', failure(400, 21608), 'misconfigured'],
    ['no route', failure(400, 21612), 'refused: bad-recipient'],
    ['not a mobile', failure(400, 21614), 'refused: bad-recipient'],
    ['an invalid number', failure(400, 21211), 'refused: bad-recipient'],
    ['someone who wrote STOP', failure(400, 21610), 'refused: opted-out'],
    ['too long', failure(400, 21617), 'refused: bad-content'],
    ['a full queue', failure(400, 21611), 'busy'],
    [
      'a failure within a success',
      { status: 201, body: { sid: 'SM1', status: 'failed', error_code: 30006 } },
      'refused: bad-recipient',
    ],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' }, body: { code: 20429 } }, 'busy', 7_000],
  ],
  check: [
    ['an active account', { status: 200, body: { status: 'active' } }, 'good'],
    ['a closed one', { status: 200, body: { status: 'closed' } }, 'bad: accountSid'],
    ['a wrong token', { status: 401, body: { message: 'Authenticate' } }, 'bad: token'],
  ],
  receipts: {
    cases: [
      ...['accepted', 'scheduled', 'queued', 'sending'].map((status) => ({
        name: status,
        call: callback(status),
        expected: [{ status: 'queued' as const, ...reported }],
      })),
      { name: 'sent', call: callback('sent'), expected: [{ status: 'sent', ...reported }] },
      { name: 'delivered', call: callback('delivered'), expected: [{ status: 'delivered', ...reported }] },
      { name: 'read', call: callback('read'), expected: [{ status: 'delivered', ...reported }] },
      {
        name: 'undelivered',
        call: callback('undelivered', { ErrorCode: '30003' }),
        expected: [{ status: 'failed', ...reported, words: 'undelivered (30003)' }],
      },
      {
        name: 'failed',
        call: callback('failed', { ErrorCode: '30007', ErrorMessage: 'Filtered' }),
        expected: [{ status: 'failed', ...reported, words: 'Filtered (30007)' }],
      },
      { name: 'canceled', call: callback('canceled'), expected: [{ status: 'failed', ...reported }] },
      { name: 'a status of tomorrow', call: callback('pondering'), expected: [] },
    ],
    unbelievable: [
      {
        name: 'signed with another token',
        call: { ...callback('delivered'), headers: { 'x-twilio-signature': sign(webhookAddress, 'another-token') } },
      },
      {
        name: 'a digest that is signed, of another body',
        call: {
          query: digestQuery,
          headers: { 'x-twilio-signature': sign(`${webhookAddress}${digestQuery}`) },
          body: json.replace('delivered', 'failed'),
        },
      },
    ],
  },
}
