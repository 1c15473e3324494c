// A subscriber: a recipient, known by an id of the caller's.
import type { ChannelSettings } from './channel-settings.ts'

export interface Subscriber {
  readonly _id: string
  readonly subscriberId: string
  readonly firstName: string | null
  readonly lastName: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly avatar: string | null
  readonly locale: string | null
  readonly timezone: string | null
  readonly data: Readonly<Record<string, unknown>> | null
  readonly channels: readonly ChannelSettings[]
  readonly isOnline: boolean
  readonly lastOnlineAt: string | null
  readonly _organizationId: string
  readonly _environmentId: string
  readonly deleted: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly __v: 0
}

/** What a caller may set for a subscriber. Omitted is unchanged, null clears, `data` is replaced as a whole. */
export interface SubscriberFields {
  readonly firstName?: string | null
  readonly lastName?: string | null
  readonly email?: string | null
  readonly phone?: string | null
  readonly avatar?: string | null
  readonly locale?: string | null
  readonly timezone?: string | null
  readonly data?: Readonly<Record<string, unknown>> | null
}

const emailLengthMax = 320
/** Something@something.something, without what would let one address become two or a header. */
const emailPattern = /^[^\s\p{Cc}@<>,;:"()[\]\\]+@[^\s\p{Cc}@<>,;:"()[\]\\]+\.[^\s\p{Cc}@<>,;:"()[\]\\.]+$/u

export function isEmail(text: string): boolean {
  return text.length <= emailLengthMax && emailPattern.test(text)
}

/** `en`, `en-US` or `en_US`. */
export function isLocale(text: string): boolean {
  if (!/^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,4}$/.test(text)) return false
  try {
    return Intl.getCanonicalLocales(text.replaceAll('_', '-')).length === 1
  } catch {
    return false
  }
}

// Asking Intl costs 30 µs; there are some 600 names in whatever case, so remembering the good ones is bounded.
const knownTimezones = new Set<string>()

/** An IANA zone, such as `Europe/Berlin`; an offset is not one, because it has no daylight saving time. */
export function isTimezone(text: string): boolean {
  const name = text.toLowerCase()
  if (knownTimezones.has(name)) return true
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    return false
  }
  knownTimezones.add(name)
  return true
}
