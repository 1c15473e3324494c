// Topic subscriptions: subscribe and unsubscribe many at once, each judged on its own.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  NewTopic,
  SubscriberSummary,
  SubscriptionError,
  SubscriptionRequest,
  SubscriptionsResult,
  SubscriptionTarget,
  Topic,
  TopicSubscription,
} from '../../domain/people/topic.ts'
import {
  defaultIdentifier,
  identifierMistake,
  isTopicKey,
  subscriberOfIdentifier,
  subscriptionsPerCallMax,
  subscriptionsResult,
  topicKeyWords,
} from '../../domain/people/topic.ts'
import type { GivenPreference, SubscriptionChoices } from '../../domain/preferences/subscription-preferences.ts'
import { invalidField, notFound, Problem } from '../../domain/problem.ts'
import { shownSubscriptions } from '../../store/people/shown-subscriptions.ts'
import {
  deleteSubscriptions,
  findSubscriptionsOf,
  findSummaries,
  holdSummaries,
  insertSubscriptions,
  lockSubscriptions,
  updateChoices,
  updateSubscription,
} from '../../store/people/topic-subscriptions.ts'
import { findTopic } from '../../store/people/topics.ts'
import type { World } from '../../world/world.ts'
import { refuseUnfit, resolveChoices } from './subscription-choices.ts'
import type { ChangedChoices } from './subscription-news.ts'
import { reportChoices } from './subscription-news.ts'
import { ensureTopic, unknownTopic } from './topics.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

/** A subscription found at insertion can be gone when it is read back; each try is lost only to an unsubscribe in between. */
const insertTriesMax = 3

export async function subscribeToTopic(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & {
    topic: NewTopic
    requests: readonly SubscriptionRequest[]
    /** Of all, unless a request has its own. */
    preferences?: readonly GivenPreference[] | undefined
  },
): Promise<Answer<SubscriptionsResult>> {
  if (!isTopicKey(call.topic.key)) throw unfitKey(call.topic.key)
  refuseCount(call.requests.length, 'subscribe')
  const requests = firstOfEach(call.requests.map(trimmed), (request) => request.subscriberId)
  const listOf = ({ preferences }: SubscriptionRequest) => preferences ?? call.preferences
  refuseUnfit(requests.map(listOf))
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscribers = await holdSummaries(
      tx,
      environment,
      requests.map((request) => request.subscriberId),
    )
    const known = new Map(subscribers.map((subscriber) => [subscriber.subscriberId, subscriber]))
    const errors = requests.flatMap((request) => requestError(call.topic.key, request, known) ?? [])
    const refused = new Set(errors.map((error) => error.subscriberId))
    const fit = requests.filter((request) => !refused.has(request.subscriberId))
    // Before the topic is created: a request that subscribes no one changes nothing.
    if (fit.length === 0) throw allFailed(subscriptionsResult([], errors))
    const choices = await givenChoices(tx, world, environment, fit, listOf)
    const { topic } = await ensureTopic(tx, world, environment, call.topic)
    const subscribed = await insertMissing(tx, world, environment, { topic, requests: fit, choices, known })
    const made = fit.flatMap((request) => subscribed.get(request.subscriberId) ?? [])
    const data = await shownSubscriptions(tx, environment, made)
    const lost = fit.filter((request) => !subscribed.has(request.subscriberId)).map(lostRequest)
    const result = subscriptionsResult(data, [...errors, ...lost])
    if (data.length === 0) throw allFailed(result)
    return created(result)
  })
}

export async function unsubscribeFromTopic(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { topicKey: string; targets: readonly SubscriptionTarget[] },
): Promise<Answer<SubscriptionsResult>> {
  refuseCount(call.targets.length, 'unsubscribe')
  const targets = firstOfEach(call.targets.map(trimmed), (target) =>
    JSON.stringify([target.subscriberId, target.identifier]),
  )
  return once(db, world, environment, call.idempotency, async (tx) => {
    const topic = await findTopic(tx, environment, call.topicKey)
    if (topic === undefined) throw unknownTopic(call.topicKey)
    const { known, found } = await findTargets(tx, environment, topic, targets)
    const judged = targets.map((target) => judgeTarget(target, known, found))
    const errors = judged.flatMap((outcome) => ('code' in outcome ? [outcome] : []))
    const data = [...new Set(judged.flatMap((outcome) => ('code' in outcome ? [] : [outcome])))]
    const result = subscriptionsResult(data, errors)
    if (data.length === 0) throw allFailed(result)
    await deleteSubscriptions(tx, environment, topic, data)
    return ok(result)
  })
}

/** The subscription of a topic that has this identifier, its own or the default one, locked. */
async function lockByIdentifier(
  tx: Tx,
  environment: Environment,
  { topicKey, identifier }: { topicKey: string; identifier: string },
): Promise<TopicSubscription> {
  const topic = await findTopic(tx, environment, topicKey)
  if (topic === undefined) throw unknownTopic(topicKey)
  const { found } = await findTargets(tx, environment, topic, [{ identifier }])
  const subscription = found.byIdentifier.get(identifier)
  if (subscription === undefined) throw unknownSubscription(topicKey, identifier)
  return subscription
}

/** Preferences are replaced as a whole. */
export interface SubscriptionChange {
  readonly name?: string | undefined
  readonly preferences?: readonly GivenPreference[] | undefined
}

export async function changeSubscription(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & SubscriptionChange & { topicKey: string; identifier: string },
): Promise<Answer<TopicSubscription>> {
  refuseUnfit([call.preferences])
  return once(db, world, environment, call.idempotency, async (tx) => {
    const subscription = await lockByIdentifier(tx, environment, call)
    return ok(await changedSubscription(tx, world, environment, subscription, call))
  })
}

/** Of one that is locked, with preferences that `refuseUnfit` let through. */
export async function changedSubscription(
  tx: Tx,
  world: World,
  environment: Environment,
  subscription: TopicSubscription,
  { name, preferences }: SubscriptionChange,
): Promise<TopicSubscription> {
  const [choices] =
    preferences === undefined
      ? [subscription.choices]
      : await resolveChoices(tx, environment, [preferences], world.now())
  const changed = { ...subscription, ...(name === undefined ? {} : { name }), choices: choices ?? null }
  if (name !== undefined || preferences !== undefined) await updateSubscription(tx, environment, changed)
  await reportChoices(tx, world, environment, [{ subscription, choices: changed.choices }])
  const [shown = changed] = await shownSubscriptions(tx, environment, [changed])
  return shown
}

export const unknownSubscription = (topicKey: string, identifier: string): Problem =>
  notFound(`Subscription ${identifier} was not found in topic ${topicKey}`)

/** By subscriberId, of those for whom the call has preferences. */
async function givenChoices(
  tx: Tx,
  world: World,
  environment: Environment,
  requests: readonly SubscriptionRequest[],
  listOf: (request: SubscriptionRequest) => readonly GivenPreference[] | undefined,
): Promise<Map<string, SubscriptionChoices | null>> {
  const given = requests.flatMap((request) => {
    const list = listOf(request)
    return list === undefined ? [] : [{ subscriberId: request.subscriberId, list }]
  })
  const lists = given.map(({ list }) => list)
  const resolved = await resolveChoices(tx, environment, lists, world.now())
  return new Map(given.map(({ subscriberId }, place) => [subscriberId, resolved[place] ?? null]))
}

/**
 * Subscribes whom the topic does not have yet; the result holds the new and the old, by subscriberId, all of them with
 * the choices that were given.
 */
async function insertMissing(
  tx: Tx,
  world: World,
  environment: Environment,
  call: {
    topic: Topic
    requests: readonly SubscriptionRequest[]
    /** By subscriberId; absent where the call says nothing of them. */
    choices: ReadonlyMap<string, SubscriptionChoices | null>
    known: ReadonlyMap<string, SubscriberSummary>
  },
): Promise<Map<string, TopicSubscription>> {
  const { topic, known } = call
  const now = world.now()
  const wanted = call.requests.flatMap((request) => {
    const subscriber = known.get(request.subscriberId)
    if (subscriber === undefined) return []
    const isDefault = request.identifier === defaultIdentifier(topic.key, request.subscriberId)
    const identifier = isDefault ? null : (request.identifier ?? null)
    const given = { identifier, name: request.name ?? null, choices: call.choices.get(request.subscriberId) ?? null }
    return [{ subscriber, row: { id: world.newId(now), subscriberInternalId: subscriber._id, ...given } }]
  })
  const subscribed = new Map<string, TopicSubscription>()
  let missing = wanted
  for (let attempt = 1; missing.length > 0 && attempt <= insertTriesMax; attempt += 1) {
    const rows = missing.map(({ row }) => row)
    await insertSubscriptions(tx, environment, topic, rows, now)
    // A separate statement: with the insertion it would share a snapshot and miss what others have just committed.
    const subscribers = missing.map(({ subscriber }) => subscriber)
    const found = await findSubscriptionsOf(tx, environment, topic, subscribers)
    for (const subscription of found) subscribed.set(subscription.subscriber.subscriberId, subscription)
    missing = missing.filter(({ subscriber }) => !subscribed.has(subscriber.subscriberId))
  }
  const madeIds = new Set(wanted.map(({ row }) => row.id))
  const [made, old] = parted([...subscribed.values()], ({ _id }) => madeIds.has(_id))
  const changed = await replaceChoices(tx, environment, topic, old, call.choices)
  for (const { subscription, choices } of changed) {
    subscribed.set(subscription.subscriber.subscriberId, { ...subscription, choices })
  }
  const began = made.map((subscription) => ({
    subscription: { ...subscription, choices: null },
    choices: subscription.choices,
  }))
  await reportChoices(tx, world, environment, [...began, ...changed])
  return subscribed
}

/** Of those that were there before, as far as choices are given for them. One that is gone by now keeps nothing. */
async function replaceChoices(
  tx: Tx,
  environment: Environment,
  topic: Topic,
  subscriptions: readonly TopicSubscription[],
  given: ReadonlyMap<string, SubscriptionChoices | null>,
): Promise<ChangedChoices[]> {
  const subscribers = subscriptions.map(({ subscriber }) => subscriber).filter((one) => given.has(one.subscriberId))
  if (subscribers.length === 0) return []
  const locked = await lockSubscriptions(tx, environment, topic, { subscribers, identifiers: [] })
  const changed = locked.map((subscription) => ({
    subscription,
    choices: given.get(subscription.subscriber.subscriberId) ?? null,
  }))
  await updateChoices(tx, environment, changed)
  return changed
}

function parted<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function requestError(
  topicKey: string,
  request: SubscriptionRequest,
  known: ReadonlyMap<string, SubscriberSummary>,
): SubscriptionError | undefined {
  const { subscriberId } = request
  if (!known.has(subscriberId)) return unknownSubscriberError(subscriberId)
  const message = identifierMistake(topicKey, request)
  return message === undefined ? undefined : { subscriberId, code: 'INVALID_SUBSCRIPTION_IDENTIFIER', message }
}

/** Neither inserted nor there: another subscription of the topic has the identifier. */
function lostRequest(request: SubscriptionRequest): SubscriptionError {
  const { subscriberId, identifier } = request
  if (identifier === undefined) {
    const message = `Subscriber with ID '${subscriberId}' could not be subscribed; please try again.`
    return { subscriberId, code: 'SUBSCRIPTION_CREATE_FAILED', message }
  }
  const message = `Subscription identifier '${identifier}' is taken by another subscription of the topic.`
  return { subscriberId, identifier, code: 'INVALID_SUBSCRIPTION_IDENTIFIER', message }
}

interface FoundTargets {
  readonly known: ReadonlySet<string>
  readonly found: {
    readonly bySubscriber: ReadonlyMap<string, TopicSubscription>
    readonly byIdentifier: ReadonlyMap<string, TopicSubscription>
  }
}

async function findTargets(
  tx: Tx,
  environment: Environment,
  topic: Topic,
  targets: readonly SubscriptionTarget[],
): Promise<FoundTargets> {
  const given = targets.flatMap((target) => target.identifier ?? [])
  const identifiers = given.filter((identifier) => subscriberOfIdentifier(topic.key, identifier) === undefined)
  const owners = given.flatMap((identifier) => subscriberOfIdentifier(topic.key, identifier) ?? [])
  const subscriberIds = [...targets.flatMap((target) => target.subscriberId ?? []), ...owners]
  const subscribers = await findSummaries(tx, environment, [...new Set(subscriberIds)])
  const subscriptions = await lockSubscriptions(tx, environment, topic, { subscribers, identifiers })
  return {
    known: new Set(subscribers.map((subscriber) => subscriber.subscriberId)),
    found: {
      bySubscriber: new Map(subscriptions.map((subscription) => [subscription.subscriber.subscriberId, subscription])),
      byIdentifier: new Map(subscriptions.map((subscription) => [subscription.identifier, subscription])),
    },
  }
}

function judgeTarget(
  target: SubscriptionTarget,
  known: FoundTargets['known'],
  found: FoundTargets['found'],
): TopicSubscription | SubscriptionError {
  const { subscriberId, identifier } = target
  if (subscriberId === undefined && identifier === undefined) {
    const message = 'Either a subscriberId or an identifier is required.'
    return { subscriberId: '', code: 'INVALID_REQUEST', message }
  }
  if (subscriberId !== undefined && !known.has(subscriberId)) return unknownSubscriberError(subscriberId)
  const subscription =
    identifier === undefined ? found.bySubscriber.get(subscriberId ?? '') : found.byIdentifier.get(identifier)
  const fits = subscriberId === undefined || subscription?.subscriber.subscriberId === subscriberId
  if (subscription !== undefined && fits) return subscription
  const what = identifier === undefined ? `of subscriber '${subscriberId}'` : `with identifier '${identifier}'`
  return {
    subscriberId: subscriberId ?? '',
    ...(identifier === undefined ? {} : { identifier }),
    code: 'SUBSCRIPTION_NOT_FOUND',
    message: `The topic has no subscription ${what}.`,
  }
}

/** Subscribers' ids are stored trimmed. */
function trimmed<Item extends { subscriberId?: string }>(item: Item): Item {
  return item.subscriberId === undefined ? item : { ...item, subscriberId: item.subscriberId.trim() }
}

function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const byKey = new Map<string, Item>()
  for (const item of items) if (!byKey.has(keyOf(item))) byKey.set(keyOf(item), item)
  return [...byKey.values()]
}

function refuseCount(count: number, verb: 'subscribe' | 'unsubscribe'): void {
  if (count === 0) throw invalidField('subscriptions', 'At least one subscriber identifier is required')
  if (count > subscriptionsPerCallMax) {
    throw invalidField('subscriptions', `Cannot ${verb} more than ${subscriptionsPerCallMax} subscribers at once`)
  }
}

const unfitKey = (key: string): Problem => invalidField('topicKey', `topicKey ${topicKeyWords}`, key)

const unknownSubscriberError = (subscriberId: string): SubscriptionError => ({
  subscriberId,
  code: 'SUBSCRIBER_NOT_FOUND',
  message: `Subscriber with ID '${subscriberId}' could not be found.`,
})

const allFailed = (result: SubscriptionsResult): Problem =>
  new Problem(400, 'None of the subscriptions could be changed; see errors', { members: { ...result } })
