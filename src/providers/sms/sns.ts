// Amazon SNS, "Publish" to a phone number.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { xmlText } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { signedForAws } from '../signing/aws-signature.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

const senderName = 'AWS.SNS.SMS.SenderID'
const senderNumber = 'AWS.MM.SMS.OriginationNumber'

/** Those that determine recipient, content or sender, or are not settings of a message. */
const ownNames = [
  'Action',
  'Version',
  'PhoneNumber',
  'TopicArn',
  'TargetArn',
  'Message',
  'MessageStructure',
  senderName,
  senderNumber,
]

const codes = codeTable({
  account: [
    'InvalidClientTokenId',
    'SignatureDoesNotMatch',
    'AuthorizationError',
    'AccessDenied',
    'InvalidSecurity',
    'KMSAccessDenied',
    'KMSDisabled',
    'KMSInvalidState',
    'KMSNotFound',
    'KMSOptInRequired',
  ],
  busy: ['Throttling', 'ThrottlingException', 'Throttled', 'KMSThrottling', 'InternalError', 'ServiceUnavailable'],
  'opted-out': ['OptedOut'],
  // Which parameter it is appears only in the text.
  other: ['InvalidParameter', 'InvalidParameterValue', 'ParameterValueInvalid'],
})

export const sns = httpProvider({
  id: 'sns',
  channel: 'sms',
  name: 'Amazon SNS',
  docsUrl: 'https://docs.aws.amazon.com/sns/latest/api/API_Publish.html',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: text('Access key ID', { placeholder: 'AKIA…', mistake: ofVisibleAscii }),
    secretKey: secret('Secret access key'),
    region: text('Region', {
      placeholder: 'eu-central-1',
      mistake: (value) =>
        /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/.test(value) ? undefined : 'must be a region such as eu-central-1',
    }),
    token: optional(secret('Session token', { description: 'Only for temporary credentials.' })),
    from: optional(
      text('From', { description: 'A sender ID, or a number of the account in E.164. Default: chosen by Amazon.' }),
    ),
  },

  recipientMembers: ['PhoneNumber', 'TopicArn', 'TargetArn', 'Action'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return requestTo(account, {
      Action: 'Publish',
      Version: '2010-03-31',
      PhoneNumber: internationalOf(message.to),
      Message: message.content,
      ...attributesOf(message, senderOf(message, account)),
    })
  },

  sign: (request, { apiKey, secretKey, region, token }, now) =>
    signedForAws(
      request,
      { service: 'sns', region, accessKeyId: apiKey, secretAccessKey: secretKey, sessionToken: token },
      now,
    ),

  outcome,

  probe: {
    request: (account) => requestTo(account, { Action: 'GetSMSAttributes', Version: '2010-03-31' }),
    result: attributes,
  },
})

function requestTo({ region }: { readonly region: string }, parameters: Record<string, string>): OutboundRequest {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return {
    url: `https://sns.${region}.${domain}/`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    // As RFC 3986 writes a space.
    body: new URLSearchParams(parameters).toString().replaceAll('+', '%20'),
  }
}

/** The sender, and what the caller sets: attributes such as `AWS.SNS.SMS.SMSType`, or else parameters of the call. */
function attributesOf(message: SmsMessage, sender: string): Record<string, string> {
  const settings = Object.entries(settingsOf(message, ownNames)).filter(
    ([name]) => !name.startsWith('MessageAttributes'),
  )
  const isAttribute = ([name]: [string, unknown]): boolean => name.startsWith('AWS.')
  const ofSender: [string, unknown][] =
    sender === '' ? [] : [[/^\+?\d+$/.test(sender) ? senderNumber : senderName, sender]]
  const attributes = [...ofSender, ...settings.filter(isAttribute)].flatMap(([name, value], index) => {
    const entry = `MessageAttributes.entry.${index + 1}`
    return [
      [`${entry}.Name`, name],
      [`${entry}.Value.DataType`, typeof value === 'number' ? 'Number' : 'String'],
      [`${entry}.Value.StringValue`, String(value)],
    ]
  })
  const parameters = settings.filter((setting) => !isAttribute(setting)).map(([name, value]) => [name, String(value)])
  return Object.fromEntries([...attributes, ...parameters])
}

const codeOf = (answer: ProviderAnswer): string | undefined => xmlText(answer.body, 'Code')

function words(answer: ProviderAnswer): string {
  const [code, said] = [codeOf(answer), xmlText(answer.body, 'Message')]
  return code === undefined
    ? wordsOf('Amazon SNS', answer)
    : `Amazon SNS answered ${answer.status}: ${said ?? ''} (${code})`
}

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  if (answer.status === 200) {
    const id = xmlText(answer.body, 'MessageId')
    return id === undefined || id === '' ? unsure(words(answer)) : sent(id)
  }
  // It also reports with 400 that it is too busy.
  const ofCode = outcomeOfCode(codes, codeOf(answer), words(answer), answer, message)
  if (ofCode !== undefined && answer.status < 500) return ofCode
  return outcomeOfStatus(answer, words(answer))
}

function attributes(answer: ProviderAnswer): CheckResult {
  if (answer.status === 200) return good
  const code = codeOf(answer)
  if (code === 'InvalidClientTokenId') return bad(words(answer), 'apiKey')
  if (code === 'SignatureDoesNotMatch') return bad(words(answer), 'secretKey')
  // A key that may not read the settings is valid, only restricted.
  return code === 'AuthorizationError' || code === 'AccessDenied' ? good : bad(words(answer))
}
