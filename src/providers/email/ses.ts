// Amazon SES, "SendEmail" of the v2 API.
// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
import { encodeWord } from 'nodemailer/lib/mime-funcs/index.js'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { signedForAws } from '../signing/aws-signature.ts'
import { filled, isInline, tagPairsOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { mailbox } from './mailbox.ts'
import { sesReceipts } from './ses-receipts.ts'

const ownMembers = ['FromEmailAddress', 'Destination', 'ReplyToAddresses', 'Content', 'EmailTags']
/** The daily quota, or a manual pause: neither ends within minutes. */
const longPauseMs = 3_600_000
/** RFC 2047 allows 75 characters per word, with its charset and encoding. */
const encodedWordLengthMax = 52
/** The most that a message may have. */
const tagsMax = 50

export const ses = httpProvider({
  id: 'ses',
  channel: 'email',
  name: 'Amazon SES',
  docsUrl: 'https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html',
  evidence: { source: 'vendor' },
  form: {
    apiKey: text('Access key id', { placeholder: 'AKIA…', mistake: ofVisibleAscii }),
    secretKey: secret('Secret access key', { mistake: ofVisibleAscii }),
    region: text('Region', {
      placeholder: 'eu-central-1',
      mistake: (value) =>
        /^[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}$/.test(value) ? undefined : 'must be a region such as eu-central-1',
    }),
    ...emailSender,
    token: optional(
      secret('Session token', {
        description: 'Only for temporary keys from AWS STS.',
        mistake: ofVisibleAscii,
      }),
    ),
    baseUrl: ownBaseUrl('Amazon'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'sender per message'],
  limits: { recipientsMax: 50, messageBytesMax: 40 * 1024 * 1024 },
  recipientMembers: ['Destination'],
  receipts: sesReceipts,
  probe: {
    request: (account) => ({ url: `${originOf(account)}/v2/email/account`, method: 'GET', headers: {} }),
    result(answer) {
      // The keys are valid; they just may not read the account.
      if (typeOf(answer) === 'AccessDeniedException') return good
      if (answer.status !== 200) return bad(errorWords(answer), answer.status === 403 ? 'secretKey' : undefined)
      return answer.flag('SendingEnabled') === false ? bad('Amazon has disabled sending for this account') : good
    },
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return {
      url: `${originOf(account)}/v2/email/outbound-emails`,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ ...settingsOf(message, ownMembers), ...bodyOf(email) }),
    }
  },

  sign: (request, { apiKey, secretKey, region, token }, now) =>
    signedForAws(
      request,
      { service: 'ses', region, accessKeyId: apiKey, secretAccessKey: secretKey, sessionToken: token },
      now,
    ),

  outcome: sesOutcome,
})

function originOf({ region, baseUrl }: { readonly region: string; readonly baseUrl?: string }): string {
  if (baseUrl !== undefined) return baseAddress(baseUrl)
  return `https://email.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

const inUtf8 = (data: string): object | undefined => (data === '' ? undefined : { Data: data, Charset: 'UTF-8' })

function bodyOf(email: AddressedEmail): object {
  return {
    FromEmailAddress: fromOf(email),
    Destination: filled({ ToAddresses: email.to, CcAddresses: email.cc, BccAddresses: email.bcc }),
    ...(email.replyTo === undefined ? {} : { ReplyToAddresses: [email.replyTo] }),
    Content: {
      Simple: filled({
        Subject: { Data: email.subject, Charset: 'UTF-8' },
        Body: filled({ Text: inUtf8(email.text), Html: inUtf8(email.html) }),
        Headers: Object.entries(email.headers).map(([Name, Value]) => ({ Name, Value })),
        Attachments: email.attachments.map(attachmentOf),
      }),
    },
    EmailTags: tagPairsOf(email, tagsMax).map(([Name, Value]) => ({ Name, Value })),
  }
}

/** Amazon writes it into the header as it is, so a non-ASCII name must be encoded already. */
function fromOf({ from, senderName = '' }: AddressedEmail): string {
  if (/^[\x20-\x7e]*$/.test(senderName)) return mailbox(from, senderName)
  return `${encodeWord(senderName, 'B', encodedWordLengthMax)} <${from}>`
}

function attachmentOf(attachment: AddressedEmail['attachments'][number]): object {
  const { name, mime, content, cid } = attachment
  return filled({
    RawContent: content,
    FileName: name,
    ContentType: mime,
    ContentDisposition: isInline(attachment) ? 'INLINE' : 'ATTACHMENT',
    ContentId: cid,
    ContentTransferEncoding: 'BASE64',
  })
}

/** `MessageRejected:http://…` in a header, `com.amazonaws…#MessageRejected` in some bodies. */
function typeOf(answer: ProviderAnswer): string {
  const given = answer.headers.get('x-amzn-errortype') ?? answer.string('__type') ?? ''
  return given.split(':')[0]?.split('#').at(-1) ?? ''
}

function errorWords(answer: ProviderAnswer): string {
  const type = typeOf(answer)
  const words = wordsOf('Amazon SES', answer, 'message', 'Message')
  return type === '' ? words : `${words} (${type})`
}

function sesOutcome(answer: ProviderAnswer, { from }: EmailMessage): Outcome {
  const words = errorWords(answer)
  if (answer.status === 200) {
    const id = answer.id('MessageId')
    return id === undefined ? unsure(words) : sent(id)
  }
  if (answer.status < 400) return outcomeOfStatus(answer, words)
  switch (typeOf(answer)) {
    case 'MessageRejected':
      // The account has not verified its sender; unless the message named another.
      if (from === undefined && /not verified/i.test(words)) return misconfigured(words)
      return refused('bad-content', words)
    case 'BadRequestException':
      return refused('bad-content', words)
    case 'MailFromDomainNotVerifiedException':
    case 'NotFoundException':
    case 'AccountSuspendedException':
    case 'UnrecognizedClientException':
    case 'InvalidClientTokenId':
    case 'SignatureDoesNotMatch':
    case 'InvalidSignatureException':
    case 'AccessDeniedException':
    case 'ExpiredTokenException':
      return misconfigured(words)
    case 'TooManyRequestsException':
    case 'ThrottlingException':
      return busy(words, retryAfterMsOf(answer))
    case 'LimitExceededException':
    case 'SendingPausedException':
      return busy(words, retryAfterMsOf(answer) ?? longPauseMs)
    default:
      return outcomeOfStatus(answer, words)
  }
}
