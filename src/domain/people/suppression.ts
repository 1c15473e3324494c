// A suppression: an address that nothing is sent to, and why. Pure rules; the form in which addresses are compared.
import { isEmail } from './subscriber.ts'

/**
 * The channels with suppressed addresses. In-app has no addresses; chat and push entries are removed with their
 * subscriber.
 */
export const suppressionChannels = ['email', 'sms'] as const
export type SuppressionChannel = (typeof suppressionChannels)[number]

export const suppressionReasons = ['bounced', 'complained', 'opted_out', 'manual'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]

/** Who said so: a provider, the recipient, or the caller. */
export type SuppressionSource = 'provider' | 'recipient' | 'caller'

export interface Suppression {
  readonly channel: SuppressionChannel
  /** In the form it is compared in. */
  readonly address: string
  readonly reason: SuppressionReason
  readonly source: SuppressionSource
  readonly note?: string
  readonly createdAt: string
}

export interface NewSuppression {
  readonly channel: SuppressionChannel
  /** In the form it is compared in. */
  readonly address: string
  readonly reason: SuppressionReason
  readonly source: SuppressionSource
  readonly note?: string
}

/** As long as an e-mail address can be (RFC 3696, erratum 1690). */
export const suppressedAddressLengthMax = 320
export const suppressionNoteLengthMax = 500
/** Enough for an export of a provider in a few calls, small enough for one statement. */
export const suppressionsPerCallMax = 500

/** What people put between the digits of a number: blanks, dots, brackets, slashes and dashes of every kind. */
const separators = /[\s().\-/\u2010-\u2015\u00ad]+/g
const numberPattern = /^\+?\d{3,20}$/

/** The form in which two addresses are the same: e-mail in lower case, numbers without separators. */
export function comparedAddress(channel: SuppressionChannel, address: string): string {
  return channel === 'email' ? address.trim().toLowerCase() : address.replace(separators, '')
}

/** What is wrong with an address to be listed; undefined if it is valid. `compared` is its normalised form. */
export function addressMistake(channel: SuppressionChannel, compared: string): string | undefined {
  if (channel === 'email') return isEmail(compared) ? undefined : 'must be an e-mail address such as ann@example.com'
  return numberPattern.test(compared) ? undefined : 'must be a phone number such as +49 30 123456'
}

/**
 * Whether nothing may be sent. A person who opted out still gets critical messages, such as a password reset they
 * requested; an address that bounces, whose owner complained, or that the caller suppressed manually gets nothing at
 * all.
 */
export const suppressionHolds = (reason: SuppressionReason, isCritical: boolean): boolean =>
  !(isCritical && reason === 'opted_out')
