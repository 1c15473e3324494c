// Who would be notified of an event: the people it names, then the subscribers of its topics, each once; and who is
// excluded.
import type { Sql } from '../db/sql.ts'
import type { EventRequest } from '../domain/delivery/event.ts'
import { recipientsPerPageMax } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import type { Topic } from '../domain/people/topic.ts'
import { findSubscriberIds } from '../store/people/subscribers.ts'
import { countMembers, findMembersAmong, findTopicMembers } from '../store/people/topic-subscriptions.ts'
import type { ConditionEvent, WantedFor } from '../store/people/wanted-members.ts'
import { wantedMembers } from '../store/people/wanted-members.ts'
import { mentionedContexts } from './known.ts'
import type { People } from './people.ts'

export interface Member {
  /** The internal id. */
  readonly id: string
  readonly subscriberId: string
  /** The keys of the topics it was found by; empty where the event names it. */
  readonly topics: readonly string[]
}

export interface Dropped {
  readonly subscriberId: string
  /** `subscription`: by a preference of their subscription to the topic. */
  readonly reason: 'excluded' | 'actor' | 'subscription'
}

export interface Audience {
  /** The first ones: those named in the order they were given, then members of topics by their ids. */
  readonly shown: readonly Member[]
  readonly count: number
  readonly countCapped: boolean
  readonly dropped: readonly Dropped[]
}

/** As far as lists count elsewhere. */
const countedMax = 50_000
/** Memberships: whoever is in many topics is met in each of them. */
const metMax = 4 * countedMax
/** Further excluded people are just not listed. */
const droppedMax = 100
/** Whoever leaves out more than these pages hold is shown fewer people. */
const pagesMax = 5

export interface AudienceAsked {
  readonly request: EventRequest
  /** As it would be stored. */
  readonly event: ConditionEvent
  readonly workflow: { readonly id: string; readonly isCritical: boolean }
  readonly people: People
  readonly topics: readonly Topic[]
  readonly limit: number
  readonly at: Date
}

export async function findAudience(db: Sql, environment: Environment, asked: AudienceAsked): Promise<Audience> {
  const { request, people, topics, limit } = asked
  const named = request.recipients.slice(0, limit).map(({ subscriberId }): Member => {
    return { id: people.ids.get(subscriberId) ?? '', subscriberId, topics: [] }
  })
  if (topics.length === 0) {
    return { shown: named, count: request.recipients.length, countCapped: false, dropped: [] }
  }
  const left = await findLeftOut(db, environment, request, people, topics)
  const found = await firstMembers(db, environment, asked, { left, limit: limit - named.length })
  const { members, isAll } = found
  const more = isAll ? { count: members.length, isCapped: false } : await countedMembers(db, environment, asked, left)
  const count = request.recipients.length + more.count
  return {
    shown: [...named, ...members],
    count: Math.min(count, countedMax),
    countCapped: count > countedMax || more.isCapped,
    dropped: [...left.dropped, ...found.unwanted].slice(0, droppedMax),
  }
}

interface LeftOut {
  /** The internal ids of those who are not notified through topics: already named, excluded, or the actor. */
  readonly ids: ReadonlySet<string>
  readonly dropped: readonly Dropped[]
}

async function findLeftOut(
  db: Sql,
  environment: Environment,
  { recipients, topics: mentions, actor }: EventRequest,
  people: People,
  topics: readonly Topic[],
): Promise<LeftOut> {
  const names = new Set(recipients.map(({ subscriberId }) => subscriberId))
  const excluded = new Set(mentions.flatMap(({ exclude }) => exclude))
  const asked = [...new Set([...excluded, ...names])]
  const ids = asked.length === 0 ? new Map<string, string>() : await findSubscriberIds(db, environment, asked)
  const actorId = actor && people.ids.get(actor.subscriberId)
  const out = [...excluded].filter((name) => !names.has(name) && ids.has(name))
  const candidates = new Map<string, Dropped>(
    out.map((name) => [ids.get(name) ?? '', { subscriberId: name, reason: 'excluded' }]),
  )
  if (actorId !== undefined && actor !== undefined && !names.has(actor.subscriberId)) {
    candidates.set(actorId, { subscriberId: actor.subscriberId, reason: 'actor' })
  }
  const topicIds = topics.map(({ _id }) => _id)
  const members = await findMembersAmong(db, environment, topicIds, [...candidates.keys()])
  return {
    ids: new Set([...ids.values(), ...(actorId === undefined ? [] : [actorId])]),
    dropped: [...candidates].flatMap(([id, one]) => (members.has(id) ? [one] : [])).slice(0, droppedMax),
  }
}

async function firstMembers(
  db: Sql,
  environment: Environment,
  { topics, workflow, request, event, people, at }: AudienceAsked,
  { left, limit }: { left: LeftOut; limit: number },
): Promise<{ members: Member[]; isAll: boolean; unwanted: Dropped[] }> {
  const keys = new Map(topics.map(({ _id, key }) => [_id, key]))
  const members: Member[] = []
  const unwanted: Dropped[] = []
  const wanting: WantedFor = {
    isCritical: workflow.isCritical,
    event: async () => event,
    now: at,
    people: people.rows,
    contexts: mentionedContexts(request),
  }
  let after: string | null = null
  for (let page = 0; page < pagesMax; page += 1) {
    const found = await findTopicMembers(db, environment, {
      topicIds: topics.map(({ _id }) => _id),
      workflowId: workflow.id,
      after,
      limit: recipientsPerPageMax,
    })
    const there = found.filter(({ id, isThere }) => isThere && !left.ids.has(id))
    const { wanted: wanters, judged } = await wantedMembers(db, environment, there, wanting)
    const wanted = new Map(wanters.map((one) => [one.id, one]))
    for (const { id, subscriberId } of there.slice(0, judged)) {
      const member = wanted.get(id)
      if (member === undefined) {
        unwanted.push({ subscriberId, reason: 'subscription' })
        continue
      }
      if (members.length >= limit) return { members, isAll: false, unwanted }
      members.push({ id, subscriberId, topics: member.topicIds.flatMap((topicId) => keys.get(topicId) ?? []) })
    }
    const isCut = judged < there.length
    after = (isCut ? there[judged - 1] : found.at(-1))?.id ?? null
    if (!isCut && found.length < recipientsPerPageMax) return { members, isAll: true, unwanted }
  }
  return { members, isAll: false, unwanted }
}

async function countedMembers(
  db: Sql,
  environment: Environment,
  { topics, workflow }: AudienceAsked,
  left: LeftOut,
): Promise<{ count: number; isCapped: boolean }> {
  const { count, met } = await countMembers(db, environment, {
    topicIds: topics.map(({ _id }) => _id),
    workflowId: workflow.id,
    without: [...left.ids],
    perTopicMax: countedMax + 1,
    metMax,
  })
  return { count, isCapped: met >= metMax }
}
