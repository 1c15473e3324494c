// Sending by SMTP and checking an account: what all kinds of mail servers share.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, withheld } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { World } from '../../world/world.ts'
import { emailSender, flag, object, ofHost, ofPort, optional, secret, text } from '../form.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good, sendTimeoutMs } from '../provider.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'
import { sendBySmtp } from './smtp.ts'
import type { SmtpAccount } from './smtp-account.ts'
import { greetSmtp } from './smtp-account.ts'
import type { DkimKey } from './smtp-mail.ts'
import { composed, inAscii, messageIdOf, signed } from './smtp-mail.ts'
import { outcomeOfSmtpFailure, wordsOfSmtp } from './smtp-outcome.ts'

/** The form of any mail server. */
export const smtpServer = {
  host: text('Host', { placeholder: 'smtp.example.com', mistake: ofHost }),
  port: text('Port', { placeholder: '587', mistake: ofPort }),
  ...emailSender,
  user: optional(text('User')),
  password: optional(secret('Password')),
  secure: flag('TLS from the start', {
    description: 'As on port 465. Otherwise the connection is upgraded if the server supports it.',
  }),
  requireTls: flag('Require TLS', { description: 'Fail if the server does not support upgrading the connection.' }),
  ignoreTls: flag('Never upgrade to TLS', { description: 'Even the password is then sent unencrypted.' }),
  tlsOptions: object('TLS options', {
    description: '`rejectUnauthorized`, `ca`, `cert`, `key`, `servername`, `minVersion` and similar.',
  }),
} as const

/** What an e-mail by SMTP can hold. */
export const smtpFeatures = [
  'several recipients',
  'cc and bcc',
  'reply-to',
  'attachments',
  'inline images',
  'headers',
  'sender per message',
] as const

export async function checkMail(world: Pick<World, 'accountAddresses'>, account: SmtpAccount): Promise<CheckResult> {
  try {
    await greetSmtp(account, undefined, world.accountAddresses)
    return good
  } catch (error) {
    // Whatever fails here is the account or the connection: a wrong option throws like a rejected password.
    const { code, message } = error as { code?: unknown; message?: unknown }
    return bad(
      typeof message === 'string' ? message : 'The server could not be reached',
      code === 'EAUTH' ? (account.token === undefined ? 'password' : 'token') : undefined,
    )
  }
}

export interface MailAccount extends SmtpAccount {
  readonly from: string
  readonly senderName?: string
  readonly domain?: string
  readonly secretKey?: string
  readonly accountSid?: string
}

export async function sendMail(
  world: Pick<World, 'now' | 'mayLeave' | 'accountAddresses'>,
  message: EmailMessage,
  account: MailAccount,
): Promise<Outcome> {
  const email = addressed(message, account)
  if ('kind' in email) return email
  const raw = await rawOf(email, account, world.now())
  if ('kind' in raw) return raw
  const recipients = [...email.to, ...email.cc, ...email.bcc].map(inAscii)
  const { mayLeave } = world
  const reasonToStop = (refusals: readonly unknown[]): unknown => deferralOf(email.to, refusals)
  const mail = { from: inAscii(email.from), recipients, raw, mayLeave, reasonToStop }
  const result = await sendBySmtp(account, mail, sendTimeoutMs, world.accountAddresses)
  if (result.kind === 'withheld') return withheld('The message was cancelled before its content was sent')
  if (result.kind === 'failed') {
    const { error, mayBeTaken } = result
    return outcomeOfSmtpFailure(error, { mayBeTaken, isOwnSender: message.from === undefined })
  }
  const id = messageIdOf(email)
  if (result.refusals.length === 0) return sent(id)
  const reasons = result.refusals.map(wordsOfSmtp).join('; ')
  const words = `${result.refusals.length} of ${recipients.length} recipients were rejected: ${reasons}`
  return hasNoRecipientLeft(email.to, result.refusals) ? refused('bad-recipient', words) : sent(id, words)
}

/** Whoever else got a copy, the main recipients did not, and a repeat would send the copies again. */
function hasNoRecipientLeft(to: readonly string[], refusals: readonly unknown[]): boolean {
  const turnedDown = new Set(refusals.map((error) => (error as { recipient?: unknown }).recipient))
  return to.every((address) => turnedDown.has(inAscii(address)))
}

/** If none of the main recipients is accepted, but some may be later: copies must not be sent first. */
function deferralOf(to: readonly string[], refusals: readonly unknown[]): unknown {
  if (refusals.length === 0 || !hasNoRecipientLeft(to, refusals)) return undefined
  const own = new Set<unknown>(to.map(inAscii))
  return refusals.find((refusal) => {
    const { recipient, responseCode } = refusal as { recipient?: unknown; responseCode?: unknown }
    return own.has(recipient) && typeof responseCode === 'number' && responseCode < 500
  })
}

async function rawOf(email: AddressedEmail, account: MailAccount, now: Date): Promise<Buffer | Outcome> {
  let raw: Buffer
  try {
    raw = await composed(email, now)
  } catch (error) {
    return refused('bad-content', `The message could not be built: ${(error as Error).message}`)
  }
  const key = dkimKeyOf(account)
  if (key === undefined) return raw
  try {
    return await signed(raw, key)
  } catch (error) {
    return misconfigured(`The message could not be signed with the DKIM key: ${(error as Error).message}`)
  }
}

function dkimKeyOf({ domain, secretKey, accountSid }: MailAccount): DkimKey | undefined {
  if (domain === undefined || secretKey === undefined || accountSid === undefined) return undefined
  return { domainName: domain, privateKey: secretKey, keySelector: accountSid }
}
