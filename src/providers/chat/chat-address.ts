// Whether a chat message goes to an address of its recipient's own.
import type { ChatMessage } from '../../domain/outbound-message.ts'

/** An empty one is as good as none. */
export function hasAddress(message: ChatMessage): message is ChatMessage & { readonly webhookUrl: string } {
  return message.webhookUrl !== undefined && message.webhookUrl !== ''
}
