// What a trigger may say of its e-mails: `overrides.email`, checked member by member so that no header can be smuggled in.
import { RenderError } from '../domain/rendering.ts'
import { isEmail } from '../domain/subscriber.ts'

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

/** An e-mail is for a person; mailing lists are topics. */
const addressesMax = 50
const headersMax = 50
const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** The longest line of a mail (RFC 5322, 2.1.1). */
const headerValueLengthMax = 998
const nameLengthMax = 200
const subjectLengthMax = 998
const bodyLengthMax = 1_000_000

/** Headers that say who, whom, when and how: the envelope makes them, and a second one would contradict the first. */
const reservedHeaders = new Set([
  ...['from', 'to', 'cc', 'bcc', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'return-path', 'received'],
  ...['mime-version', 'dkim-signature', 'resent-from', 'resent-to', 'resent-cc', 'resent-bcc', 'resent-sender'],
])

type Fields = Readonly<Record<string, unknown>>

/** Throws a RenderError that names the override to mend. */
export function emailOverridesOf(overrides: Fields): EmailOverrides {
  const given = Object.hasOwn(overrides, 'email') ? overrides['email'] : undefined
  const fields = given === undefined || given === null ? {} : fieldsOf('overrides.email', given)
  const sender = senderIn(fields)
  const one = (name: string) => optional(name, addressIn(fields, name))
  const lists = { to: addressesIn(fields, 'to'), cc: addressesIn(fields, 'cc'), bcc: addressesIn(fields, 'bcc') }
  if (lists.to.length + lists.cc.length + lists.bcc.length > addressesMax) {
    throw new RenderError('overrides.email', `names more than ${addressesMax} addresses in to, cc and bcc`)
  }
  return {
    ...one('toRecipient'),
    ...lists,
    ...optional('from', sender.address),
    ...optional('senderName', lineIn(fields, 'senderName', nameLengthMax) ?? sender.name),
    ...one('replyTo'),
    headers: headersIn(fields),
    ...optional('subject', lineIn(fields, 'subject', subjectLengthMax)),
    ...optional('html', textIn(fields, 'html', bodyLengthMax)),
    ...optional('text', textIn(fields, 'text', bodyLengthMax)),
    ...optional('ipPoolName', lineIn(fields, 'ipPoolName', nameLengthMax)),
    ...optional('customData', objectIn(fields, 'customData')),
  }
}

const optional = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value })

function fieldsOf(field: string, value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new RenderError(field, 'must be an object')
}

/** Null and absent alike say nothing. */
function memberOf(fields: Fields, name: string): unknown {
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? undefined
}

const pathOf = (name: string): string => `overrides.email.${name}`

function textIn(fields: Fields, name: string, lengthMax: number): string | undefined {
  const value = memberOf(fields, name)
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw new RenderError(pathOf(name), 'must be a string')
  if (value.length > lengthMax) {
    throw new RenderError(pathOf(name), `is ${value.length} characters long; at most ${lengthMax} are allowed`)
  }
  return value
}

function lineIn(fields: Fields, name: string, lengthMax: number): string | undefined {
  const line = textIn(fields, name, lengthMax)
  if (line !== undefined && hasControls(line)) {
    throw new RenderError(pathOf(name), 'must be one line without control characters')
  }
  return line
}

const hasControls = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text)

function objectIn(fields: Fields, name: string): Fields | undefined {
  const value = memberOf(fields, name)
  return value === undefined ? undefined : fieldsOf(pathOf(name), value)
}

function address(path: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (!isEmail(text)) throw new RenderError(path, 'must be an e-mail address such as ann@example.com')
  return text
}

function addressIn(fields: Fields, name: string): string | undefined {
  const value = memberOf(fields, name)
  return value === undefined ? undefined : address(pathOf(name), value)
}

/** `ann@example.com` or `Ann <ann@example.com>`. */
function senderIn(fields: Fields): { address?: string; name?: string } {
  const value = memberOf(fields, 'from')
  if (value === undefined) return {}
  const from = lineIn(fields, 'from', nameLengthMax + headerValueLengthMax) ?? ''
  const named = /^("?)([^<>"]*)\1\s*<([^<>]*)>$/.exec(from.trim())
  if (named === null) return { address: address(pathOf('from'), from) }
  const name = (named[2] ?? '').trim()
  return { address: address(pathOf('from'), named[3]), ...(name === '' ? {} : { name }) }
}

/** One address or a list of them. */
function addressesIn(fields: Fields, name: string): string[] {
  const value = memberOf(fields, name)
  if (value === undefined) return []
  if (!Array.isArray(value)) return [address(pathOf(name), value)]
  if (value.length > addressesMax) throw new RenderError(pathOf(name), `names more than ${addressesMax} addresses`)
  return value.map((member, index) => address(`${pathOf(name)}[${index}]`, member))
}

function headersIn(fields: Fields): Readonly<Record<string, string>> {
  const headers = Object.entries(objectIn(fields, 'headers') ?? {})
  if (headers.length > headersMax) throw new RenderError(pathOf('headers'), `has more than ${headersMax} headers`)
  for (const [name, value] of headers) {
    const path = pathOf(`headers.${name.slice(0, 100)}`)
    if (!headerNamePattern.test(name)) throw new RenderError(path, 'is no name of a header')
    if (reservedHeaders.has(name.toLowerCase()) || /^content-/i.test(name)) {
      throw new RenderError(path, 'is made by the service; use the members of overrides.email')
    }
    if (typeof value !== 'string') throw new RenderError(path, 'must be a string')
    if (hasControls(value)) throw new RenderError(path, 'must be one line without control characters')
    if (value.length > headerValueLengthMax) {
      throw new RenderError(path, `is ${value.length} characters long; at most ${headerValueLengthMax} are allowed`)
    }
  }
  return Object.fromEntries(headers) as Record<string, string>
}
