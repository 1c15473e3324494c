// An erasure: what is removed of a person, step by step, and the receipt that says so without naming them.
import { createHmac } from 'node:crypto'
import type { SuppressionChannel } from './suppression.ts'

/**
 * In this order. `canceling`: what has not been sent is cancelled. `waiting`: requests in progress, and events that are
 * being expanded, may still create data about the person. `removing`: notifications with their steps and messages.
 * `searching`: events of others that mention the person. `finishing`: the person.
 */
export const erasurePhases = ['canceling', 'waiting', 'removing', 'searching', 'finishing', 'completed'] as const
export type ErasurePhase = (typeof erasurePhases)[number]

export const removedKinds = [
  'subscribers',
  'channels',
  'topicSubscriptions',
  'canceledSteps',
  'notifications',
  'steps',
  'messages',
  'events',
  'attachments',
  'mentionsInEvents',
  'digestWindows',
  'digestBackoffs',
  'throttleWindows',
  'tasks',
  'redrives',
  'retractions',
  'suppressedAddresses',
  'webhookDeliveries',
] as const
export type RemovedKind = (typeof removedKinds)[number]
export type Removed = Readonly<Partial<Record<RemovedKind, number>>>

export interface Erasure {
  readonly _id: string
  /** `stuck`: it failed repeatedly; requesting the same erasure restarts it. */
  readonly status: 'running' | 'completed' | 'stuck'
  readonly phase: ErasurePhase
  /** The same for the same subscriberId in the same environment; nothing else can be derived from it. */
  readonly subscriberHash: string
  /** The id of the API key. */
  readonly requestedBy: string
  readonly requestedAt: string
  readonly completedAt: string | null
  readonly removed: Readonly<Record<RemovedKind, number>>
}

/** What an erase remembers between two pages. */
export interface ErasureState {
  readonly phase: ErasurePhase
  /** The person's internal ids: a subscriber that was deleted and created again has several. */
  readonly ids: readonly string[]
  readonly requestedAt: string
  /** The position of this phase's walk. */
  readonly after: string | null
  /** Whether this walk met a step that a provider is just being asked for. */
  readonly met: boolean
}

/** No address begins like this: it could be neither an e-mail address nor a number. */
const hashMark = '#'

const keyed = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text, 'utf8').digest()

/** What stays on the suppression list of an address that must still not be written to. `address` is in its compared form. */
export function hiddenAddress(key: Buffer, channel: SuppressionChannel, address: string): string {
  return `${hashMark}${keyed(key, `address/${channel}/${address}`).toString('hex')}`
}

export const subscriberHash = (key: Buffer, subscriberId: string): Buffer => keyed(key, `subscriber/${subscriberId}`)

/** The counts of two pages. */
export function addedUp(one: Removed, other: Removed): Removed {
  const sums = removedKinds.map((kind) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)] as const)
  return Object.fromEntries(sums.filter(([, count]) => count > 0))
}
