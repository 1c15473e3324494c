// Infobip’s contract, for SMS.
import { infobipSms } from '../../../../src/providers/sms/infobip-sms.ts'
import type { ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const groups = ['OK', 'PENDING', 'UNDELIVERABLE', 'DELIVERED', 'EXPIRED', 'REJECTED']
const entry = (groupId: number, name: string, id: string | undefined = messageId) => ({
  messageId: id,
  status: { groupId, groupName: groups[groupId], id: 1, name, description: 'words' },
  destination: '447700900123',
  details: { messageCount: 1 },
})
const said = (...messages: object[]) => ({ status: 200, body: { bulkId: '2034072219640523072', messages } })
const rejected = (name: string) => said(entry(5, name))
const fault = (status: number, ...properties: string[]) => ({
  status,
  body: {
    errorCode: `E${status}`,
    description: 'words',
    action: 'Check it.',
    violations: properties.map((property) => ({ property, violation: 'is wrong' })),
    resources: [],
  },
})

function report(groupName: string, reported: string | undefined, words?: string, name = `${groupName}_X`): ReceiptCase {
  return {
    name: groupName,
    call: {
      body: {
        results: [
          {
            bulkId: 'b-1',
            messageId,
            to: '447700900123',
            sentAt: '2024-01-02T02:04:00.000+0000',
            doneAt: '2024-01-02T02:04:05.000+0000',
            messageCount: 1,
            status: { groupId: 1, groupName, id: 1, name },
            error: { groupId: 0, name: 'EC_X', description: 'why', permanent: true },
            callbackData: messageId,
          },
        ],
      },
    },
    expected:
      reported === undefined
        ? []
        : [
            {
              status: reported as never,
              messageId,
              providerMessageId: messageId,
              address: '447700900123',
              at: new Date('2024-01-02T02:04:05Z'),
              ...(words === undefined ? {} : { words }),
            },
          ],
  }
}

const account = { apiKey: 'fake-infobip-key', baseUrl: 'abc12.api.infobip.com', from: 'Acme' }
const second = '0197f3a0-0000-7000-8000-000000000012'

export const contract: ProviderContract = {
  provider: infobipSms,
  account: { ...account, webhookUrl: 'https://hooks.example.test/sms?token=inbound-key' },
  message: {
    customData: {
      options: { validityPeriod: { amount: 5, timeUnit: 'MINUTES' } },
      Destinations: [{ to: '999' }],
    },
  },
  variants: [
    {
      name: 'by a proxy',
      account: { ...account, baseUrl: 'http://10.0.0.1:8080/infobip/' },
      message: { from: undefined },
    },
  ],
  success: { answer: said(entry(1, 'PENDING_ACCEPTED')), id: messageId },
  successes: [
    ['delivered at once', said(entry(3, 'DELIVERED_TO_HANDSET', 'other')), 'other'],
    ['one that it has already', rejected('REJECTED_DUPLICATE_MESSAGE_ID'), messageId],
  ],
  errors: [
    ['a network that the account has not', rejected('REJECTED_NETWORK'), 'misconfigured'],
    ['no credits', rejected('REJECTED_NOT_ENOUGH_CREDITS'), 'misconfigured'],
    ['a package that expired', rejected('REJECTED_PREPAID_PACKAGE_EXPIRED'), 'misconfigured'],
    ['a trial', rejected('REJECTED_DESTINATION_NOT_REGISTERED'), 'misconfigured'],
    ['no route', rejected('REJECTED_ROUTE_NOT_AVAILABLE'), 'misconfigured'],
    ['a sender that is not registered', rejected('REJECTED_SOURCE'), 'refused: bad-content'],
    ['a sender that is blocked', rejected('REJECTED_SENDER'), 'refused: bad-content'],
    ['a prefix', rejected('REJECTED_PREFIX_MISSING'), 'refused: bad-recipient'],
    ['a destination', rejected('REJECTED_DESTINATION'), 'refused: bad-recipient'],
    ['nobody', rejected('MISSING_TO'), 'refused: bad-recipient'],
    ['do not disturb', rejected('REJECTED_DND'), 'refused: other'],
    ['a blocked destination', rejected('REJECTED_DESTINATION_BLOCKLISTED'), 'refused: opted-out'],
    ['too long', rejected('REJECTED_MESSAGE_TOO_LONG'), 'refused: bad-content'],
    ['a header', rejected('REJECTED_INVALID_UDH'), 'refused: bad-content'],
    ['an error of its own, worded politely', rejected('REJECTED_SYSTEM_ERROR'), 'busy'],
    ['too much for one number', rejected('REJECTED_FLOODING_FILTER'), 'refused: other'],
    ['undeliverable', said(entry(2, 'UNDELIVERABLE_NOT_DELIVERED')), 'refused: other'],
    ['expired', said(entry(4, 'EXPIRED_EXPIRED')), 'refused: other'],
    ['a group that says nothing', said(entry(0, 'OK')), 'unsure'],
    ['no message', said(), 'unsure'],
    ['a wrong number', fault(400, 'messages[0].destinations[0].to'), 'refused: bad-recipient'],
    ['a wrong sender', fault(400, 'messages[0].sender'), 'refused: bad-content'],
    ['a wrong text', fault(400, 'messages[0].content.text'), 'refused: bad-content'],
    ['something else', fault(400), 'refused: other'],
    ['a wrong key', fault(401), 'misconfigured'],
    ['no rights', fault(403), 'misconfigured'],
    ['too fast', { ...fault(429), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['an error of its own', fault(500), 'busy'],
    [
      'a wrong key, by an older endpoint',
      { status: 401, body: { requestError: { serviceException: { messageId: 'UNAUTHORIZED', text: 'words' } } } },
      'misconfigured',
    ],
  ],
  check: [
    ['a balance', { status: 200, body: { balance: 47.8, currency: 'EUR' } }, 'good'],
    ['a wrong key', fault(401), 'bad: apiKey'],
    ['no rights', fault(403), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  batch: {
    messages: [
      { customData: undefined },
      { customData: undefined, id: second, to: '+447700900124', content: 'Another text' },
      { customData: undefined, id: '0197f3a0-0000-7000-8000-000000000022' },
    ],
    answer: said(entry(5, 'REJECTED_DND', second), entry(1, 'PENDING_ACCEPTED')),
    kinds: ['sent', 'refused: other', 'unsure'],
  },
  receipts: {
    key: 'infobip-webhook-key',
    cases: [
      report('DELIVERED', 'delivered'),
      report('DELIVERED', 'sent', undefined, 'DELIVERED_TO_OPERATOR'),
      report('PENDING', 'sent'),
      report('UNDELIVERABLE', 'failed', 'UNDELIVERABLE_X: why'),
      report('EXPIRED', 'failed', 'EXPIRED_X: why'),
      report('REJECTED', 'failed', 'REJECTED_X: why'),
      report('PONDERED', undefined),
    ],
  },
}
