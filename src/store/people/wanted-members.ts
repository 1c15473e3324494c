// Which members of topics want to hear of a workflow through them: the choices of their subscriptions, evaluated for an event.
import type { Sql } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ConditionScope } from '../../domain/preferences/subscription-preferences.ts'
import { pageWorkMax, shownActorOf, weighChoice } from '../../domain/preferences/subscription-preferences.ts'
import { Turn } from '../../domain/turn.ts'
import type { ContextRow } from './contexts.ts'
import { findContexts } from './contexts.ts'
import { contextsOf, personOf } from './person.ts'
import type { RecipientRow } from './subscribers.ts'
import { findRecipients } from './subscribers.ts'
import type { TopicMember } from './topic-subscriptions.ts'

export interface WantedFor {
  /** A critical workflow asks no one. */
  readonly isCritical: boolean
  /** Asked for only where a condition has to be evaluated. */
  event(): Promise<ConditionEvent | undefined>
  readonly now: Date
  /** Subscribers as they would be, by internal id, where an event is only tried. */
  readonly people?: ReadonlyMap<string, RecipientRow>
  /** Contexts that the event would create. */
  readonly contexts?: readonly ContextRow[]
}

export type ConditionEvent = Pick<TriggeredEvent, 'payload' | 'actorId' | 'contextKeys'>

export interface WantedMembers<Member> {
  /** Each with the topics through which they want it, and without those who want it through none. */
  readonly wanted: Member[]
  /** How many of the members were judged, from the first: all of them, unless conditions took too much work. */
  readonly judged: number
}

/** At least one is judged, so that who goes on after the last one comes to an end. */
export async function wantedMembers<Member extends TopicMember>(
  db: Sql,
  environment: Environment,
  members: readonly Member[],
  asked: WantedFor,
): Promise<WantedMembers<Member>> {
  if (asked.isCritical || members.every(({ choices }) => choices === null)) {
    return { wanted: [...members], judged: members.length }
  }
  const scopeOf = await scopesFor(db, environment, members, asked)
  const wanted: Member[] = []
  const turn = new Turn()
  let [judged, spent] = [0, 0]
  for (const member of members) {
    if (spent >= pageWorkMax) break
    if (turn.isOver()) await turn.next()
    judged += 1
    const { id, choices } = member
    if (choices === null) {
      wanted.push(member)
      continue
    }
    const topicIds = member.topicIds.filter((_, place) => {
      const choice = choices[place]
      if (choice == null) return true
      const weighed = weighChoice(choice, scopeOf(id), asked.now)
      spent += weighed.spent
      return weighed.isWanted
    })
    if (topicIds.length > 0) wanted.push({ ...member, topicIds })
  }
  return { wanted, judged }
}

const nothing: ConditionScope = { payload: {}, subscriber: undefined, actor: undefined, context: {} }

/** What the conditions of each of the members read, by internal id. Without a condition among them, nothing is read. */
export async function scopesFor(
  db: Sql,
  environment: Environment,
  members: readonly Pick<TopicMember, 'id' | 'choices'>[],
  { event: findEvent, people, contexts = [] }: Pick<WantedFor, 'event' | 'people' | 'contexts'>,
): Promise<(subscriberId: string) => ConditionScope> {
  const asking = members.filter(({ choices }) => choices?.some((choice) => choice?.condition !== undefined))
  const event = asking.length === 0 ? undefined : await findEvent()
  if (event === undefined) return () => nothing
  const { payload, actorId, contextKeys } = event
  const ids = [...asking.map(({ id }) => id), ...(actorId === null ? [] : [actorId])]
  const [rows, stored] = await Promise.all([
    findRecipients(
      db,
      environment,
      [...new Set(ids)].filter((id) => people?.has(id) !== true),
    ),
    findContexts(db, environment, [...(contextKeys ?? [])]),
  ])
  const byId = new Map([...rows.map((row) => [row.id, row] as const), ...(people ?? [])])
  const personNamed = (id: string) => {
    const row = byId.get(id)
    return row && personOf(row)
  }
  const known = new Set(stored.map(({ key }) => key))
  const context = contextsOf([...stored, ...contexts.filter(({ key }) => !known.has(key))])
  const person = actorId === null ? undefined : personNamed(actorId)
  const actor = person && shownActorOf(person)
  return (subscriberId) => ({ payload, subscriber: personNamed(subscriberId), actor, context })
}
