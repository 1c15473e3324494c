// Mailtrap’s contract.
import { createHmac } from 'node:crypto'
import { mailtrap } from '../../../../src/providers/email/mailtrap.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'mt-fake-token',
  from: 'hello@acme.test',
  senderName: 'Acme',
  secretKey: 'mailtrap-signing-secret',
}
const ownId = '0197f3a0-0000-7000-8000-000000000009'
const failure = (status: number, ...errors: string[]) => ({ status, body: { success: false, errors } })
const event = (name: string, more: object = {}): object => ({
  event: name,
  message_id: '0c7fd939',
  event_id: 'ev-1',
  email: 'zoe@example.org',
  custom_variables: { message_id: ownId },
  timestamp: 1_767_268_800,
  ...more,
})
function signed(body: string, key = account.secretKey): ContractCall {
  return { headers: { 'Mailtrap-Signature': createHmac('sha256', key).update(body).digest('hex') }, body }
}
const about = {
  messageId: ownId,
  providerMessageId: '0c7fd939',
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:00Z'),
}
const reads = (
  [
    ['delivery', 'delivered'],
    ['soft bounce', 'deferred'],
    ['soft_bounce', 'deferred'],
    ['bounce', 'bounced'],
    ['suspension', 'deferred'],
    ['reject', 'rejected'],
    ['open', 'opened'],
    ['click', 'clicked'],
    ['spam', 'complained'],
    ['spam_complaint', 'complained'],
    ['unsubscribe', 'unsubscribed'],
  ] as const
).map(([name, status]) => ({
  name,
  call: signed(JSON.stringify({ events: [event(name)] })),
  expected: [{ ...about, status }],
}))

export const contract: ProviderContract = {
  provider: mailtrap,
  account,
  message: { customData: { template_uuid: 'tpl-1', kind: 'sent', cc: [{ email: 'eve@example.org' }] } },
  variants: [
    { name: 'into a sandbox', account: { ...account, instanceId: '12345' } },
    { name: 'by the bulk stream', account: { ...account, baseUrl: 'https://bulk.api.mailtrap.io' } },
  ],
  success: { answer: { status: 200, body: { success: true, message_ids: ['0c7fd939', '0c7fd940'] } }, id: '0c7fd939' },
  errors: [
    ['malformed', failure(400, '’subject’ is required', 'no body'), 'refused: bad-content'],
    ['a wrong token', failure(401, 'Unauthorized'), 'misconfigured'],
    ['a token that may not', failure(403, 'Forbidden'), 'misconfigured'],
    ['as account hosts say it', { status: 403, body: { errors: 'Access forbidden' } }, 'misconfigured'],
    ['too fast', failure(429, 'Too many requests'), 'busy'],
    ['an internal failure', failure(500, 'Internal error'), 'busy'],
    ['a failure within a success', failure(200, 'no'), 'refused: bad-content'],
    ['a success without an id', { status: 200, body: { success: true, message_ids: [] } }, 'unsure'],
  ],
  check: [
    ['it finds fault with an empty message', failure(400, '’to’ is required'), 'good'],
    ['a wrong token', failure(401, 'Unauthorized'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
  batch: {
    messages: [
      { attachments: [], to: ['zoe@example.org'] },
      { attachments: [], to: ['bad@example.org'], id: '0197f3a0-0000-7000-8000-000000000005' },
      { attachments: [], to: ['yan@example.org'], id: '0197f3a0-0000-7000-8000-000000000006' },
    ],
    answer: {
      status: 200,
      body: {
        success: true,
        responses: [
          { success: true, message_ids: ['a'] },
          { success: false, errors: ['no such domain'] },
          { success: true },
        ],
      },
    },
    kinds: ['sent', 'refused: bad-content', 'unsure'],
  },
  receipts: {
    cases: [
      ...reads,
      {
        name: 'one a line, with reasons',
        call: signed(
          [event('bounce', { response: '550 no' }), event('reject', { reason: 'suppressed' }), event('renamed')]
            .map((one) => JSON.stringify(one))
            .join('\n'),
        ),
        expected: [
          { ...about, status: 'bounced', words: '550 no' },
          { ...about, status: 'rejected', words: 'suppressed' },
        ],
      },
    ],
    unbelievable: [{ name: 'another key', call: signed('{"events":[]}', 'another-signing-secret') }],
  },
}
