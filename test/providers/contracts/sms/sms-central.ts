// SMS Central’s contract.
import { smsCentral } from '../../../../src/providers/sms/sms-central.ts'
import type { ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const account = { user: 'acme', password: 'fake-password-central', from: 'shared' }
const said = (body: string) => ({ status: 200, body })
const messageId = '0197f3a0-0000-7000-8000-000000000002'

function receipt(status: string, reported: string | undefined, words?: string): ReceiptCase {
  const query = new URLSearchParams({
    ID: '991',
    REFERENCE: messageId,
    RESULT: '0',
    STATUS: status,
    STATUSDESCRIPTION: 'words',
    RECIPIENT: '447700900123',
    ORIGINATOR: 'Acme',
    USER_NAME: 'acme',
    PASSWORD: 'of-the-portal',
  })
  return {
    name: status,
    call: { method: 'GET', query: `?${query}` },
    expected:
      reported === undefined
        ? []
        : [
            {
              status: reported as never,
              messageId,
              address: '447700900123',
              ...(words === undefined ? {} : { words }),
            },
          ],
  }
}

export const contract: ProviderContract = {
  provider: smsCentral,
  account: { ...account, baseUrl: 'https://my.smscentral.com.au/api/v3.2' },
  message: {
    customData: { CAMPAIGN: 'codes', SCHEDULE: '2027-01-02 03:04:05', RECIPIENTMESSAGES: [{}], Action: 'x' },
  },
  variants: [
    {
      name: 'by a proxy, from a number',
      account: { ...account, from: '+61 491 570 156', baseUrl: 'http://10.0.0.1/sms/' },
      message: { from: undefined, customData: undefined },
    },
  ],
  success: { answer: said('0\n'), id: messageId },
  successes: [['bare', said('0'), messageId]],
  errors: [
    ['a wrong password', said('511\nUsername or Password incorrect'), 'misconfigured'],
    ['another code', said('513\nSomething else'), 'refused: other'],
    ['a code alone', said('520'), 'refused: other'],
    ['a zero with words', said('0 perhaps'), 'unsure'],
    ['words alone', said('Thank you'), 'unsure'],
    ['away', { status: 503, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a balance', said('<balance>125.34</balance>'), 'good'],
    ['a wrong password', said('511\nUsername or Password incorrect'), 'bad: password'],
    ['something else', said('520'), 'bad'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'central-webhook-key',
    cases: [
      receipt('DELIVERD', 'delivered'),
      receipt('FAILED', 'failed', 'words'),
      receipt('BUFFRED', 'queued'),
      receipt('PONDERED', undefined),
    ],
  },
}
