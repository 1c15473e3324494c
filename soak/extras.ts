// What an event may carry beside a name and a payload: people given with their fields, an actor, a tenant, contexts, a long text.
import type { Random } from '../test/support/random.ts'
import {
  emailOf,
  membersOf,
  moverIds,
  newSubscriberOf,
  phoneOf,
  subscriberIds,
  tenantIds,
  tenantNameOf,
} from './people.ts'

/** A recipient: the id alone, or with fields that the event gives. */
export interface PlannedRecipient {
  readonly subscriberId: string
  readonly given?: Readonly<Record<string, unknown>> & { readonly email?: string }
}

export interface Extras {
  readonly actor?: string
  readonly tenant?: string | { readonly identifier: string; readonly name: string; readonly data: object }
  readonly context?: {
    readonly region: string | { readonly id: string; readonly data: object }
    /** A context that no other event has. */
    readonly order?: { readonly id: string; readonly data: { readonly m: string } }
  }
  readonly textLength?: number
}

const actorShare = 0.25
const tenantShare = 0.15
const contextShare = 0.15
const longTextShare = 0.06
const longTextLength = 20_000
const regionIds = ['north', 'east', 'south', 'west'] as const
/** How a recipient is given, one of these with the same chance. */
const ways = ['id', 'id', 'fields', 'changed', 'new', 'mover'] as const

export function planExtras(random: Random, marker: string, topic: string | undefined): Extras {
  return {
    ...(random.chance(actorShare)
      ? { actor: random.oneOf(topic === undefined ? subscriberIds : membersOf(topic)) }
      : {}),
    ...(random.chance(tenantShare) ? { tenant: tenantFor(random, marker) } : {}),
    ...(random.chance(contextShare) ? { context: contextFor(random, marker) } : {}),
    ...(random.chance(longTextShare) ? { textLength: longTextLength } : {}),
  }
}

function tenantFor(random: Random, marker: string): NonNullable<Extras['tenant']> {
  const identifier = random.oneOf(tenantIds)
  return random.chance(0.5) ? identifier : { identifier, name: tenantNameOf(identifier), data: { last: marker } }
}

function contextFor(random: Random, marker: string): NonNullable<Extras['context']> {
  const id = random.oneOf(regionIds)
  const region = random.chance(0.5) ? id : { id, data: { place: id } }
  return random.chance(0.5) ? { region } : { region, order: { id: marker, data: { m: marker } } }
}

/** `known` is who it would be by id. */
export function nameRecipient(
  random: Random,
  known: string,
  event: { readonly index: number; readonly position: number; readonly marker: string },
): PlannedRecipient {
  switch (random.oneOf(ways)) {
    case 'id':
      return { subscriberId: known }
    case 'fields':
      return withFields(known)
    case 'changed':
      return { subscriberId: known, given: { firstName: event.marker, data: { last: event.marker } } }
    case 'new':
      return withFields(newSubscriberOf(event.index, event.position))
    case 'mover': {
      const mover = random.oneOf(moverIds)
      return { subscriberId: mover, given: { email: emailOf(`${mover}-${event.marker}`) } }
    }
  }
}

const withFields = (subscriberId: string): PlannedRecipient => ({
  subscriberId,
  given: { email: emailOf(subscriberId), phone: phoneOf(subscriberId), firstName: subscriberId },
})
