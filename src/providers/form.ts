// The credentials form of a provider: what an account needs, what is well-formed, and what is secret.

import { hiddenAs } from '../domain/delivery/hidden-secrets.ts'
import type { CredentialKey, Credentials } from '../domain/delivery/integration.ts'
import type { FieldErrors } from '../domain/problem.ts'
import { isMetadataHost } from '../world/outbound/address-guard.ts'

export type FieldKind = 'string' | 'secret' | 'boolean' | 'object'

export interface FormField<Value = unknown, Required extends boolean = boolean> {
  readonly kind: FieldKind
  readonly label: string
  readonly required: Required
  readonly description?: string
  readonly placeholder?: string
  /** The only values there are. */
  readonly choices?: readonly string[]
  /** May hold secrets although it is not one itself: shown to full keys only, as a secret is. */
  readonly guarded?: boolean
  /** What is wrong with a value of the right type, as the rest of a sentence: `must be …`. Never repeats the value. */
  mistake?(value: Value): string | undefined
}

export type CredentialForm = { readonly [Key in CredentialKey]?: FormField }

type ValueOf<Field> = Field extends FormField<infer Value> ? Value : never

/** What a provider is given: the required fields for certain, the others perhaps. */
export type CredentialsOf<Form> = {
  readonly [Key in keyof Form as Form[Key] extends { required: true } ? Key : never]: ValueOf<Form[Key]>
} & { readonly [Key in keyof Form as Form[Key] extends { required: true } ? never : Key]?: ValueOf<Form[Key]> }

interface FieldOptions<Value> {
  readonly description?: string
  readonly placeholder?: string
  readonly choices?: readonly string[]
  mistake?(value: Value): string | undefined
}

export const text = (label: string, options: FieldOptions<string> = {}): FormField<string, true> => ({
  mistake: ofOneLine,
  ...options,
  kind: 'string',
  label,
  required: true,
})

export const secret = (label: string, options: FieldOptions<string> = {}): FormField<string, true> => ({
  mistake: ofOneLine,
  ...options,
  kind: 'secret',
  label,
  required: true,
})

export const flag = (label: string, options: FieldOptions<boolean> = {}): FormField<boolean, false> => ({
  ...options,
  kind: 'boolean',
  label,
  required: false,
})

export const object = (
  label: string,
  options: FieldOptions<Readonly<Record<string, unknown>>> = {},
): FormField<Readonly<Record<string, unknown>>, false> => ({
  ...options,
  kind: 'object',
  label,
  required: false,
  guarded: true,
})

export const optional = <Value>(field: FormField<Value, true>): FormField<Value, false> => ({
  ...field,
  required: false,
})

export const choice = (label: string, choices: readonly string[], options: FieldOptions<string> = {}) =>
  text(label, {
    ...options,
    choices,
    mistake: (value) => (choices.includes(value) ? undefined : `must be one of ${choices.join(', ')}`),
  })

/** No control characters: they would end a header or a line of the protocol and begin another. */
export function ofOneLine(value: string): string | undefined {
  return /\p{Cc}/u.test(value) ? 'must not contain line breaks or other control characters' : undefined
}

/** What may stand in a header. */
export function ofVisibleAscii(value: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(value) ? undefined : 'must be ASCII characters without spaces'
}

export function ofEmailAddress(value: string): string | undefined {
  const fits = value.length <= 320 && /^[^\s\p{Cc}@<>()[\],;:\\"]+@[^\s\p{Cc}@<>()[\],;:\\"]+$/u.test(value)
  return fits ? undefined : 'must be an e-mail address such as hello@example.com'
}

export function ofPort(value: string): string | undefined {
  const fits = /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
  return fits ? undefined : 'must be a port from 1 to 65535'
}

/** A host name or an address, without a scheme or a port. */
export function ofHost(value: string): string | undefined {
  if (!/^[\w.:[\]-]{1,255}$/u.test(value)) return 'must be a host name or an IP address, without scheme and port'
  return isMetadataHost(value) ? 'must not be a metadata address' : undefined
}

/** An endpoint other than the vendor's; it may be private, since the operator configured it. */
export function ofBaseUrl(value: string): string | undefined {
  const address = baseAddress(value)
  if (!URL.canParse(address)) return 'must be a URL such as https://api.example.com'
  const url = new URL(address)
  if (
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    return 'must be an http(s) URL without user name, query and fragment'
  }
  return isMetadataHost(url.hostname) ? 'must not be a metadata address' : undefined
}

/** A base address without the slash at its end; a scheme is added where there is none. */
export function baseAddress(value: string): string {
  const given = value.trim()
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `https://${given}`
  return address.replace(/(?<![:/])\/+$/, '')
}

/** The field of a base address that replaces the vendor's. */
export const ownBaseUrl = (vendor: string): FormField<string, false> =>
  optional(
    text('Base URL', {
      description: `A URL other than the default of ${vendor}, such as that of a proxy.`,
      mistake: ofBaseUrl,
    }),
  )

/** The sender of e-mails: two fields in every form. */
export const emailSender = {
  from: text('From address', { placeholder: 'hello@example.com', mistake: ofEmailAddress }),
  senderName: optional(text('Sender name')),
} as const

/** Every field that is missing or malformed, under its path. The values are not included. */
export function formMistakes(form: CredentialForm, credentials: Credentials): FieldErrors {
  const errors: FieldErrors = {}
  for (const [key, field] of fieldsOf(form)) {
    const value = credentials[key]
    const path = `credentials.${key}`
    if (value === undefined || value === '') {
      if (field.required) errors[path] = { messages: [`${path} (${field.label}) is required`] }
      continue
    }
    const mistake = field.mistake?.(value)
    if (mistake !== undefined) errors[path] = { messages: [`${path} ${mistake}`] }
  }
  return errors
}

/** What a caller without full rights may see: the fields of the form that hold no secret. */
export function openCredentials(form: CredentialForm, credentials: Credentials): Credentials {
  const open = fieldsOf(form)
    .filter(([, field]) => !isSecret(field))
    .map(([key]) => key)
  return Object.fromEntries(open.flatMap((key) => (credentials[key] === undefined ? [] : [[key, credentials[key]]])))
}

/** The same with every secret hidden: a reader sees that there is one. */
export function hiddenCredentials(form: CredentialForm, credentials: Credentials): Credentials {
  const open = new Set<string>(
    fieldsOf(form)
      .filter(([, field]) => !isSecret(field))
      .map(([key]) => key),
  )
  return Object.fromEntries(
    Object.entries(credentials).map(([key, value]) => [key, open.has(key) ? value : hiddenAs(value)]),
  )
}

export function isSecret(field: FormField): boolean {
  return field.kind === 'secret' || field.guarded === true
}

export function fieldsOf(form: CredentialForm): [CredentialKey, FormField][] {
  return Object.entries(form) as [CredentialKey, FormField][]
}

/** Short pieces are not valuable secrets, and redacting them would leave nothing readable. */
const struckOutLengthMin = 4

/** A provider's words with every secret of the account redacted, however it was encoded. */
export function withoutSecrets(form: CredentialForm, credentials: Credentials, words: string): string {
  const secrets = spelledSecrets(form, credentials)
  const redacted = secrets.reduce((text, value) => text.replaceAll(value, struckOut), words)
  const parts = redacted.split('…')
  return parts.map((part, index) => (index === parts.length - 1 ? part : withoutBeginning(part, secrets))).join('…')
}

const struckOut = '[redacted]'

/** The longest first: a secret within another must not leave the rest visible. */
function spelledSecrets(form: CredentialForm, credentials: Credentials): string[] {
  const texts = fieldsOf(form)
    .filter(([, field]) => isSecret(field))
    .flatMap(([key]) => textsIn(credentials[key]))
    .filter((value) => value.length >= struckOutLengthMin)
  const names = Object.values(credentials).filter((value) => typeof value === 'string')
  // Basic authentication encodes a name and a secret together.
  const pairs = names.flatMap((name) => texts.flatMap((value) => [`${name}:${value}`, `${value}:${name}`]))
  const base64 = (value: string): string => Buffer.from(value).toString('base64')
  return [...texts, ...texts.map(encodeURIComponent), ...texts.map(base64), ...pairs.map(base64)].sort(
    (first, second) => second.length - first.length,
  )
}

/** Words that were cut off, before the mark that says so, may end in the beginning of a secret. */
function withoutBeginning(words: string, secrets: readonly string[]): string {
  const longest = secrets[0]?.length ?? 0
  for (let from = Math.max(0, words.length - longest); from <= words.length - struckOutLengthMin; from += 1) {
    const end = words.slice(from)
    if (secrets.some((value) => value.startsWith(end))) return `${words.slice(0, from)}${struckOut}`
  }
  return words
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
