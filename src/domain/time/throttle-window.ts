// A throttle's window: what can never run in its settings, and when a window that opens now ends.

import type { ThrottleMetadata } from '../workflows/workflow.ts'
import { durationMs } from './duration.ts'
import type { DynamicEnd, DynamicQuestion } from './dynamic-end.ts'
import { dynamicEndOf } from './dynamic-end.ts'
import type { TimingMistake } from './timing-mistakes.ts'
import { durationMistakes, isObject, keyMistakes, oneOf, requiredPathMistakes } from './timing-mistakes.ts'

/** More than anyone is ever sent; below what the count of a window can store. */
const thresholdMax = 1_000_000

export function throttleMistakes(metadata: unknown, path = 'metadata'): TimingMistake[] {
  if (!isObject(metadata)) return [{ path, message: 'is required: an object with type, amount and unit' }]
  const type = oneOf(metadata['type'], ['fixed', 'dynamic'], `${path}.type`)
  if (type.length > 0) return type
  return [
    ...(metadata['type'] === 'fixed'
      ? durationMistakes(metadata, path)
      : requiredPathMistakes(metadata['dynamicKey'], `${path}.dynamicKey`, 'the end or the length of the window is')),
    ...thresholdMistakes(metadata['threshold'], `${path}.threshold`),
    ...keyMistakes(metadata['throttleKey'], `${path}.throttleKey`),
  ]
}

export const isThrottleMetadata = (metadata: unknown): metadata is ThrottleMetadata =>
  throttleMistakes(metadata).length === 0

function thresholdMistakes(threshold: unknown, path: string): TimingMistake[] {
  if (threshold === undefined) return []
  const isCount = typeof threshold === 'number' && Number.isInteger(threshold) && threshold >= 1
  return isCount && threshold <= thresholdMax ? [] : [{ path, message: `must be a whole number, 1 to ${thresholdMax}` }]
}

/** When a window that this run opens ends. */
export function throttleEndOf(
  { type, amount = 0, unit = 'seconds', dynamicKey = '' }: ThrottleMetadata,
  question: Omit<DynamicQuestion, 'path'>,
): DynamicEnd {
  if (type === 'dynamic') return dynamicEndOf({ ...question, path: dynamicKey })
  return { until: new Date(question.now.getTime() + durationMs(amount, unit)) }
}
