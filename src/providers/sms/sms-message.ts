// An SMS prepared for any vendor: recipient, sender, and that it has content.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { digitsOf } from './sms-text.ts'

/** An Outcome if it cannot be sent: no recipient, or no content. */
export function mistakeOfSms({ to, content }: SmsMessage): Outcome | undefined {
  if (!/\d/.test(to)) return refused('bad-recipient', 'The message has no phone number')
  return content === '' ? refused('bad-content', 'The message has no content') : undefined
}

/** `+49 …` and `0049 …` as `+49…`, any other number as its digits. Never a list of numbers, which some vendors would accept. */
export function internationalOf(number: string): string {
  return `${/^\s*(?:\+|00)/.test(number) ? '+' : ''}${digitsOf(number)}`
}

/** The message's own sender, else the account's. */
export function senderOf({ from }: SmsMessage, account: { readonly from?: string }): string {
  return from ?? account.from ?? ''
}

/** The sender, for vendors that want a number without a plus sign; a name stays as it is. */
export function plainSenderOf(message: SmsMessage, account: { readonly from?: string }): string {
  const sender = senderOf(message, account)
  return /^\+?[\d ()-]+$/.test(sender) ? digitsOf(sender) : sender
}
