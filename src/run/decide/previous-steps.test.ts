// Earlier steps as conditions, rules and templates see them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { PreviousStep } from '../../store/jobs/step-runs.ts'
import { messagesOfStep, stepsScope } from './previous-steps.ts'
import { needsOf } from './step-needs.ts'

const stepOf = (more: Partial<NotificationStep> = {}): NotificationStep => ({
  _id: 'id',
  uuid: 'uuid',
  _templateId: 'template',
  active: true,
  shouldStopOnFail: false,
  template: { type: 'in_app', content: 'Hello' },
  filters: [],
  variants: [],
  ...more,
})
const previousOf = (step: number, more: Partial<PreviousStep> = {}): PreviousStep => ({
  notificationId: 'notification',
  step,
  status: 'completed',
  state: null,
  messages: [],
  ...more,
})

test('a step is found by each of its names, a surer one first, and only if it has run', () => {
  const steps = [stepOf({ _id: 'a', uuid: 'b', name: 'Über Uns' }), stepOf({ _id: 'c', uuid: 'uber-uns', name: 'b' })]
  const [first, second] = [[{ status: 'sent', seen: true, read: false }], [{ status: null, seen: false, read: false }]]
  const previous = [previousOf(0, { messages: first }), previousOf(1, { messages: second })]
  for (const name of ['a', 'b']) assert.equal(messagesOfStep(steps, previous, name), first, name)
  for (const name of ['c', 'uber-uns']) assert.equal(messagesOfStep(steps, previous, name), second, name)
  assert.equal(messagesOfStep(steps, previous, 'gone'), undefined)
  assert.equal(messagesOfStep(steps, [], 'a'), undefined)
})

test('what a service answered stands beside what became of the step, and does not hide it', () => {
  const steps = [stepOf({ _id: 'a', uuid: 'lookup' })]
  const result = { price: 5, status: 'theirs' }
  const scope = stepsScope(steps, [previousOf(0, { state: { result } })], new Map())
  assert.deepEqual(scope['lookup'], { price: 5, status: 'completed', sent: false, seen: false, read: false, result })
  assert.equal(scope['lookup'], scope['a'])
  assert.deepEqual(Object.keys(stepsScope(steps, [], new Map())), [])
})

test('the events of a digest are reported with their count', () => {
  const digests = new Map([['w', { window_id: 'w', step_id: 'a', total: 150, payloads: [{ n: 1 }] }]])
  const scope = stepsScope([stepOf({ uuid: 'bundle' })], [previousOf(0, { state: { windowId: 'w' } })], digests)
  const { events, eventCount } = scope['bundle'] as Record<string, unknown>
  assert.deepEqual([events, eventCount], [[{ payload: { n: 1 } }], 150])
})

test('only a step that asks for earlier ones, or for a service, costs a look at them', () => {
  const filter = (part: object) => [{ isNegated: false, type: 'GROUP', value: 'AND', children: [part] }] as never
  const needs = (more: Partial<NotificationStep>): string => {
    const { previous, webhooks } = needsOf(stepOf(more))
    return [previous && 'previous', webhooks && 'webhooks'].filter(Boolean).join()
  }
  const ofContent = (content: string) => needs({ template: { type: 'in_app', content } })
  assert.equal(needs({}), '')
  assert.equal(ofContent('Three steps to go, {{ step.total_count }}'), '')
  assert.equal(ofContent('{{ steps.bell.read }}'), 'previous')
  assert.equal(ofContent('{{ steps["bell"].read }}'), 'previous')
  assert.equal(needs({ skip: { '!': { var: 'steps.bell.read' } } }), 'previous')
  const asksBefore = filter({ on: 'previousStep', step: 'bell', stepType: 'read' })
  assert.equal(needs({ filters: asksBefore }), 'previous')
  assert.equal(needs({ variants: [stepOf({ filters: asksBefore })] }), 'previous')
  assert.equal(needs({ variants: [stepOf({ filters: filter({ on: 'webhook' }) })] }), 'webhooks')
  assert.equal(needs({ filters: filter({ on: 'payload' }) }), '')
})
