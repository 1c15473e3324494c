// The caller's own settings for one vendor's request, without what the message itself decides.
import type { OutboundMessage } from '../domain/messages/outbound-message.ts'

/**
 * What the caller wants in the vendor's own request, without what the message itself defines: names compared in
 * lowercase.
 */
export function settingsOf(
  { customData }: Pick<OutboundMessage, 'customData'>,
  own: readonly string[],
): Readonly<Record<string, unknown>> {
  if (customData === undefined) return nothing
  const decided = new Set(own.map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(customData).filter(
      ([name, value]) => !decided.has(name.toLowerCase()) && value !== undefined && value !== null,
    ),
  )
}

const nothing: Readonly<Record<string, unknown>> = {}
