// Whether conditions hold, case by case.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldFilterPart, FilterPart, StepFilter } from './condition.ts'
import { arrangedFilter, previousStepTypes } from './condition.ts'
import type { ConditionSurroundings, EarlierMessage, EvaluatedCondition } from './condition-evaluation.ts'
import { evaluateFilters } from './condition-evaluation.ts'

const asIs = (text: string): string => text
const part = (change: Partial<FieldFilterPart> = {}): FieldFilterPart => ({
  field: 'value',
  value: 'a',
  operator: 'EQUAL',
  on: 'payload',
  ...change,
})
const group = (children: readonly FilterPart[], change: Partial<StepFilter> = {}): StepFilter => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children,
  ...change,
})
const passes = (filters: readonly StepFilter[], payload: Record<string, unknown> = { value: 'a' }): boolean =>
  evaluateFilters(filters, { payload, subscriber: {} }, asIs).passed

const good = part()
const bad = part({ value: 'b' })

test('no filters pass, and so does a group without children, negated or not', () => {
  assert.deepEqual(evaluateFilters([], { payload: {}, subscriber: {} }, asIs), {
    passed: true,
    conditions: [],
    asks: [],
  })
  assert.equal(passes([group([])]), true)
  assert.equal(passes([group([], { isNegated: true })]), true)
  assert.equal(passes([group([bad]), group([])]), true)
})

test('children are joined by AND or OR', () => {
  assert.equal(passes([group([good, good])]), true)
  assert.equal(passes([group([good, bad])]), false)
  assert.equal(passes([group([bad, good], { value: 'OR' })]), true)
  assert.equal(passes([group([bad, bad], { value: 'OR' })]), false)
  assert.equal(passes([group([bad], { value: 'OR' })]), false)
})

test('groups are joined by OR', () => {
  assert.equal(passes([group([bad]), group([good])]), true)
  assert.equal(passes([group([bad]), group([bad])]), false)
})

test('a negated group passes when its children do not', () => {
  assert.equal(passes([group([good], { isNegated: true })]), false)
  assert.equal(passes([group([bad], { isNegated: true })]), true)
  assert.equal(passes([group([good, bad], { isNegated: true })]), true)
  assert.equal(passes([group([good, bad], { isNegated: true, value: 'OR' })]), false)
  assert.equal(passes([group([good], { isNegated: true }), group([good])]), true)
})

test('each condition is reported with both values as text, up to the group that passes', () => {
  const filters = [
    group([
      part({ field: 'order.items.0.price', operator: 'LARGER', value: '5' }),
      part({ on: 'subscriber', field: 'data.plan', value: '{{plan}}' }),
      part({ field: 'gone', operator: 'NOT_EQUAL' }),
    ]),
    group([good]),
    group([bad]),
  ]
  const subject = {
    payload: { value: 'a', order: { items: [{ price: 4 }] }, gone: null },
    subscriber: { data: { plan: 'pro' } },
  }
  assert.deepEqual(
    evaluateFilters(filters, subject, (text) => text.replace('{{plan}}', 'pro')),
    {
      passed: true,
      conditions: [
        {
          filter: 'Payload',
          field: 'order.items.0.price',
          expected: '5',
          actual: '4',
          operator: 'LARGER',
          passed: false,
        },
        { filter: 'Subscriber', field: 'data.plan', expected: 'pro', actual: 'pro', operator: 'EQUAL', passed: true },
        { filter: 'Payload', field: 'gone', expected: 'a', actual: 'null', operator: 'NOT_EQUAL', passed: true },
        { filter: 'Payload', field: 'value', expected: 'a', actual: 'a', operator: 'EQUAL', passed: true },
      ] satisfies EvaluatedCondition[],
      asks: [],
    },
  )
})

test('a reported value is bounded and well-formed text; missing values are named', () => {
  const evaluated = (actual: unknown, value = 'x'): [string, string] => {
    const { conditions } = evaluateFilters(
      [group([part({ value })])],
      { payload: { value: actual }, subscriber: {} },
      asIs,
    )
    return [conditions[0]?.actual ?? '', conditions[0]?.expected ?? '']
  }
  assert.equal(evaluated(undefined)[0], 'undefined')
  assert.equal(evaluated({ b: 1, a: [true] })[0], '{"a":[true],"b":1}')
  assert.equal(evaluated('')[0], '')
  for (const text of evaluated('x'.repeat(100_000), 'y'.repeat(100_000))) assert.equal(text.length, 256)
  const [cut = ''] = evaluated('😀'.repeat(200))
  assert.ok(cut.isWellFormed() && cut.endsWith('…'), cut)
})

test('what the renderer throws goes to whoever asked', () => {
  const failing = (): string => {
    throw new Error('line 1')
  }
  assert.throws(() => evaluateFilters([group([good])], { payload: {}, subscriber: {} }, failing), /line 1/)
})

test('no field reaches a prototype', () => {
  for (const field of ['constructor.name', '__proto__', 'toString', 'value.length'])
    assert.equal(passes([group([part({ field, operator: 'NOT_LIKE', value: '' })])]), true, field)
})

const now = new Date('2026-01-02T12:00:00Z')
const nothingKnown: ConditionSurroundings = { now, messagesOf: () => undefined, answerOf: () => undefined }

function evaluated(
  filters: readonly StepFilter[],
  subject: Parameters<typeof evaluateFilters>[1],
  around: Partial<ConditionSurroundings> = {},
) {
  return evaluateFilters(filters, subject, asIs, { ...nothingKnown, ...around })
}

test('a condition on the tenant looks at the tenant, and fails without one', () => {
  const filters = [group([part({ on: 'tenant', field: 'data.plan', value: 'gold' })])]
  assert.equal(evaluated(filters, { tenant: { data: { plan: 'gold' } } }).passed, true)
  assert.equal(
    evaluated(filters, { tenant: { data: { plan: 'tin' } }, payload: { data: { plan: 'gold' } } }).passed,
    false,
  )
  assert.deepEqual(evaluated(filters, {}).conditions, [
    {
      filter: 'Tenant',
      field: 'data.plan',
      expected: 'gold',
      actual: 'undefined',
      operator: 'EQUAL',
      passed: false,
    },
  ])
})

test('isOnline: as the subscriber is now; one of whom it was never known is neither', () => {
  const online = (value: boolean, subscriber: Record<string, unknown>) => {
    const { passed, conditions } = evaluated([group([{ on: 'isOnline', value }])], { subscriber })
    return [passed, conditions[0]?.actual]
  }
  const before = '2026-01-01T00:00:00.000Z'
  assert.deepEqual(online(true, { isOnline: true, lastOnlineAt: null }), [true, 'true'])
  assert.deepEqual(online(true, { isOnline: false, lastOnlineAt: before }), [false, 'false'])
  assert.deepEqual(online(false, { isOnline: false, lastOnlineAt: before }), [true, 'false'])
  assert.deepEqual(online(false, { isOnline: true, lastOnlineAt: before }), [false, 'true'])
  for (const value of [true, false])
    assert.deepEqual(online(value, { isOnline: false, lastOnlineAt: null }), [false, 'undefined'])
})

test('isOnlineInLast: online now, or within so many minutes, hours or days before now', () => {
  const within = (value: number, timeOperator: 'minutes' | 'hours' | 'days', agoMs: number | null) => {
    const lastOnlineAt = agoMs === null ? null : new Date(now.getTime() - agoMs).toISOString()
    const filters = [group([{ on: 'isOnlineInLast', value, timeOperator }])]
    return evaluated(filters, { subscriber: { isOnline: false, lastOnlineAt } }).passed
  }
  for (const [timeOperator, unitMs] of [
    ['minutes', 60_000],
    ['hours', 3_600_000],
    ['days', 86_400_000],
  ] as const) {
    assert.equal(within(5, timeOperator, 5 * unitMs), true, timeOperator)
    assert.equal(within(5, timeOperator, 5 * unitMs + 1), false, timeOperator)
    assert.equal(within(5, timeOperator, null), false, timeOperator)
  }
  const filters = [group([{ on: 'isOnlineInLast', value: 1, timeOperator: 'minutes' }])]
  const [condition] = evaluated(filters, { subscriber: { isOnline: true, lastOnlineAt: null } }).conditions
  assert.deepEqual([condition?.passed, condition?.expected, condition?.actual], [true, '1 minutes', 'online'])
})

test('previousStep: by the messages of the step; one of several is enough, and none is no reason to hold back', () => {
  const message = (change: Partial<EarlierMessage> = {}): EarlierMessage => ({
    status: 'sent',
    seen: false,
    read: false,
    ...change,
  })
  const asked = (stepType: (typeof previousStepTypes)[number], messages: readonly EarlierMessage[] | undefined) => {
    const filters = [group([{ on: 'previousStep', step: 'first', stepType }])]
    return evaluated(filters, {}, { messagesOf: (name) => (name === 'first' ? messages : assert.fail(name)) })
  }
  const cases = [
    { messages: [message()], hold: ['unread', 'unseen', 'sent'] },
    { messages: [message({ seen: true })], hold: ['unread', 'seen', 'sent'] },
    { messages: [message({ seen: true, read: true })], hold: ['read', 'seen', 'sent'] },
    { messages: [message({ status: 'warning' })], hold: ['unread', 'unseen', 'unsent'] },
    { messages: [message({ status: null })], hold: ['unread', 'unseen', 'unsent'] },
    { messages: [message({ status: 'error' }), message({ read: true, seen: true })], hold: ['read', 'seen', 'sent'] },
    { messages: [], hold: [...previousStepTypes] },
    { messages: undefined, hold: [...previousStepTypes] },
  ]
  for (const { messages, hold } of cases)
    assert.deepEqual(
      previousStepTypes.filter((stepType) => asked(stepType, messages).passed),
      previousStepTypes.filter((stepType) => hold.includes(stepType)),
      JSON.stringify(messages),
    )
  assert.equal(asked('read', [message(), message({ read: true })]).conditions[0]?.actual, '1 of 2 read')
  assert.equal(asked('read', undefined).conditions[0]?.actual, 'no message')
})

const webhook = (webhookUrl: string, value = 'yes'): FilterPart => ({
  on: 'webhook',
  webhookUrl,
  field: 'data.allowed',
  value,
  operator: 'EQUAL',
})
const answering = (answers: Record<string, unknown>): Partial<ConditionSurroundings> => ({
  answerOf: (url) => (url in answers ? { data: { allowed: answers[url] } } : undefined),
})

test('webhook: what the address answered is compared, and reported', () => {
  const filters = [group([webhook('https://a')])]
  assert.equal(evaluated(filters, {}, answering({ 'https://a': 'yes' })).passed, true)
  const { passed, conditions, asks } = evaluated(filters, {}, answering({ 'https://a': 'no' }))
  assert.deepEqual([passed, asks], [false, []])
  assert.deepEqual(conditions, [
    {
      filter: 'Webhook',
      field: 'data.allowed',
      expected: 'yes',
      actual: 'no',
      operator: 'EQUAL',
      passed: false,
    },
  ])
})

test('a webhook is asked only where the other conditions leave it open', () => {
  const asks = (filters: readonly StepFilter[], answers: Record<string, unknown> = {}) => {
    const evaluation = evaluated(filters, { payload: { value: 'a' } }, answering(answers))
    return [evaluation.passed, evaluation.asks]
  }
  const [a, b] = [webhook('https://a'), webhook('https://b')]
  assert.deepEqual(asks([group([a, good])]), [false, ['https://a']])
  assert.deepEqual(asks([group([a, bad])]), [false, []])
  assert.deepEqual(asks([group([a, bad], { isNegated: true })]), [true, []])
  assert.deepEqual(asks([group([a, good], { value: 'OR' })]), [true, []])
  assert.deepEqual(asks([group([a, bad], { value: 'OR' })]), [false, ['https://a']])
  assert.deepEqual(asks([group([a]), group([good])]), [true, []])
  assert.deepEqual(asks([group([a]), group([a, b]), group([bad, b])]), [false, ['https://a', 'https://b']])
  // One that is silent may not matter.
  assert.deepEqual(asks([group([a, b])], { 'https://b': 'no' }), [false, []])
  assert.deepEqual(asks([group([a, b], { value: 'OR' })], { 'https://b': 'yes' }), [true, []])
  assert.deepEqual(asks([group([a, b], { isNegated: true })], { 'https://b': 'yes' }), [false, ['https://a']])
})

test('children stand where clients of the interface can read them, and count wherever they stand', () => {
  const online: FilterPart = { on: 'isOnline', value: true }
  const tenant = part({ on: 'tenant' })
  const arranged = arrangedFilter(group([tenant, good, online]))
  assert.deepEqual([arranged.children, arranged.moreChildren], [[good], [tenant, online]])
  assert.deepEqual(arrangedFilter(arranged), arranged)
  assert.equal('moreChildren' in arrangedFilter(group([good])), false)
  assert.equal(evaluated([arranged], { payload: { value: 'a' }, tenant: { value: 'a' } }).passed, false)
  const subscriber = { isOnline: true }
  assert.equal(evaluated([arranged], { payload: { value: 'a' }, tenant: { value: 'a' }, subscriber }).passed, true)
})
