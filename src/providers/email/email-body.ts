// What the JSON bodies of e-mail vendors have in common.
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { AddressedEmail } from './email-message.ts'

/** Without empty fields: many vendors reject an empty list or an empty text. */
export function filled(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return filledIn({}, members)
}

/** Adds them to a body. Written out, as it is done for every e-mail: with entries it takes ten times as long. */
export function filledIn(
  body: Record<string, unknown>,
  members: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  for (const name in members) {
    const value = members[name]
    if (!isEmpty(value)) body[name] = value
  }
  return body
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

export const people = (addresses: readonly string[]): { email: string }[] => addresses.map((email) => ({ email }))

export const senderOf = ({ from, senderName }: AddressedEmail): Record<string, unknown> =>
  filled({ email: from, name: senderName })

/** Our ids, for vendors that return them with every receipt. */
export const variablesOf = ({ id, metadata }: EmailMessage): Record<string, string> => ({
  ...metadata,
  message_id: id,
})

/** An image that the HTML refers to is shown inline, unless it is meant to be a file. */
export const dispositionOf = ({ cid, disposition, mime }: EmailMessage['attachments'][number]) =>
  disposition ?? (cid !== undefined && /^image\//i.test(mime) ? 'inline' : 'attachment')

export const isInline = (attachment: EmailMessage['attachments'][number]): boolean =>
  attachment.cid !== undefined && dispositionOf(attachment) === 'inline'

/** For vendors that accept only HTML. */
export function htmlOf({ html, text }: EmailMessage): string {
  return html === '' ? `<pre style="white-space:pre-wrap">${escaped(text)}</pre>` : html
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Lengths of the name and the value of a tag, for vendors that accept pairs. */
const tagText = /^[A-Za-z0-9_-]{1,256}$/

/**
 * The message's ids and tags as pairs, for vendors that accept only ASCII letters, digits, `_` and `-`. A pair with other
 * characters is left out: the message's own id, by which the others are found, never has any.
 */
export function tagPairsOf(email: EmailMessage, max: number): [name: string, value: string][] {
  const tags = email.tags.map((tag, index): [string, string] => [index === 0 ? 'tag' : `tag_${index + 1}`, tag])
  return [['message_id', email.id] as [string, string], ...Object.entries(email.metadata), ...tags]
    .filter(([name, value]) => tagText.test(name) && tagText.test(value))
    .slice(0, max)
}
