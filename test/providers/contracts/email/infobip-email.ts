// Infobip’s contract for e-mail.
import { infobipEmail } from '../../../../src/providers/email/infobip-email.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'ib-fake-key',
  baseUrl: 'https://abc12.api.infobip.com',
  from: 'hello@acme.test',
  senderName: 'Acme, Inc.',
  ipPoolName: 'pool-1',
  webhookUrl: 'https://hooks.example.test/email',
}
const ownId = '0197f3a0-0000-7000-8000-000000000009'
const failure = (status: number, messageId: string) => ({
  status,
  body: { requestError: { serviceException: { messageId, text: 'words' } } },
})
const entry = (groupId: number, groupName: string, name: string, messageId = 'jgz-1') => ({
  to: 'zoe@example.org',
  messageId,
  status: { groupId, groupName, id: 26, name, description: `${name} in words` },
})
const taken = (...messages: object[]) => ({ status: 200, body: { bulkId: 'snx', messages } })
const pending = entry(1, 'PENDING', 'PENDING_ACCEPTED')
const rejected = (name: string) => entry(5, 'REJECTED', name, 'jgz-2')
const report = (groupName: string, more: object = {}) => ({
  bulkId: 'snx',
  messageId: 'jgz-1',
  to: 'zoe@example.org',
  doneAt: '2026-01-01T12:00:00.000+0000',
  callbackData: ownId,
  status: { groupName },
  ...more,
})
const about = {
  messageId: ownId,
  providerMessageId: 'jgz-1',
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:00Z'),
}
const deliveries = (
  [
    ['PENDING', 'queued'],
    ['DELIVERED', 'delivered'],
    ['EXPIRED', 'failed'],
    ['REJECTED', 'rejected'],
  ] as const
).map(([name, status]) => ({ name, call: { body: { results: [report(name)] } }, expected: [{ ...about, status }] }))
const trackings = (
  [
    ['OPENED', 'opened'],
    ['CLICKED', 'clicked'],
    ['UNSUBSCRIBED', 'unsubscribed'],
    ['COMPLAINED', 'complained'],
  ] as const
).map(([notificationType, status]) => ({
  name: notificationType,
  call: {
    body: {
      notificationType,
      messageId: 'jgz-1',
      recipient: 'zoe@example.org',
      sendDateTime: 1_767_268_800_000,
      callbackData: ownId,
    },
  },
  expected: [{ ...about, status }],
}))

export const contract: ProviderContract = {
  provider: infobipEmail,
  account,
  message: { customData: { trackOpens: false, templateId: 7, To: 'eve@example.org' } },
  variants: [{ name: 'an address without a scheme', account: { ...account, baseUrl: 'abc12.api.infobip.com/' } }],
  success: { answer: taken(pending), id: 'jgz-1' },
  successes: [['one of them was turned down', taken(rejected('REJECTED_DESTINATION'), pending), 'jgz-1']],
  errors: [
    ['malformed', failure(400, 'BAD_REQUEST'), 'refused: bad-content'],
    [
      'malformed, as v4 says it',
      { status: 400, body: { errorCode: 'E400', description: 'no' } },
      'refused: bad-content',
    ],
    ['a wrong key', failure(401, 'UNAUTHORIZED'), 'misconfigured'],
    ['a key that may not', failure(403, 'FORBIDDEN'), 'misconfigured'],
    ['too fast', { ...failure(429, 'TOO_MANY_REQUESTS'), headers: { 'retry-after': '2' } }, 'busy', 2_000],
    ['an internal failure', failure(500, 'GENERAL_ERROR'), 'busy'],
    ['undeliverable', taken(entry(2, 'UNDELIVERABLE', 'UNDELIVERABLE_REJECTED_OPERATOR')), 'refused: other'],
    ['a bad address', taken(rejected('REJECTED_DESTINATION')), 'refused: bad-recipient'],
    ['someone who wants no more', taken(rejected('REJECTED_DND')), 'refused: opted-out'],
    ['nothing left to spend', taken(rejected('REJECTED_NOT_ENOUGH_CREDITS')), 'misconfigured'],
    ['rejected otherwise', taken(rejected('REJECTED_SYSTEM_ERROR')), 'refused: other'],
    ['a success without messages', taken(), 'unsure'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a key', { status: 200, body: { results: [] } }, 'good'],
    ['a key that may only send', failure(403, 'FORBIDDEN'), 'good'],
    ['a wrong key', failure(401, 'UNAUTHORIZED'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
  receipts: {
    key: 'infobip-callback-key',
    cases: [
      ...deliveries,
      ...trackings,
      {
        name: 'bounced for good, and for now',
        call: {
          body: {
            results: [
              report('UNDELIVERABLE', { error: { name: 'EC_NO_MAILBOX', permanent: true }, smtp: { response: '550' } }),
              report('UNDELIVERABLE', { error: { name: 'EC_FULL', permanent: false } }),
              report('RENAMED'),
            ],
          },
        },
        expected: [
          { ...about, status: 'bounced', words: '550' },
          { ...about, status: 'deferred', words: 'EC_FULL' },
        ],
      },
    ],
  },
}
