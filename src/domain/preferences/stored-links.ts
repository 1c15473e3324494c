// Unsubscribe links in stored mail: without their signature, which is put in when the mail leaves or is shown to a full key.
import type { EmailMessage } from '../messages/outbound-message.ts'
import type { SigningKeys } from '../operate/signing-keys.ts'
import type { Unsubscription } from './unsubscribe-token.ts'
import { unsignedToken, writeUnsubscribeToken } from './unsubscribe-token.ts'

/** The value with `to` in place of `from` in every text; the same value where there is none. Attachments are not searched. */
export function withToken<Value>(value: Value, from: string, to: string): Value {
  if (typeof value === 'string') return (value.includes(from) ? value.replaceAll(from, to) : value) as Value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const members = value.map((member) => withToken(member, from, to))
    return members.some((member, index) => member !== value[index]) ? (members as Value) : value
  }
  let changed: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const replaced: unknown = name === 'attachments' ? member : withToken(member, from, to)
    if (replaced === member) continue
    changed ??= { ...value } as Record<string, unknown>
    changed[name] = replaced
  }
  return (changed ?? value) as Value
}

/** Whether the mail holds a link of this recipient that has to be signed: by far the most have it in the header. */
function holdsUnsigned(email: EmailMessage, unsigned: string): boolean {
  if (email.headers['List-Unsubscribe']?.includes(unsigned) === true || email.html.includes(unsigned)) return true
  return withToken(email, unsigned, '') !== email
}

/**
 * The mail as its recipient gets it. The link of this subscriber and workflow alone is signed: a payload may name another, and
 * must not get its signature.
 */
export async function withSignedLinks(
  email: EmailMessage,
  unsubscription: Unsubscription,
  keys: () => Promise<SigningKeys>,
): Promise<EmailMessage> {
  const unsigned = unsignedToken(unsubscription)
  if (!holdsUnsigned(email, unsigned)) return email
  const signed = writeUnsubscribeToken(unsubscription, (await keys()).tokenKey('unsubscribe'))
  return withToken(email, unsigned, signed)
}
