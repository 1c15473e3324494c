// The load of a seed: which events there are, and how they are put into calls. The same seed plans the same load.
import type { Random } from '../test/support/random.ts'
import type { EnvironmentLetter } from './people.ts'
import { gathererIds, largeTopics, subscriberIds } from './people.ts'
import { between, randomFor } from './random.ts'

export interface PlannedEvent {
  readonly transactionId: string
  readonly environment: EnvironmentLetter
  readonly workflow: string
  /** In every text that comes of the event. */
  readonly marker: string
  /** The subscribers it names, or none where it names a topic. */
  readonly recipients: readonly string[]
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
    const first = planned
    const list = Array.from({ length: size }, (_, index) => planEvent(random, seed, environment, first + index))
    calls.push({ environment, events: list, isBulk })
    planned += size
  }
  return calls
}

function planEvent(random: Random, seed: string, environment: EnvironmentLetter, index: number): PlannedEvent {
  const kind = kindOf(random)
  const isCancelled = kind === 'cancelled' || kind === 'cancelledDigest'
  return {
    transactionId: `soak-${seed}-${index}`,
    environment,
    marker: `${environment}${index}`,
    via: random.oneOf(mailRoutes),
    ...audienceOf(random, kind),
    ...(isCancelled ? { cancelAfterMs: between(random, cancelAfterMs) } : {}),
  }
}

function audienceOf(random: Random, kind: Kind): Pick<PlannedEvent, 'workflow' | 'recipients' | 'topic'> {
  const one = [random.oneOf(subscriberIds)]
  switch (kind) {
    case 'inApp':
      return { workflow: 'soak-in-app', recipients: one }
    case 'several':
      return { workflow: 'soak-in-app', recipients: several(random, 5) }
    case 'mail':
      return { workflow: 'soak-mail', recipients: several(random, 2) }
    case 'sms':
      return { workflow: 'soak-sms', recipients: one }
    case 'digest':
    case 'cancelledDigest':
      return { workflow: 'soak-digest', recipients: [random.oneOf(gathererIds)] }
    case 'delay':
      return { workflow: 'soak-delay', recipients: one }
    case 'cancelled':
      return { workflow: 'soak-cancel', recipients: one }
    case 'topic':
      return { workflow: 'soak-topic', recipients: [], topic: random.oneOf(largeTopics) }
    case 'topicMail':
      return { workflow: 'soak-topic-mail', recipients: [], topic: 'mail' }
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
