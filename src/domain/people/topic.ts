// A topic: a named audience, the subscriptions that make it up, and the rules for their keys and identifiers.
import type {
  GivenPreference,
  SubscriptionChoices,
  SubscriptionPreference,
} from '../preferences/subscription-preferences.ts'

/** As HTML forms judge an address, but with a dot in the domain: `me@localhost` is no address a topic could mean. */
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const email = `[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})+`

/** Letters, digits, hyphen, underscore, colon, or an email address. */
export const topicKeyPattern = `^(?:[A-Za-z0-9_:-]+|${email})$`
export const topicKeyLengthMax = 100
export const topicKeyWords = `must be 1 to ${topicKeyLengthMax} letters, digits, hyphens, underscores or colons, or a valid email address`
export const topicNameLengthMax = 100
/** A request names at most this many subscribers: one statement, one response of bounded size. */
export const subscriptionsPerCallMax = 100
export const subscriptionIdentifierLengthMax = 512

const topicKeyExpression = new RegExp(topicKeyPattern)

export interface Topic {
  readonly _id: string
  readonly key: string
  readonly name?: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface NewTopic {
  readonly key: string
  readonly name?: string
}

export interface SubscriberSummary {
  readonly _id: string
  readonly subscriberId: string
  readonly avatar: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly email: string | null
}

export interface TopicSubscription {
  readonly _id: string
  readonly identifier: string
  readonly name?: string
  readonly topic: Topic
  readonly subscriber: SubscriberSummary
  /** As they are stored. */
  readonly choices: SubscriptionChoices | null
  /** As calls see them; absent where there are none. */
  readonly preferences?: readonly SubscriptionPreference[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** That a subscriber belongs to a topic. */
export interface TopicMembership {
  readonly _environmentId: string
  readonly _organizationId: string
  readonly _subscriberId: string
  readonly _topicId: string
  readonly topicKey: string
  readonly externalSubscriberId: string
}

/** Whom to subscribe; a plain string in a request is a subscriberId. */
export interface SubscriptionRequest {
  readonly subscriberId: string
  readonly identifier?: string
  readonly name?: string
  /** Takes precedence over those of the call. */
  readonly preferences?: readonly GivenPreference[]
}

/** What to unsubscribe: a subscriber, a subscription by its identifier, or a subscription that matches both. */
export interface SubscriptionTarget {
  readonly subscriberId?: string
  readonly identifier?: string
}

export type SubscriptionErrorCode =
  | 'SUBSCRIBER_NOT_FOUND'
  | 'SUBSCRIPTION_NOT_FOUND'
  | 'INVALID_SUBSCRIPTION_IDENTIFIER'
  | 'SUBSCRIPTION_CREATE_FAILED'
  | 'INVALID_REQUEST'

export interface SubscriptionError {
  /** Empty when the request named none. */
  readonly subscriberId: string
  readonly identifier?: string
  readonly code: SubscriptionErrorCode
  readonly message: string
}

/** What became of each subscriber a call named. */
export interface SubscriptionsResult {
  readonly data: readonly TopicSubscription[]
  readonly meta: { readonly totalCount: number; readonly successful: number; readonly failed: number }
  readonly errors?: readonly SubscriptionError[]
}

/** Whether a recipient is a topic: `type` may be left out, and its case does not matter. */
export function isTopicRecipient(recipient: object): boolean {
  const { type, topicKey, subscriberId } = recipient as { type?: unknown; topicKey?: unknown; subscriberId?: unknown }
  if (typeof type === 'string') return type.toLowerCase() === 'topic'
  return type === undefined && topicKey !== undefined && subscriberId === undefined
}

export function isTopicKey(text: string): boolean {
  return text.length <= topicKeyLengthMax && topicKeyExpression.test(text)
}

const identifierPrefix = (topicKey: string): string => `tk_${topicKey}:si_`

/** The identifier of a subscription that was given none. */
export function defaultIdentifier(topicKey: string, subscriberId: string): string {
  return identifierPrefix(topicKey) + subscriberId
}

/** Whose default identifier in this topic it is, if it has that form. */
export function subscriberOfIdentifier(topicKey: string, identifier: string): string | undefined {
  const prefix = identifierPrefix(topicKey)
  return identifier.startsWith(prefix) ? identifier.slice(prefix.length) : undefined
}

/** Why an identifier cannot be given to this subscriber's subscription; undefined when it can. */
export function identifierMistake(topicKey: string, request: SubscriptionRequest): string | undefined {
  if (request.identifier === undefined) return undefined
  if (request.identifier === '') return 'A subscription identifier must not be empty.'
  if (request.identifier.length > subscriptionIdentifierLengthMax) {
    return `A subscription identifier must not be longer than ${subscriptionIdentifierLengthMax} characters.`
  }
  const owner = subscriberOfIdentifier(topicKey, request.identifier)
  if (owner === undefined || owner === request.subscriberId) return undefined
  return `Subscription identifier '${request.identifier}' is kept for subscriber '${owner}'.`
}

export function subscriptionsResult(
  data: readonly TopicSubscription[],
  errors: readonly SubscriptionError[],
): SubscriptionsResult {
  const meta = { totalCount: data.length + errors.length, successful: data.length, failed: errors.length }
  return errors.length === 0 ? { data, meta } : { data, meta, errors }
}
