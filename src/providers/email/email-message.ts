// An e-mail made ready for any vendor: who it is from, each recipient once, and nothing in it that could forge a header.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { emailCopy } from '../../domain/messages/outbound-message.ts'
import { ofEmailAddress, ofOneLine } from '../form.ts'
import type { Feature } from '../provider.ts'

/** What vendors support that support everything in an e-mail; most of them do, and a little more. */
export const wholeEmail = [
  'several recipients',
  'cc and bcc',
  'reply-to',
  'attachments',
  'inline images',
  'headers',
] as const satisfies readonly Feature[]

/** The message with what the account adds to it. */
export type AddressedEmail = EmailMessage & { readonly from: string }

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const mimeType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(; ?[\w.+-]{1,50}=("[^"\p{Cc}]{0,200}"|[\w.+-]{1,200})){0,5}$/u
/** What other fields of the message, or its transport, determine. */
const ownHeaders: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'return-path',
  'received',
  'dkim-signature',
])

interface Sender {
  readonly from?: string
  readonly senderName?: string
}

/** The message with the account's sender if it has none of its own; an Outcome if it cannot be sent as it is. */
export function prepared(message: EmailMessage, account: Sender): EmailMessage | Outcome {
  const from = message.from ?? account.from
  const senderName = message.senderName ?? account.senderName
  const seen = new Set<string>()
  const once = (addresses: readonly string[]): string[] =>
    addresses.filter((address) => {
      const isFirst = !seen.has(address.toLowerCase())
      seen.add(address.toLowerCase())
      return isFirst
    })
  const email = emailCopy(message.id, message)
  if (from !== undefined) email.from = from
  if (senderName !== undefined) email.senderName = senderName
  email.to = once(message.to)
  email.cc = once(message.cc)
  email.bcc = once(message.bcc)
  return mistakeIn(email) ?? email
}

/** `prepared`, for vendors that need a sender. */
export function addressed(message: EmailMessage, account: Sender): AddressedEmail | Outcome {
  const email = prepared(message, account)
  if ('kind' in email) return email
  if (!isAddressed(email)) return misconfigured('Neither the message nor the integration has a from address')
  return email
}

const isAddressed = (email: EmailMessage): email is AddressedEmail => email.from !== undefined

/** The domain of an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function mistakeIn(email: EmailMessage): Outcome | undefined {
  if (email.to.length === 0) return refused('bad-recipient', 'The message has no recipient')
  const isWrong = (address: string | undefined): boolean =>
    address !== undefined && ofEmailAddress(address) !== undefined
  const wrong = email.to.find(isWrong) ?? email.cc.find(isWrong) ?? email.bcc.find(isWrong)
  if (wrong !== undefined) return refused('bad-recipient', `"${wrong}" is not an e-mail address`)
  if (isWrong(email.from)) return refused('bad-content', `The from address "${email.from}" is not an e-mail address`)
  if (isWrong(email.replyTo)) {
    return refused('bad-content', `The reply-to address "${email.replyTo}" is not an e-mail address`)
  }
  if (email.text === '' && email.html === '') return refused('bad-content', 'The message has neither text nor HTML')
  return mistakeInLines(email) ?? mistakeInHeaders(email) ?? mistakeInAttachments(email)
}

function mistakeInLines(email: EmailMessage): Outcome | undefined {
  for (const [what, line] of [
    ['subject', email.subject],
    ['sender name', email.senderName ?? ''],
  ] as const) {
    const mistake = ofOneLine(line)
    if (mistake !== undefined) return refused('bad-content', `The ${what} ${mistake}`)
  }
  return undefined
}

function mistakeInHeaders(email: EmailMessage): Outcome | undefined {
  for (const [name, value] of Object.entries(email.headers)) {
    if (!headerName.test(name)) return refused('bad-content', `"${name.slice(0, 100)}" is not a valid header name`)
    if (ownHeaders.has(name.toLowerCase())) {
      return refused('bad-content', `The header ${name} cannot be set: it is derived from the rest of the message`)
    }
    const mistake = ofOneLine(value)
    if (mistake !== undefined) return refused('bad-content', `The header ${name} ${mistake}`)
  }
  return undefined
}

function mistakeInAttachments(email: EmailMessage): Outcome | undefined {
  for (const { name, mime, cid } of email.attachments) {
    const mistake = ofOneLine(name) ?? ofOneLine(cid ?? '')
    if (mistake !== undefined) return refused('bad-content', `The name of an attachment ${mistake}`)
    if (!mimeType.test(mime))
      return refused('bad-content', `The attachment "${name}" has no MIME type such as text/plain`)
  }
  return undefined
}
