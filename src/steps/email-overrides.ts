// What a trigger may override in its e-mails: `overrides.email`, checked field by field so that no header can be
// smuggled in.
import { isEmail } from '../domain/people/subscriber.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { headersIn, headerValueLengthMax } from './header-overrides.ts'
import type { OverrideFields } from './override-fields.ts'
import { optional } from './override-fields.ts'

export interface EmailOverrides {
  readonly toRecipient?: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly from?: string
  readonly senderName?: string
  readonly replyTo?: string
  readonly headers: Readonly<Record<string, string>>
  readonly subject?: string
  readonly html?: string
  readonly text?: string
  readonly ipPoolName?: string
  readonly customData?: Readonly<Record<string, unknown>>
}

/** Every field of the bucket that defines the e-mail. */
export const emailMembers: ReadonlySet<string> = new Set([
  ...['toRecipient', 'replaceToRecipient', 'to', 'cc', 'bcc', 'from', 'senderName', 'replyTo', 'headers'],
  ...['subject', 'html', 'text', 'ipPoolName'],
])

/** An e-mail is for a person; mailing lists are topics. */
const addressesMax = 50
const nameLengthMax = 200
const subjectLengthMax = 998
const bodyLengthMax = 1_000_000

/**
 * Headers for sender, recipients, date and format: the envelope sets them, and a second one would contradict the first.
 */
const reservedHeaders = new Set([
  ...['from', 'to', 'cc', 'bcc', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'return-path', 'received'],
  ...['mime-version', 'dkim-signature', 'resent-from', 'resent-to', 'resent-cc', 'resent-bcc', 'resent-sender'],
])

const nothing: EmailOverrides = { to: [], cc: [], bcc: [], headers: {} }

/** Throws a RenderError that names the override to fix. */
export function emailOverridesOf(fields: OverrideFields): EmailOverrides {
  if (Object.keys(fields.all()).length === 0) return nothing
  const sender = senderIn(fields)
  const lists = {
    to: addressesIn(fields, 'to'),
    cc: addressesIn(fields, 'cc'),
    bcc: addressesIn(fields, 'bcc'),
  }
  if (lists.to.length + lists.cc.length + lists.bcc.length > addressesMax) {
    throw new RenderError(fields.path, `has more than ${addressesMax} addresses in to, cc and bcc`)
  }
  const [first] = fields.flag('replaceToRecipient') ? lists.to : []
  return {
    ...optional('toRecipient', addressIn(fields, 'toRecipient') ?? first),
    ...lists,
    ...optional('from', sender.address),
    ...optional('senderName', fields.line('senderName', nameLengthMax) ?? sender.name),
    ...optional('replyTo', addressIn(fields, 'replyTo')),
    headers: mailHeadersIn(fields),
    ...optional('subject', fields.line('subject', subjectLengthMax)),
    ...optional('html', fields.text('html', bodyLengthMax)),
    ...optional('text', fields.text('text', bodyLengthMax)),
    ...optional('ipPoolName', fields.line('ipPoolName', nameLengthMax)),
    ...optional('customData', fields.object('customData')),
  }
}

export function emailAddress(path: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (!isEmail(text)) throw new RenderError(path, 'must be an e-mail address such as ann@example.com')
  return text
}

function addressIn(fields: OverrideFields, name: string): string | undefined {
  const value = fields.value(name)
  return value === undefined ? undefined : emailAddress(fields.pathOf(name), value)
}

/** `ann@example.com` or `Ann <ann@example.com>`. */
function senderIn(fields: OverrideFields): { address?: string; name?: string } {
  const from = fields.line('from', nameLengthMax + headerValueLengthMax)
  if (from === undefined) return {}
  const named = /^("?)([^<>"]*)\1\s*<([^<>]*)>$/.exec(from.trim())
  if (named === null) return { address: emailAddress(fields.pathOf('from'), from) }
  const name = (named[2] ?? '').trim()
  return { address: emailAddress(fields.pathOf('from'), named[3]), ...(name === '' ? {} : { name }) }
}

/** One address or a list of them. */
function addressesIn(fields: OverrideFields, name: string): string[] {
  const value = fields.value(name)
  const path = fields.pathOf(name)
  if (value === undefined) return []
  if (!Array.isArray(value)) return [emailAddress(path, value)]
  if (value.length > addressesMax) throw new RenderError(path, `has more than ${addressesMax} addresses`)
  return value.map((member, index) => emailAddress(`${path}[${index}]`, member))
}

function mailHeadersIn(fields: OverrideFields): Readonly<Record<string, string>> {
  const headers = headersIn(fields)
  for (const name of Object.keys(headers)) {
    if (!reservedHeaders.has(name.toLowerCase()) && !/^content-/i.test(name)) continue
    throw new RenderError(fields.pathOf(`headers.${name}`), 'is set by the service; use the fields of overrides.email')
  }
  return headers
}
