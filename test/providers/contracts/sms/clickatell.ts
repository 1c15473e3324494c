// Clickatell’s contract.
import { clickatell } from '../../../../src/providers/sms/clickatell.ts'
import type { ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const accepted = (id: string, to = '447700900123') => ({ apiMessageId: id, accepted: true, to, error: null })
const declined = (code: number, to = '447700900123') => ({
  apiMessageId: null,
  accepted: false,
  to,
  error: { code, description: 'words' },
})
const item = (status: number, code: number) => ({ status, body: { messages: [declined(code)], error: null } })
const whole = (status: number, code: number) => ({ status, body: { error: { code, description: 'words' } } })

const messageId = '0197f3a0-0000-7000-8000-000000000002'

function update(statusCode: number, status: string, reported: string | undefined, words?: string): ReceiptCase {
  const event = { channel: 'sms', timestamp: 1_704_161_045_123, statusCode, status, messageId: '77fb29' }
  return {
    name: status,
    call: {
      body: {
        integrationId: 'i-1',
        integrationName: 'Acme',
        event: { messageStatusUpdate: [{ ...event, clientMessageId: messageId }] },
      },
    },
    expected:
      reported === undefined
        ? []
        : [
            {
              status: reported as never,
              messageId,
              providerMessageId: '77fb29',
              at: new Date('2024-01-02T02:04:05.123Z'),
              ...(words === undefined ? {} : { words }),
            },
          ],
  }
}

const account = { apiKey: 'FAKEKEY-clickatell==', from: '+27600000001' }

export const contract: ProviderContract = {
  provider: clickatell,
  account: { ...account, baseUrl: 'https://platform.clickatell.com' },
  message: { from: undefined, customData: { validityPeriod: 60, To: '999', binary: true } },
  variants: [
    {
      name: 'the older API',
      account: { ...account, baseUrl: 'https://platform.clickatell.com/messages/' },
      message: { customData: undefined },
    },
    { name: 'by a proxy', account: { ...account, baseUrl: 'http://10.0.0.1:8080' }, message: { from: '2799' } },
  ],
  success: { answer: { status: 202, body: { messages: [accepted('77fb29')], error: null } }, id: '77fb29' },
  successes: [['some went', { status: 207, body: { messages: [accepted('77fb30')], error: null } }, '77fb30']],
  errors: [
    ['a wrong number', item(400, 6), 'refused: bad-recipient'],
    ['a wrong recipient', item(207, 25), 'refused: bad-recipient'],
    ['someone who opted out', item(207, 26), 'refused: opted-out'],
    ['too long', item(400, 24), 'refused: bad-content'],
    ['a sender of a two-way integration', item(400, 44), 'misconfigured'],
    ['another sender', item(400, 45), 'misconfigured'],
    ['a parameter', item(400, 23), 'refused: other'],
    ['malformed', whole(400, 21), 'refused: other'],
    ['too many messages', whole(400, 22), 'refused: other'],
    ['a code of tomorrow', item(207, 999), 'refused: other'],
    ['a wrong key', whole(401, 1), 'misconfigured'],
    ['an inactive account', whole(403, 2), 'misconfigured'],
    ['an inactive integration', whole(403, 3), 'misconfigured'],
    ['an address that is not allowed', whole(403, 7), 'misconfigured'],
    ['no balance', whole(402, 20), 'misconfigured'],
    ['no funds', { status: 402 }, 'misconfigured'],
    ['an error of its own', whole(500, 18), 'busy'],
    ['an error of its own that may pass', item(207, 19), 'busy'],
    ['too fast', { ...whole(429, 43), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['nothing there', { status: 404, body: '' }, 'refused: other'],
    ['away', { status: 503 }, 'busy'],
    [
      'an error of the older API',
      {
        status: 400,
        body: { messages: [{ accepted: false, errorCode: 25, error: 'x', errorDescription: 'words' }] },
      },
      'refused: bad-recipient',
    ],
    ['neither accepted nor declined', { status: 202, body: { messages: [{ to: '447700900123' }] } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { balance: 12.3, currency: 'EUR' } }, 'good'],
    ['a wrong key', whole(401, 1), 'bad: apiKey'],
    ['trouble', { status: 503 }, 'bad'],
  ],
  batch: {
    messages: [
      { customData: undefined },
      { customData: undefined, to: '+447700900124', content: 'Another text' },
      { customData: undefined, to: '+447700900125' },
    ],
    answer: {
      status: 207,
      body: {
        messages: [accepted('a1'), declined(26, '447700900124'), accepted('a3', '447700900999')],
        error: null,
      },
    },
    kinds: ['sent', 'refused: opted-out', 'unsure'],
  },
  receipts: {
    key: 'clickatell-webhook-key',
    cases: [
      update(1, 'UNKNOWN', undefined),
      update(2, 'QUEUED', 'queued'),
      update(3, 'SCHEDULED', 'queued'),
      update(4, 'SENT_TO_SUPPLIER', 'sent'),
      update(5, 'DEVICE_ACK', 'delivered'),
      update(6, 'READ', 'delivered'),
      update(20, 'EXPIRED', 'failed', 'EXPIRED'),
      update(21, 'STOPPED_BY_USER', 'rejected', 'STOPPED_BY_USER'),
      update(22, 'STOPPED_BY_ADMIN', 'rejected', 'STOPPED_BY_ADMIN'),
      update(23, 'DELIVERY_FAILURE', 'failed', 'DELIVERY_FAILURE'),
      update(25, 'INSUFFICIENT_ACCOUNT_BALANCE', 'rejected', 'INSUFFICIENT_ACCOUNT_BALANCE'),
      update(28, 'VOLUME_LIMIT', 'rejected', 'VOLUME_LIMIT'),
      update(60, 'RECIPIENT_DOES_NOT_EXIST', 'rejected', 'RECIPIENT_DOES_NOT_EXIST'),
      update(100, 'ROUTING_ERROR', 'failed', 'ROUTING_ERROR'),
    ],
  },
}
