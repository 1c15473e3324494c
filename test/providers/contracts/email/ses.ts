// Amazon SES’s contract.
import { sign } from 'node:crypto'
import { ses } from '../../../../src/providers/email/ses.ts'
import { selfSigned } from '../../../support/certificates.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'AKIAFAKE',
  secretKey: 'very-secret-access-key',
  region: 'eu-central-1',
  from: 'hello@acme.test',
  senderName: 'Acme, Inc.',
}
const topic = 'arn:aws:sns:eu-central-1:123456789012:posthorn'
const certificateUrl = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0001.pem'
const amazon = selfSigned('sns.amazonaws.com')
const newSubscriber = selfSigned('sns.amazonaws.com')

const failure = (status: number, type: string, body: object = { message: 'words' }) => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
  body,
})

interface Envelope {
  readonly more?: Readonly<Record<string, string>>
  readonly version?: '1' | '2'
  readonly key?: typeof amazon.key
  readonly query?: string
}

function envelope({ more = {}, version = '2', key = amazon.key, query = '' }: Envelope): ContractCall {
  const members: Record<string, string> = {
    Type: 'Notification',
    TopicArn: topic,
    Timestamp: '2026-01-01T12:00:00.000Z',
    SigningCertURL: certificateUrl,
    ...more,
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  }
  const isNotification = members['Type'] === 'Notification'
  const names = isNotification
    ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
    : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names.flatMap((name) => (members[name] === undefined ? [] : [`${name}\n${members[name]}\n`])).join('')
  const Signature = sign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256', Buffer.from(text), key).toString('base64')
  return {
    query,
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
    body: JSON.stringify({ SignatureVersion: version, Signature, ...members }),
  }
}

const mail = {
  messageId: '0107-1',
  timestamp: '2026-01-01T11:59:00.000Z',
  destination: ['zoe@example.org'],
  tags: { message_id: ['0197f3a0-0000-7000-8000-000000000009'] },
}
const event = (eventType: string, more: object, change: Envelope = {}): ContractCall =>
  envelope({ ...change, more: { Message: JSON.stringify({ eventType, mail, ...more }), ...change.more } })
const about = {
  messageId: '0197f3a0-0000-7000-8000-000000000009',
  providerMessageId: '0107-1',
  address: 'zoe@example.org',
}
const at = new Date('2026-01-01T12:00:00.000Z')
const timestamp = '2026-01-01T12:00:00.000Z'
const subscribeUrl = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc'
const question = (more: Record<string, string> = {}, change: Envelope = {}): ContractCall =>
  envelope({
    ...change,
    more: { Type: 'SubscriptionConfirmation', Token: 'abc', Message: 'Sure?', SubscribeURL: subscribeUrl, ...more },
  })

export const contract: ProviderContract = {
  provider: ses,
  account,
  message: { customData: { ConfigurationSetName: 'events', Destination: { ToAddresses: ['eve@example.org'] } } },
  variants: [
    { name: 'in China', account: { ...account, region: 'cn-north-1' } },
    { name: 'with a key that is lent for a while', account: { ...account, token: 'session-token-0001' } },
    {
      name: 'at another address, with a name beyond ASCII',
      account: { ...account, baseUrl: 'https://vpce-1.email.eu-central-1.vpce.amazonaws.com/' },
      message: { senderName: 'Zoë & Söhne', metadata: { workflow: 'not a tag' } },
    },
  ],
  success: { answer: { status: 200, body: { MessageId: '0107019a-000000' } }, id: '0107019a-000000' },
  errors: [
    ['rejected', failure(400, 'MessageRejected'), 'refused: bad-content'],
    [
      'a sender that is not verified',
      failure(400, 'MessageRejected', { message: 'Email address is not verified. The following identities failed' }),
      'misconfigured',
    ],
    ['malformed', failure(400, 'BadRequestException', { Message: 'words' }), 'refused: bad-content'],
    ['a MAIL FROM domain that is not verified', failure(400, 'MailFromDomainNotVerifiedException'), 'misconfigured'],
    ['no such configuration set', failure(404, 'NotFoundException'), 'misconfigured'],
    ['a suspended account', failure(400, 'AccountSuspendedException'), 'misconfigured'],
    ['an unknown key', failure(403, 'UnrecognizedClientException'), 'misconfigured'],
    ['an invalid key', failure(403, 'InvalidClientTokenId'), 'misconfigured'],
    ['a wrong secret', failure(403, 'SignatureDoesNotMatch'), 'misconfigured'],
    ['an invalid signature', failure(403, 'InvalidSignatureException'), 'misconfigured'],
    ['a key that may not send', failure(403, 'AccessDeniedException'), 'misconfigured'],
    ['an old session token', failure(403, 'ExpiredTokenException'), 'misconfigured'],
    ['too fast', failure(429, 'TooManyRequestsException'), 'busy'],
    ['throttled', { status: 400, body: { __type: 'com.amazon.coral#ThrottlingException', message: 'Rate' } }, 'busy'],
    ['the day’s quota', failure(400, 'LimitExceededException'), 'busy', 3_600_000],
    ['sending is paused', failure(400, 'SendingPausedException'), 'busy', 3_600_000],
    ['an internal failure', failure(500, 'InternalFailure'), 'busy'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
    ['a success without an id', { status: 200, body: {} }, 'unsure'],
  ],
  check: [
    ['an account that sends', { status: 200, body: { SendingEnabled: true } }, 'good'],
    ['one that may not', { status: 200, body: { SendingEnabled: false } }, 'bad'],
    ['keys that may not look', failure(403, 'AccessDeniedException'), 'good'],
    ['a wrong secret', failure(403, 'SignatureDoesNotMatch'), 'bad: secretKey'],
    ['Amazon is down', failure(500, 'InternalFailure'), 'bad'],
  ],
  receipts: {
    key: topic,
    now: '2026-01-01T12:01:00.000Z',
    fetches: ({ url }) =>
      url === certificateUrl
        ? { status: 200, body: amazon.certificate }
        : url === subscribeUrl
          ? { status: 200, body: '<ConfirmSubscriptionResponse/>' }
          : url.endsWith('somebody.pem')
            ? { status: 200, body: newSubscriber.certificate }
            : { status: 404 },
    cases: [
      {
        name: 'sent',
        call: event('Send', { send: {} }),
        expected: [{ ...about, status: 'sent', at: new Date(mail.timestamp) }],
      },
      {
        name: 'delivered to two, signed with SHA-1',
        call: event(
          'Delivery',
          { delivery: { timestamp, recipients: ['zoe@example.org', 'yan@example.org'], smtpResponse: '250 ok' } },
          { version: '1' },
        ),
        expected: [
          { ...about, status: 'delivered', at, words: '250 ok' },
          { ...about, status: 'delivered', address: 'yan@example.org', at, words: '250 ok' },
        ],
      },
      {
        name: 'delayed',
        call: event('DeliveryDelay', {
          deliveryDelay: {
            timestamp,
            delayType: 'TransientCommunicationFailure',
            delayedRecipients: [{ emailAddress: 'zoe@example.org', diagnosticCode: 'smtp; 450' }],
          },
        }),
        expected: [{ ...about, status: 'deferred', at, words: 'smtp; 450' }],
      },
      {
        name: 'bounced for good',
        call: event('Bounce', {
          bounce: {
            bounceType: 'Permanent',
            bounceSubType: 'General',
            timestamp,
            bouncedRecipients: [{ emailAddress: 'zoe@example.org', diagnosticCode: 'smtp; 550 5.1.1' }],
          },
        }),
        expected: [{ ...about, status: 'bounced', at, words: 'smtp; 550 5.1.1' }],
      },
      {
        name: 'bounced for now, as an identity’s notification without tags',
        call: envelope({
          more: {
            Subject: 'Amazon SES Email Event Notification',
            Message: JSON.stringify({
              notificationType: 'Bounce',
              mail: { messageId: '0107-1' },
              bounce: {
                bounceType: 'Transient',
                bounceSubType: 'MailboxFull',
                bouncedRecipients: [{ emailAddress: 'zoe@example.org' }],
              },
            }),
          },
        }),
        expected: [
          { providerMessageId: '0107-1', address: 'zoe@example.org', status: 'deferred', words: 'MailboxFull' },
        ],
      },
      {
        name: 'complained of',
        call: event('Complaint', {
          complaint: {
            timestamp,
            complainedRecipients: [{ emailAddress: 'zoe@example.org' }],
            complaintFeedbackType: 'abuse',
          },
        }),
        expected: [{ ...about, status: 'complained', at, words: 'abuse' }],
      },
      {
        name: 'rejected',
        call: event('Reject', { reject: { reason: 'Bad content' } }),
        expected: [{ ...about, status: 'rejected', at: new Date(mail.timestamp), words: 'Bad content' }],
      },
      {
        name: 'a template that could not be filled in',
        call: event('Rendering Failure', { failure: { errorMessage: 'no name', templateName: 't' } }),
        expected: [{ ...about, status: 'failed', at: new Date(mail.timestamp), words: 'no name' }],
      },
      {
        name: 'opened',
        call: event('Open', { open: { timestamp, ipAddress: '192.0.2.1' } }),
        expected: [{ ...about, status: 'opened', at }],
      },
      {
        name: 'clicked',
        call: event('Click', { click: { timestamp, link: 'https://acme.test/7' } }),
        expected: [{ ...about, status: 'clicked', at, words: 'https://acme.test/7' }],
      },
      {
        name: 'unsubscribed',
        call: event('Subscription', {
          subscription: { timestamp, newTopicPreferences: { unsubscribeAll: true } },
        }),
        expected: [{ ...about, status: 'unsubscribed', at }],
      },
      {
        name: 'subscribed again',
        call: event('Subscription', {
          subscription: { timestamp, newTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] } },
        }),
        expected: [],
      },
      { name: 'an event of another kind', call: event('Renamed', {}), expected: [] },
      {
        name: 'the subscription has ended',
        call: envelope({ more: { Type: 'UnsubscribeConfirmation', Token: 'abc', Message: 'Gone' } }),
        expected: [],
      },
    ],
    unbelievable: [
      { name: 'signed by someone', call: event('Send', {}, { key: newSubscriber.key }) },
      {
        name: 'signed for another customer of Amazon’s',
        call: event('Send', {}, { more: { TopicArn: 'arn:aws:sns:eu-central-1:666:posthorn' } }),
      },
      {
        name: 'with a certificate from elsewhere',
        call: event(
          'Send',
          {},
          {
            key: newSubscriber.key,
            more: { SigningCertURL: 'https://sns.eu-central-1.amazonaws.com.evil.test/somebody.pem' },
          },
        ),
      },
      ...['sns.s3.amazonaws.com', 'sns.s3-us-west-2.amazonaws.com', 'sns.us-east-1.amazonaws.com.evil.test'].map(
        (host) => ({
          name: `with a certificate that anyone may have put at ${host}`,
          call: event(
            'Send',
            {},
            {
              key: newSubscriber.key,
              more: { SigningCertURL: `https://${host}/SimpleNotificationService-5.pem?somebody.pem` },
            },
          ),
        }),
      ),
      {
        name: 'with a certificate that travelled in the clear',
        call: event('Send', {}, { more: { SigningCertURL: certificateUrl.replace('https', 'http') } }),
      },
      {
        name: 'with something else than a certificate',
        call: event('Send', {}, { more: { SigningCertURL: certificateUrl.replace('.pem', '.txt') } }),
      },
      {
        name: 'with a certificate that is not there',
        call: event('Send', {}, { more: { SigningCertURL: certificateUrl.replace('0001', '0002') } }),
      },
      { name: 'hours old', call: event('Send', {}, { more: { Timestamp: '2026-01-01T09:00:00.000Z' } }) },
      { name: 'a question is no report', call: question() },
    ],
    greetings: [
      { name: 'a subscription to confirm', call: question(), answer: 'confirmed' },
      { name: 'one that someone signed', call: question({}, { key: newSubscriber.key }), answer: undefined },
      {
        name: 'one that leads elsewhere',
        call: question({ SubscribeURL: 'https://evil.test/?Action=ConfirmSubscription' }),
        answer: undefined,
      },
      {
        name: 'one that Amazon does not take',
        call: question({ SubscribeURL: `${subscribeUrl}-old` }),
        answer: undefined,
      },
      { name: 'one of another topic', call: question({ TopicArn: `${topic}-2` }), answer: undefined },
      { name: 'a report is no question', call: event('Send', {}), answer: undefined },
    ],
  },
}
