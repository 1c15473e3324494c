// Counts: what is counted and by what, how long it is kept, and the buckets of delivery times.
import { channels } from '../delivery/integration.ts'
import { runnableStepTypes } from '../workflows/workflow.ts'

export const countGroups = ['workflow', 'channel', 'provider', 'outcome'] as const
export type CountGroup = (typeof countGroups)[number]

/** What a caller can query, each with what it can be grouped by. */
export const countMeasures = ['messages', 'retries', 'steps', 'endings', 'notifications', 'events', 'buried'] as const
export type CountMeasure = (typeof countMeasures)[number]

export interface MeasureFacts {
  readonly groups: readonly CountGroup[]
  readonly channels: readonly string[]
  readonly outcomes: readonly string[]
}

const messageFacts = { groups: ['workflow', 'channel', 'provider'], channels, outcomes: [] } as const
const stepFacts = { groups: ['workflow', 'channel'], channels: runnableStepTypes, outcomes: [] } as const
const eventFacts = { groups: ['workflow'], channels: [], outcomes: [] } as const
const ends = ['completed', 'failed', 'skipped', 'canceled', 'merged'] as const

export const measureFacts: Readonly<Record<CountMeasure, MeasureFacts>> = {
  messages: {
    ...messageFacts,
    groups: [...messageFacts.groups, 'outcome'],
    outcomes: ['sent', 'captured', 'unsure', 'failed'],
  },
  retries: messageFacts,
  steps: { ...stepFacts, groups: [...stepFacts.groups, 'outcome'], outcomes: ends },
  endings: { ...eventFacts, groups: ['workflow', 'outcome'], outcomes: ends },
  notifications: eventFacts,
  events: eventFacts,
  buried: stepFacts,
}

/** What delivery times can be grouped by, and failures be filtered by. */
export const deliveryFacts: MeasureFacts = messageFacts
export const failureFacts: MeasureFacts = { ...stepFacts, groups: ['workflow', 'channel', 'provider'] }

/** The granularity of time; each grain contains everything that the finer one does. */
export const countGrains = ['minute', 'hour', 'day'] as const
export type CountGrain = (typeof countGrains)[number]

/** What is stored; a day includes its hours. */
export const storedGrains = ['minute', 'day'] as const
export type StoredGrain = (typeof storedGrains)[number]

export const hoursPerDay = 24
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = hoursPerDay * hourMs

/**
 * How far back each grain goes: minutes to investigate a bad night of last week, hours and days to compare a month with
 * the same month of the year before.
 */
export const keptMs: Readonly<Record<CountGrain, number>> = {
  minute: 7 * dayMs,
  hour: 396 * dayMs,
  day: 396 * dayMs,
}

/** Four buckets from each duration to its double: a time is shown with an error of at most 9 %. */
const bucketsPerDoubling = 4
/** Whatever took longer than six weeks is shown as six weeks. */
export const deliveryBucketMax = 127
export const deliveryBuckets = deliveryBucketMax + 1

/** The bucket of a time: bucket n holds what took up to 2^(n/4) ms, and longer than the previous one. */
export function deliveryBucketOf(ms: number): number {
  if (ms <= 1) return 0
  return Math.min(Math.ceil(bucketsPerDoubling * Math.log2(ms)), deliveryBucketMax)
}

/** The middle of a bucket: no time in it is further away than a factor of 2^(1/8). */
export function deliveryMsOf(bucket: number): number {
  return bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / bucketsPerDoubling)
}

export interface BucketCount {
  readonly bucket: number
  readonly count: number
}

/** The maximum time of a share of all; 0 if there is none. */
export function percentileMs(buckets: readonly BucketCount[], share: number): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0)
  const rank = Math.ceil(total * share)
  let passed = 0
  for (const { bucket, count } of [...buckets].sort((one, other) => one.bucket - other.bucket)) {
    passed += count
    if (count > 0 && passed >= rank) return deliveryMsOf(bucket)
  }
  return 0
}

/** The same, of one count for each bucket. */
export function percentileOfCounts(counts: Float64Array, share: number): number {
  const rank = Math.ceil(totalOf(counts) * share)
  let passed = 0
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const count = counts[bucket] ?? 0
    passed += count
    if (count > 0 && passed >= rank) return deliveryMsOf(bucket)
  }
  return 0
}

export function totalOf(counts: Float64Array): number {
  let total = 0
  for (let place = 0; place < counts.length; place += 1) total += counts[place] ?? 0
  return total
}
