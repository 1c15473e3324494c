// What the answers of Apple's push service mean.
// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent } from '../../domain/delivery/outcome.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { renewalMsMin } from './apns-token.ts'

/** BadDeviceToken is also reported for a token of the other environment; pruning is careful when there are many at once. */
const deadReasons: ReadonlySet<string> = new Set([
  'Unregistered',
  'ExpiredToken',
  'BadDeviceToken',
  'MissingDeviceToken',
])
const contentReasons: ReadonlySet<string> = new Set([
  'BadCollapseId',
  'BadExpirationDate',
  'BadMessageId',
  'BadPriority',
  'DuplicateHeaders',
  'InvalidPushType',
  'PayloadEmpty',
  'PayloadTooLarge',
])
const accountReasons: ReadonlySet<string> = new Set([
  'BadTopic',
  'MissingTopic',
  'TopicDisallowed',
  'ExpiredProviderToken',
  'InvalidProviderToken',
  'MissingProviderToken',
  'BadCertificate',
  'BadCertificateEnvironment',
  'Forbidden',
  'UnrelatedKeyIdInToken',
  'BadEnvironmentKeyIdInToken',
])
/** The connection ended, or Apple has a problem: certainly not sent. */
const passingReasons: ReadonlySet<string> = new Set([
  'IdleTimeout',
  'TooManyRequests',
  'InternalServerError',
  'ServiceUnavailable',
  'Shutdown',
])

export const apnsWords = (answer: ProviderAnswer): string => wordsOf('Apple', answer, 'reason')

export function apnsOutcome(answer: ProviderAnswer, message: PushMessage): Outcome {
  if (answer.status === 200) return sent(answer.headers.get('apns-id') ?? message.id)
  const words = apnsWords(answer)
  const reason = answer.string('reason') ?? ''
  if (deadReasons.has(reason) || answer.status === 410) return refused('dead-token', words)
  if (reason === 'DeviceTokenNotForTopic') {
    // The caller's own topic may be what is wrong, and the device valid.
    return refused(message.customData?.['topic'] === undefined ? 'dead-token' : 'bad-recipient', words)
  }
  if (contentReasons.has(reason) || answer.status === 413) return refused('bad-content', words)
  if (accountReasons.has(reason)) return misconfigured(words)
  if (reason === 'TooManyProviderTokenUpdates') return busy(words, retryAfterMsOf(answer) ?? renewalMsMin)
  if (passingReasons.has(reason)) return busy(words, retryAfterMsOf(answer))
  return outcomeOfStatus(answer, words)
}

export const isExpiredToken = (answer: ProviderAnswer): boolean =>
  answer.status === 403 && answer.string('reason') === 'ExpiredProviderToken'
