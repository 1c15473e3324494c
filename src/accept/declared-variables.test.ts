// Variables that templates declare: which count, where defaults go, and what is missed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  NotificationStep,
  StepVariant,
  TemplateVariable,
  WorkflowDefinition,
} from '../domain/workflows/workflow.ts'
import { declaredVariables, variableMistakes, withDefaults } from './declared-variables.ts'

const variantOf = (name: string, active: boolean): StepVariant => ({
  _id: name,
  uuid: name,
  _templateId: name,
  active,
  shouldStopOnFail: false,
  filters: [],
  template: { type: 'in_app', variables: [{ name, required: true }] },
})

const stepOf = (name: string, active: boolean, variants: StepVariant[] = []): NotificationStep => ({
  ...variantOf(name, active),
  variants,
})

test('only active steps and their active variants declare anything', () => {
  const steps = [
    stepOf('step', true, [variantOf('variant', true), variantOf('sleeping variant', false)]),
    stepOf('sleeping step', false, [variantOf('variant of a sleeping step', true)]),
  ]
  const found = declaredVariables({ steps } as unknown as WorkflowDefinition)
  assert.deepEqual(
    found.map((variable) => variable.name),
    ['step', 'variant'],
  )
})

const filled = (payload: Record<string, unknown>, name: string, defaultValue: unknown = 1) =>
  withDefaults(payload, [{ name, defaultValue }])

test('a default goes where its path leads, and changes nothing that is there', () => {
  assert.deepEqual(filled({}, 'order.id'), { order: { id: 1 } })
  assert.deepEqual(filled({ order: { total: 5 } }, 'order.id'), { order: { total: 5, id: 1 } })
  assert.deepEqual(filled({}, 'payload.order.id'), { order: { id: 1 } })
  for (const payload of [
    { order: { id: 0 } },
    { order: { id: null } },
    { order: { id: '' } },
    { order: 5 },
    { order: null },
    { order: [] },
  ]) {
    assert.deepEqual(filled(payload, 'order.id'), payload)
  }
})

test('the payload that was given is not written to', () => {
  const payload = { order: { total: 5 } }
  filled(payload, 'order.id')
  assert.deepEqual(payload, { order: { total: 5 } })
})

test('of two defaults for one place the first counts', () => {
  const variables = [
    { name: 'a', defaultValue: 1 },
    { name: 'a', defaultValue: 2 },
  ]
  assert.deepEqual(withDefaults({}, variables), { a: 1 })
})

test('no default reaches a prototype', () => {
  for (const name of ['__proto__.x', '__proto__', 'a.__proto__.x', 'constructor.prototype.x', 'a.constructor']) {
    const payload = filled({}, name, { x: 1 })
    assert.deepEqual(Object.entries(payload), [], name)
    assert.equal(Object.getPrototypeOf(payload), Object.prototype)
  }
  assert.equal(({} as Record<string, unknown>)['x'], undefined)
})

const mistakes = (payload: Record<string, unknown>, variable: Omit<TemplateVariable, 'name'>) =>
  variableMistakes(payload, [{ name: 'order.id', required: true, ...variable }])

test('what is required must be there, of the declared type', () => {
  assert.deepEqual(mistakes({}, { type: 'String' }), ['payload is missing order.id (String)'])
  assert.deepEqual(mistakes({ order: { id: null } }, { type: 'Array' }), ['payload is missing order.id (Array)'])
  assert.deepEqual(mistakes({ 'order.id': 1 }, {}), ['payload is missing order.id'])
  const values: [TemplateVariable['type'], unknown[], unknown[]][] = [
    ['String', ['', 'x', 0], [true, [], {}]],
    ['Array', [[], [1]], ['x', 1, {}, true]],
    ['Boolean', [true, false], ['true', 1, []]],
    [undefined, ['', 0, false, [], {}], []],
  ]
  for (const [type, good, bad] of values) {
    const variable = type === undefined ? {} : { type }
    for (const id of good) assert.deepEqual(mistakes({ order: { id } }, variable), [], `${type} ${JSON.stringify(id)}`)
    for (const id of bad) {
      const found = mistakes({ order: { id } }, variable)
      assert.match(found.join(), /^payload\.order\.id must be /, `${type} ${JSON.stringify(id)}`)
    }
  }
})

test('what is not required is not missed, whatever its type', () => {
  assert.deepEqual(mistakes({}, { required: false, type: 'Array' }), [])
  assert.deepEqual(mistakes({ order: { id: 1 } }, { required: false, type: 'Array' }), [])
})
