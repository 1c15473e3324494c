// What /metrics counts of the calls of jobs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdSource } from '../../domain/uuid-v7.ts'
import type { CallResult } from '../../store/messages/sending.ts'
import type { Meter } from '../../world/meter.ts'
import type { Settlement } from '../settlement.ts'
import { countCalls } from './count-messages.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const eventId = createIdSource()(new Date(now.getTime() - 2_000))

const sent = { state: 'done', status: 'sent', isTest: false } as CallResult

interface Given {
  readonly results: readonly CallResult[]
  readonly reached?: boolean
  readonly isKept?: boolean
}

/** What one job adds, in the order in which it is counted. */
function countedOf({ results, reached, isKept = true }: Given): string[] {
  const counted: string[] = []
  const meter = {
    countMessage: (...values: unknown[]) => counted.push(values.join(' ')),
    noteDelivery: (...values: unknown[]) => counted.push(`reached ${values.join(' ')}`),
  } as unknown as Meter
  const job = { id: 'job', eventId, state: reached === undefined ? null : { reached } }
  const settlement = { job, details: [], state: { providerId: 'sendgrid' } } as unknown as Settlement
  countCalls(meter, [{ settlement, results }], new Set(isKept ? ['job'] : []), now)
  return counted
}

test('each call is counted, and the first message that arrives reaches the person', () => {
  const [message, reached] = ['email sendgrid sent', 'reached email 2000']
  assert.deepEqual(countedOf({ results: [] }), [])
  assert.deepEqual(countedOf({ results: [sent] }), [message, reached])
  assert.deepEqual(countedOf({ results: [sent, sent] }), [message, message, reached])
  assert.deepEqual(countedOf({ results: [{ ...sent, state: 'ready' }] }), ['email sendgrid retried'])
})

test('a person whom an earlier message of the step has reached is not reached again', () => {
  assert.deepEqual(countedOf({ results: [sent], reached: true }), ['email sendgrid sent'])
})

test('a job that was lost, and a call that never left, count nothing', () => {
  assert.deepEqual(countedOf({ results: [sent], isKept: false }), [])
  assert.deepEqual(countedOf({ results: [{ ...sent, isUncounted: true }] }), [])
})
