// What a mail server's refusal, or its silence, means for the message.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, ofDownProvider, ofRecipient, refused, unsure } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import { outcomeOfFailure } from '../http-provider.ts'

/** What nodemailer reports about a failure. */
interface SmtpFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly command?: unknown
  /** The server's whole reply. */
  readonly response?: unknown
  readonly message?: unknown
}

export interface SmtpFailureScene {
  /** The end of the content may have arrived. */
  readonly mayBeTaken: boolean
  /** The sender's address is the account's, not the message's own. */
  readonly isOwnSender: boolean
}

/** Not this message but our account: authentication was required and failed (RFC 4954). */
const accountReplies: ReadonlySet<number> = new Set([530, 534, 535, 538])
/**
 * The same as Exchange Online reports it, in the second code: passwords are switched off (5.7.30, 5.7.57, 5.7.139),
 * or the mailbox may not send as this sender (5.7.60, 5.2.252). In reply to any command, including the content.
 */
const accountCodes = /^5\d\d[ -]5\.(7\.(30|57|60|139)|2\.252)\b/
/** No such mailbox (RFC 5321, 4.2.3). */
const noMailboxReplies: ReadonlySet<number> = new Set([550, 551, 553])
const tooLargeReply = 552
/** The server closes the connection, and may say so at any time (RFC 5321, 4.2.3). */
const closingReply = 421
/** On our side: no connection became free in time. */
export const noConnectionCode = 'ENOCONNECTION'

export function outcomeOfSmtpFailure(error: unknown, scene: SmtpFailureScene): Outcome {
  if (error instanceof OutboundError) return outcomeOfFailure(error)
  const { code, responseCode, command, response } = error as SmtpFailure
  const words = wordsOfSmtp(error)
  if (typeof responseCode === 'number' && responseCode >= 400) {
    // A reply means that the server did not accept the message, however far it had come.
    if (responseCode < 500) return outcomeOfDeferral(responseCode, String(command), words)
    if (code === 'EAUTH' || accountReplies.has(responseCode)) return misconfigured(words)
    if (scene.isOwnSender && accountCodes.test(String(response))) return misconfigured(words)
    return outcomeOfReply(responseCode, String(command), words, scene)
  }
  if (scene.mayBeTaken) return ofDownProvider(unsure(words))
  if (code === 'EAUTH') return misconfigured(words)
  // On our side of nodemailer: a message larger than the server accepts, an address it cannot encode.
  if (code === 'EMESSAGE' || code === 'EENVELOPE') return refused('bad-content', words)
  return code === noConnectionCode ? busy(words) : ofDownProvider(busy(words))
}

/** Not now. Said of a recipient (greylisting, a full mailbox), it is about that one; said of anything else, about the server. */
function outcomeOfDeferral(reply: number, command: string, words: string): Outcome {
  if (reply === closingReply) return ofDownProvider(busy(words))
  return command === 'RCPT TO' ? ofRecipient(busy(words)) : busy(words)
}

function outcomeOfReply(reply: number, command: string, words: string, scene: SmtpFailureScene): Outcome {
  switch (command) {
    case 'RCPT TO':
      return refused(noMailboxReplies.has(reply) ? 'bad-recipient' : 'other', words)
    case 'DATA':
      return refused('bad-content', words)
    case 'MAIL FROM':
      if (reply === tooLargeReply) return refused('bad-content', words)
      return scene.isOwnSender ? misconfigured(words) : refused('other', words)
    default:
      // The greeting, EHLO or STARTTLS: it would say the same to any message of ours.
      return misconfigured(words)
  }
}

/** The server's own words. Line breaks are spaces: a reply may have many lines. */
export function wordsOfSmtp(error: unknown): string {
  const { message } = error as SmtpFailure
  return typeof message === 'string' && message !== '' ? message.replaceAll(/\s+/g, ' ') : 'The server gave no reason'
}
