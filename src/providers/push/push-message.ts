// A push message prepared for any vendor: its device, its data, and which others it can be sent with.
import { createHash } from 'node:crypto'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { settingsOf } from '../settings.ts'

/** Devices and account: the vendor need not know them, and settings may not choose them. */
const ownSettings = ['deviceTokens', 'integrationIdentifier']

/** An Outcome if it cannot be sent as it is: no device, or no content. */
export function mistakeOfPush({ target, title, content }: PushMessage): Outcome | undefined {
  if (target === '') return refused('bad-recipient', 'The device token is empty')
  return title === '' && content === '' ? refused('bad-content', 'The message has no content') : undefined
}

/** What the caller wants in the vendor's own request, without what determines the recipient. */
export function pushSettings(message: PushMessage, own: readonly string[]): Fields {
  return settingsOf(message, [...own, ...ownSettings])
}

/** The same for all messages that differ only in their device; none if something was added to the request itself. */
export function contentKey({ title, content, payload, customData, passthrough }: PushMessage): string | undefined {
  if (passthrough !== undefined) return undefined
  const all = JSON.stringify([title, content, payload, customData ?? null])
  return createHash('sha256').update(all).digest('base64url')
}

/** Every value as text, which is all that Google accepts. */
export function texts(values: Fields): Record<string, string> {
  const written = Object.entries(values).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
  return Object.fromEntries(written)
}

/** Fields with content: vendors differ on whether an empty one is allowed. */
export function filled(members: Fields): Fields {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== '' && !isEmptyObject(value)),
  )
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
