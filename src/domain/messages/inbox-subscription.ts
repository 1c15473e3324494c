// A reader's own subscription to a topic, as the pages of their inbox see it.
import type { TopicSubscription } from '../people/topic.ts'
import { defaultIdentifier } from '../people/topic.ts'
import type { SubscriptionPreference } from '../preferences/subscription-preferences.ts'
import type { Reader } from './inbox.ts'

export interface InboxSubscription {
  readonly id: string
  readonly identifier: string
  readonly name?: string
  readonly preferences?: readonly SubscriptionPreference[]
  readonly contextKeys?: readonly string[]
}

/** The name that public clients use for an unnamed subscription: with the contexts of the session, if it has any. */
function ownIdentifier({ subscriberId, contextKeys }: Reader, topicKey: string): string {
  const plain = defaultIdentifier(topicKey, subscriberId)
  return contextKeys.length === 0 ? plain : `${plain}:ctx_${contextKeys.join(',')}`
}

/** Whether it names the reader's subscription that was given no identifier. */
export function isOwnIdentifier(reader: Reader, topicKey: string, identifier: string): boolean {
  const plain = defaultIdentifier(topicKey, reader.subscriberId)
  return identifier === '' || identifier === plain || identifier === ownIdentifier(reader, topicKey)
}

export function inboxSubscriptionOf(reader: Reader, subscription: TopicSubscription): InboxSubscription {
  const { _id: id, identifier, name, topic, preferences } = subscription
  const isUnnamed = isOwnIdentifier(reader, topic.key, identifier)
  return {
    id,
    identifier: isUnnamed ? ownIdentifier(reader, topic.key) : identifier,
    ...(name === undefined ? {} : { name }),
    ...(preferences === undefined ? {} : { preferences }),
    ...(reader.contextKeys.length === 0 ? {} : { contextKeys: reader.contextKeys }),
  }
}

/** Whether a call that names this identifier means the subscription. */
export function answersTo(reader: Reader, subscription: TopicSubscription, identifier: string): boolean {
  const { topic } = subscription
  if (identifier === subscription.identifier) return true
  return isOwnIdentifier(reader, topic.key, identifier) && isOwnIdentifier(reader, topic.key, subscription.identifier)
}

/** The key of the topic, where a name has the form of the reader's subscription that was given no identifier. */
export function topicKeyIn(reader: Reader, name: string): string | undefined {
  const [plain = ''] = name.startsWith(prefix) ? name.split(`:si_${reader.subscriberId}`, 1) : []
  const key = plain.slice(prefix.length)
  return key !== '' && isOwnIdentifier(reader, key, name) ? key : undefined
}

const prefix = 'tk_'
