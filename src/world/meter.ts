// The meter: what the pipeline has done since this process started, as plain counters that cost almost nothing.
import type { TriggerStatus } from '../domain/delivery/event.ts'
import type { Channel } from '../domain/delivery/integration.ts'

/**
 * How one attempt at a message ended. `retried`: it is tried again, by the same integration or by the next. `unsure`:
 * it may have been sent, and is not repeated. `captured`: stored instead of sent.
 */
const messageOutcomes = ['sent', 'captured', 'retried', 'unsure', 'failed'] as const
export type MessageOutcome = (typeof messageOutcomes)[number]

export const laneNames = ['direct', 'fan_out'] as const
export type QueueName = 'jobs' | 'tasks'
const webhookOutcomes = ['delivered', 'failed'] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]

/** Where no provider had anything to do with a message. */
export const noProvider = 'none'

export interface Meter {
  /** Events of calls that were committed; `repeated`: their transaction ids had run before. */
  countEvents(status: TriggerStatus | 'repeated', count: number): void
  countNotifications(lane: number, count: number): void
  countMessage(channel: Channel | 'unknown', providerId: string, outcome: MessageOutcome): void
  /** How long after its event a step reached its recipient. */
  noteDelivery(channel: Channel | 'unknown', afterMs: number): void
  countBuried(count: number): void
  countReceipt(providerId: string, status: string): void
  countLeaseExpiries(queue: QueueName, count: number): void
  /** One attempt to send an event to an endpoint of the customer's. */
  countWebhook(outcome: WebhookOutcome): void
  read(): Readings
}

/** One count, with the values of its labels in their order. */
export interface Reading {
  readonly labels: readonly string[]
  readonly value: number
}

export interface TimeReading {
  readonly labels: readonly string[]
  /** How many took no longer than the bound at the same place of `deliveryBoundsMs`. */
  readonly upTo: readonly number[]
  readonly count: number
  readonly sumMs: number
}

export interface Readings {
  readonly events: readonly Reading[]
  readonly notifications: readonly Reading[]
  readonly messages: readonly Reading[]
  readonly deliveries: readonly TimeReading[]
  readonly buried: readonly Reading[]
  readonly receipts: readonly Reading[]
  readonly leaseExpiries: readonly Reading[]
  readonly webhooks: readonly Reading[]
}

/** From the fastest possible delivery to what is no longer prompt. */
export const deliveryBoundsMs = [
  10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
] as const

/** Labels come from bounded sets; should one not, the scraper must not drown in it: the rest is `other`. */
const labelSetsMax = 2_000

export function createMeter(): Meter {
  const events = new Tally()
  const notifications = new Tally()
  const messages = new Tally()
  const buried = new Tally()
  const receipts = new Tally()
  const leaseExpiries = new Tally()
  const webhooks = new Tally()
  const deliveries = new Map<string, Times>()
  // Those that should stay at nothing are there from the start: an alert sees the first of them rise.
  buried.add([], 0)
  for (const queue of ['jobs', 'tasks'] as const) leaseExpiries.add([queue], 0)
  for (const outcome of webhookOutcomes) webhooks.add([outcome], 0)
  return {
    countEvents: (status, count) => events.add([status], count),
    countNotifications: (lane, count) => notifications.add([laneNames[lane] ?? String(lane)], count),
    countMessage: (channel, providerId, outcome) => messages.add([channel, providerId, outcome], 1),
    noteDelivery: (channel, afterMs) => {
      const times = deliveries.get(channel) ?? new Times()
      deliveries.set(channel, times)
      times.add(afterMs)
    },
    countBuried: (count) => buried.add([], count),
    countReceipt: (providerId, status) => receipts.add([providerId, status], 1),
    countLeaseExpiries: (queue, count) => leaseExpiries.add([queue], count),
    countWebhook: (outcome) => webhooks.add([outcome], 1),
    read: () => ({
      events: events.read(),
      notifications: notifications.read(),
      messages: messages.read(),
      deliveries: [...deliveries].map(([channel, times]) => ({ labels: [channel], ...times.read() })),
      buried: buried.read(),
      receipts: receipts.read(),
      leaseExpiries: leaseExpiries.read(),
      webhooks: webhooks.read(),
    }),
  }
}

class Tally {
  readonly #counts = new Map<string, { readonly labels: readonly string[]; value: number }>()

  add(labels: readonly string[], count: number): void {
    const key = labels.join('\n')
    const known = this.#counts.get(key)
    if (known !== undefined) known.value += count
    else if (this.#counts.size < labelSetsMax || labels.every(isOther)) this.#counts.set(key, { labels, value: count })
    else this.add(labels.map(toOther), count)
  }

  read(): Reading[] {
    return [...this.#counts.values()].map(({ labels, value }) => ({ labels, value }))
  }
}

const other = 'other'
const toOther = (): string => other
const isOther = (label: string): boolean => label === other

class Times {
  readonly #within = deliveryBoundsMs.map(() => 0)
  #count = 0
  #sumMs = 0

  add(givenMs: number): void {
    // Clocks of two nodes may differ by a little.
    const ms = Math.max(0, givenMs)
    this.#count += 1
    this.#sumMs += ms
    const place = deliveryBoundsMs.findIndex((bound) => ms <= bound)
    if (place >= 0) this.#within[place] = (this.#within[place] ?? 0) + 1
  }

  read(): Omit<TimeReading, 'labels'> {
    let total = 0
    const upTo = this.#within.map((count) => {
      total += count
      return total
    })
    return { upTo, count: this.#count, sumMs: this.#sumMs }
  }
}
