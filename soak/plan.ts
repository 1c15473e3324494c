// The load of a seed: which events there are, and how they are put into calls. The same seed plans the same load.
import type { Random } from '../test/support/random.ts'
import type { Extras, PlannedRecipient } from './extras.ts'
import { nameRecipient, planExtras } from './extras.ts'
import type { EnvironmentLetter } from './people.ts'
import { gathererIds, largeTopics, subscriberIds } from './people.ts'
import { between, randomFor } from './random.ts'

export interface PlannedEvent extends Extras {
  /** Absent where the call has a key instead: then the answer says it. */
  readonly transactionId?: string
  readonly environment: EnvironmentLetter
  readonly workflow: string
  /** In every text that comes of the event. */
  readonly marker: string
  /** The people it names, or none where it names a topic. */
  readonly recipients: readonly PlannedRecipient[]
  readonly topic?: string
  /** Chooses the e-mail integration. */
  readonly via: string
  /** How long after its acknowledgement it is cancelled. */
  readonly cancelAfterMs?: number
}

/** One HTTP request: a single trigger, or a bulk one. */
export interface PlannedCall {
  readonly environment: EnvironmentLetter
  readonly events: readonly PlannedEvent[]
  readonly isBulk: boolean
  /** Its `Idempotency-Key`. */
  readonly key?: string
  /** Two of them send the very same at the same time: still one call. */
  readonly senders: 1 | 2
}

/** In how many of a thousand events each kind is drawn. */
const kinds: readonly (readonly [weight: number, kind: Kind])[] = [
  [280, 'inApp'],
  [50, 'several'],
  [320, 'mail'],
  [70, 'sms'],
  [140, 'digest'],
  [20, 'cancelledDigest'],
  [60, 'delay'],
  [40, 'cancelled'],
  [10, 'topic'],
  [10, 'topicMail'],
]
type Kind =
  | 'inApp'
  | 'several'
  | 'mail'
  | 'sms'
  | 'digest'
  | 'cancelledDigest'
  | 'delay'
  | 'cancelled'
  | 'topic'
  | 'topicMail'

const weights = kinds.reduce((sum, [weight]) => sum + weight, 0)
const productionShare = 0.2
const bulkShare = 0.3
const bulkSizes = [2, 25] as const
const cancelAfterMs = [0, 1500] as const
const twinShare = 0.06
/** Calls without any extras: a service may take a shorter way for a group of such calls. */
const plainShare = 0.5
/** By what a repeat is known: the public client sends a key with every call. */
const identities = ['transactionId', 'transactionId', 'key', 'key', 'both'] as const

/** `single` and `batch` are HTTP providers that take one and many messages per call. */
export const mailRoutes = ['single', 'single', 'batch', 'smtp'] as const

export function planCalls(seed: string, events: number): PlannedCall[] {
  const random = randomFor(seed, 'load')
  const calls: PlannedCall[] = []
  let planned = 0
  while (planned < events) {
    const environment = random.chance(productionShare) ? 'p' : 'd'
    const isBulk = random.chance(bulkShare)
    const size = Math.min(isBulk ? between(random, bulkSizes) : 1, events - planned)
    const identity = random.oneOf(identities)
    const shared = {
      seed,
      environment,
      isPlain: random.chance(plainShare),
      hasTransactionId: identity !== 'key',
    } as const
    const first = planned
    const list = Array.from({ length: size }, (_, index) => planEvent(random, { ...shared, index: first + index }))
    calls.push({
      ...{ environment, events: list, isBulk, senders: random.chance(twinShare) ? 2 : 1 },
      ...(identity === 'transactionId' ? {} : { key: `soak-key-${seed}-${first}` }),
    })
    planned += size
  }
  return calls
}

interface EventFrame {
  readonly seed: string
  readonly environment: EnvironmentLetter
  readonly index: number
  readonly isPlain: boolean
  readonly hasTransactionId: boolean
}

function planEvent(random: Random, frame: EventFrame): PlannedEvent {
  const { seed, environment, index, isPlain, hasTransactionId } = frame
  const kind = kindOf(random)
  const isCancelled = kind === 'cancelled' || kind === 'cancelledDigest'
  const marker = `${environment}${index}`
  const { workflow, people = [], topic } = audienceOf(random, kind)
  const isInline = !isPlain && workflow !== 'soak-digest'
  return {
    ...(hasTransactionId ? { transactionId: `soak-${seed}-${index}` } : {}),
    ...{ environment, workflow, marker, via: random.oneOf(mailRoutes) },
    recipients: isInline
      ? distinct(people.map((known, position) => nameRecipient(random, known, { index, position, marker })))
      : people.map((subscriberId) => ({ subscriberId })),
    ...(topic === undefined ? {} : { topic }),
    ...(isCancelled ? { cancelAfterMs: between(random, cancelAfterMs) } : {}),
    ...(isPlain ? {} : planExtras(random, marker, topic)),
  }
}

/** A subscriber who is named twice is notified once. */
const distinct = (recipients: readonly PlannedRecipient[]): PlannedRecipient[] => [
  ...new Map(recipients.map((recipient) => [recipient.subscriberId, recipient])).values(),
]

interface Audience {
  readonly workflow: string
  readonly people?: readonly string[]
  readonly topic?: string
}

function audienceOf(random: Random, kind: Kind): Audience {
  const one = [random.oneOf(subscriberIds)]
  switch (kind) {
    case 'inApp':
      return { workflow: 'soak-in-app', people: one }
    case 'several':
      return { workflow: 'soak-in-app', people: several(random, 5) }
    case 'mail':
      return { workflow: 'soak-mail', people: several(random, 2) }
    case 'sms':
      return { workflow: 'soak-sms', people: one }
    case 'digest':
    case 'cancelledDigest':
      return { workflow: 'soak-digest', people: [random.oneOf(gathererIds)] }
    case 'delay':
      return { workflow: 'soak-delay', people: one }
    case 'cancelled':
      return { workflow: 'soak-cancel', people: one }
    case 'topic':
      return { workflow: 'soak-topic', topic: random.oneOf(largeTopics) }
    case 'topicMail':
      return { workflow: 'soak-topic-mail', topic: 'mail' }
  }
}

function kindOf(random: Random): Kind {
  let left = random.integer(weights)
  for (const [weight, kind] of kinds) {
    if (left < weight) return kind
    left -= weight
  }
  throw new Error('The weights do not add up')
}

function several(random: Random, most: number): string[] {
  const count = 1 + random.integer(most)
  return [...new Set(Array.from({ length: count }, () => random.oneOf(subscriberIds)))]
}
