// Kannel’s contract.
import { kannel } from '../../../../src/providers/sms/kannel.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const says = (status: number, body: string) => ({ status, body })
const report = (status: string, answer = '') => ({
  method: 'GET',
  query: `?id=${messageId}&status=${status}&answer=${answer}&smsc-id=77&time=1704161045`,
})
const at = new Date('2024-01-02T02:04:05Z')

export const contract: ProviderContract = {
  provider: kannel,
  account: {
    host: 'kannel.example.internal',
    port: '13013',
    from: 'Shop',
    user: 'kuser',
    password: 'top secret/0001+',
    webhookUrl: 'https://hooks.example.test/a%20b?token=inbound-key-0001',
  },
  message: { customData: { smsc: 'smsc-1', priority: 2, to: '+306900000009', password: 'other' } },
  variants: [
    {
      name: 'by HTTPS to an IPv6 address, with a callback without a query',
      account: {
        host: 'fd00::1',
        port: '13443',
        from: 'Shop',
        user: 'kuser',
        password: 'top-secret-0001',
        secure: true,
        webhookUrl: 'https://hooks.example.test/k',
      },
      message: { content: 'Your code is 4821', customData: undefined },
    },
    {
      name: 'an address of its own',
      account: { host: 'unused', port: '1', from: 'Shop', baseUrl: 'http://10.0.0.7:8080/gateway/' },
      message: { customData: undefined },
    },
  ],
  success: { answer: says(202, '0: Accepted for delivery'), id: messageId },
  successes: [
    ['queued', says(202, '3: Queued for later delivery'), messageId],
    ['an old version', says(200, '0: Accepted for delivery'), messageId],
  ],
  errors: [
    ['a wrong password', says(403, 'Authorization failed for sendsms'), 'misconfigured'],
    ['no receiver', says(400, 'Missing receiver number, rejected'), 'refused: bad-recipient'],
    ['an empty receiver', says(400, 'Empty receiver number not allowed, rejected'), 'refused: bad-recipient'],
    ['no sender', says(400, 'Sender missing and no global set, rejected'), 'misconfigured'],
    [
      'a number that is not allowed',
      says(400, 'Number(s) has/have been denied by white- and/or black-lists.'),
      'refused: bad-recipient',
    ],
    ['no route', says(403, 'Not routable. Do not try again.'), 'refused: other'],
    ['a passing failure', says(503, 'Temporal failure, try again later.'), 'busy'],
    ['a success of another kind', says(202, 'Sent.'), 'unsure'],
  ],
  withoutBody: 'all of it is in the address',
  check: [
    ['a good account is asked for a receiver', says(400, 'Missing receiver number, rejected'), 'good'],
    ['a wrong password', says(403, 'Authorization failed for sendsms'), 'bad: password'],
    ['something else that answers', says(200, '<html>'), 'bad'],
  ],
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      {
        name: 'delivered',
        call: report('1', 'id%3A77+stat%3ADELIVRD'),
        expected: [{ status: 'delivered', messageId, at, words: 'id:77 stat:DELIVRD' }],
      },
      { name: 'not delivered', call: report('2'), expected: [{ status: 'failed', messageId, at }] },
      { name: 'buffered', call: report('4'), expected: [{ status: 'queued', messageId, at }] },
      { name: 'handed on', call: report('8', 'ACK%2F'), expected: [{ status: 'sent', messageId, at, words: 'ACK/' }] },
      {
        name: 'refused by the centre',
        call: report('16', 'NACK%2F69'),
        expected: [{ status: 'rejected', messageId, at, words: 'NACK/69' }],
      },
      { name: 'an unknown status', call: report('3'), expected: [] },
    ],
  },
}
