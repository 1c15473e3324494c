// The limits of a vendor, as data: a message beyond them is rejected before the vendor is called.
import type { Outcome } from '../domain/delivery/outcome.ts'
import { refused } from '../domain/delivery/outcome.ts'
import type { OutboundMessage } from '../domain/messages/outbound-message.ts'
import { segmentsOf } from './sms/sms-text.ts'

export interface Limits {
  /** Of the text of an SMS, a chat message, or the body of a push message. */
  readonly contentCharactersMax?: number
  /** Of a text that is sent as several SMS. */
  readonly segmentsMax?: number
  /** Of an e-mail: to, cc and bcc together. */
  readonly recipientsMax?: number
  /** Of an e-mail: its texts and its attachments before they are encoded. */
  readonly messageBytesMax?: number
  /** Of the request, where the vendor counts that. */
  readonly requestBytesMax?: number
  /** Requests per second that an ordinary account may make; listed in docs/providers.md, not enforced. */
  readonly perSecond?: number
}

export function beyondLimits(name: string, limits: Limits, message: OutboundMessage): Outcome | undefined {
  const { contentCharactersMax, segmentsMax, recipientsMax, messageBytesMax } = limits
  const tooMuch = (has: string, takes: string): Outcome =>
    refused('bad-content', `The message has ${has}; ${name} accepts at most ${takes}`)
  if ('html' in message) {
    const recipients = message.to.length + message.cc.length + message.bcc.length
    if (recipientsMax !== undefined && recipients > recipientsMax) {
      return tooMuch(`${recipients} recipients`, `${recipientsMax}`)
    }
    if (messageBytesMax === undefined) return undefined
    const bytes = bytesOf(message)
    return bytes > messageBytesMax ? tooMuch(`${bytes} bytes`, `${messageBytesMax}`) : undefined
  }
  const characters = [...message.content].length
  if (contentCharactersMax !== undefined && characters > contentCharactersMax) {
    return tooMuch(`${characters} characters`, `${contentCharactersMax}`)
  }
  const segments = segmentsMax === undefined ? 0 : segmentsOf(message.content)
  return segments > (segmentsMax ?? 0) ? tooMuch(`${segments} segments`, `${segmentsMax}`) : undefined
}

function bytesOf({ html, text, attachments }: Extract<OutboundMessage, { readonly html: string }>): number {
  const files = attachments.reduce((sum, { content }) => sum + Math.floor((content.length * 3) / 4), 0)
  return Buffer.byteLength(html) + Buffer.byteLength(text) + files
}
