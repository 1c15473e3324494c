// Which e-mails may share a request, for vendors that take many at once.
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'

/**
 * Those with the same settings: one that the vendor rejects may cost all others in the request. Requests with
 * additions, attachments, and messages above this size go alone.
 */
export function sharedKey(message: EmailMessage, bytesMax: number): string | undefined {
  const { html, text, attachments, passthrough, customData } = message
  if (passthrough !== undefined || attachments.length > 0) return undefined
  const settings = customData === undefined ? '' : JSON.stringify(customData)
  return Buffer.byteLength(html) + Buffer.byteLength(text) + Buffer.byteLength(settings) <= bytesMax
    ? settings
    : undefined
}
