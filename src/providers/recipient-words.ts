// Texts that do not reveal where a message went: a webhook's address and a device token are the recipient's secrets.
import type { Outcome } from '../domain/delivery/outcome.ts'
import type { OutboundMessage } from '../domain/messages/outbound-message.ts'

/** Shorter pieces of an address are not secrets, and redacting them would leave nothing readable. */
const struckOutLengthMin = 6
/** Enough to distinguish devices. */
const tokenShown = 4

export function withoutRecipient(outcome: Outcome, message: OutboundMessage): Outcome {
  if (outcome.detail === undefined) return outcome
  return { ...outcome, detail: struckOut(outcome.detail, message) }
}

function struckOut(words: string, message: OutboundMessage): string {
  if ('target' in message) {
    if (message.target.length < struckOutLengthMin) return words
    return words.replaceAll(message.target, `…${message.target.slice(-tokenShown)}`)
  }
  if (!('webhookUrl' in message) || message.webhookUrl === undefined) return words
  return secretsOf(message.webhookUrl).reduce((text, secret) => text.replaceAll(secret, '[redacted]'), words)
}

/** The longest first: replacing a part must not leave the rest of a longer one. */
function secretsOf(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const parts = url === undefined ? [] : [url.href, `${url.pathname}${url.search}`, url.pathname, url.search.slice(1)]
  return [address, ...parts].filter((part) => part.length >= struckOutLengthMin).toSorted((a, b) => b.length - a.length)
}
