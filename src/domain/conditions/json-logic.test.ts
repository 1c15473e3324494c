// JSON logic, operator by operator; what cannot be a rule; and rules that would never end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluateLogic, forms, logicHolds } from './json-logic.ts'
import { LogicTooLarge, operators } from './json-logic-operators.ts'
import { skipMistakes } from './skip-mistakes.ts'

const now = new Date('2026-03-31T12:00:00Z')
const data = {
  payload: {
    plan: 'gold',
    count: 3,
    text: '10',
    yes: true,
    no: false,
    zero: 0,
    nothing: null,
    empty: '',
    list: ['a', 'b', 3],
    orders: [
      { price: 5, paid: true },
      { price: 20, paid: false },
    ],
    at: '2026-03-26T12:00:00Z',
  },
  subscriber: { firstName: 'Ada' },
}
const value = (path: string) => ({ var: `payload.${path}` })
const holds = (rule: unknown): boolean => evaluateLogic(rule, data, now).holds

/** By operator: rules that hold, and rules that do not. */
const cases: Readonly<Record<string, readonly [holds: readonly unknown[], holdsNot: readonly unknown[]]>> = {
  '==': [
    [
      { '==': [value('plan'), 'gold'] },
      { '==': [value('text'), 10] },
      { '==': [value('yes'), 'true'] },
      { '==': [value('list'), ['a', 'b', 3]] },
      { '==': [value('gone'), null] },
      { '==': [value('at'), '2026-03-26T13:00:00+01:00'] },
    ],
    [
      { '==': [value('plan'), 'Gold'] },
      { '==': [value('zero'), null] },
      { '==': [value('empty'), 0] },
      { '==': [value('text'), '10.0'] },
    ],
  ],
  '=': [[{ '=': [value('count'), '3'] }], [{ '=': [value('count'), 4] }]],
  '!=': [[{ '!=': [value('plan'), 'tin'] }, { '!=': [value('gone'), 'x'] }], [{ '!=': [value('plan'), 'gold'] }]],
  '===': [[{ '===': [value('count'), 3] }], [{ '===': [value('text'), 10] }]],
  '!==': [[{ '!==': [value('text'), 10] }], [{ '!==': [value('count'), 3] }]],
  '<': [
    [{ '<': [value('count'), 4] }, { '<': [1, value('count'), 5] }, { '<': ['a', 'b'] }],
    [
      { '<': [value('count'), 3] },
      { '<': [3, value('count'), 5] },
      { '<': [value('gone'), 1] },
      { '<': [value('list'), 1] },
    ],
  ],
  '<=': [[{ '<=': [value('count'), 3] }, { '<=': [3, value('count'), 3] }], [{ '<=': [value('count'), 2] }]],
  '>': [
    [{ '>': [value('text'), '9'] }, { '>': [value('at'), '2026-03-26T11:59:00Z'] }],
    [{ '>': [value('text'), '11'] }, { '>': [value('nothing'), -1] }],
  ],
  '>=': [[{ '>=': [value('count'), 3] }], [{ '>=': [value('count'), 3.5] }]],
  in: [
    [{ in: [value('plan'), ['gold', 'tin']] }, { in: ['ol', value('plan')] }, { in: ['3', value('list')] }],
    [{ in: [value('plan'), ['tin']] }, { in: [value('plan'), null] }],
  ],
  notIn: [[{ notIn: [value('plan'), ['tin']] }], [{ notIn: [value('plan'), ['gold']] }]],
  contains: [
    [{ contains: [value('plan'), 'ol'] }, { contains: [value('list'), 'a'] }],
    [{ contains: [value('plan'), 'OL'] }, { contains: [value('gone'), ''] }, { contains: [value('list'), 'c'] }],
  ],
  doesNotContain: [[{ doesNotContain: [value('plan'), 'x'] }], [{ doesNotContain: [value('list'), 'a'] }]],
  containsAny: [
    [{ containsAny: [value('list'), ['x', 'b']] }, { containsAny: [value('plan'), ['x', 'ld']] }],
    [{ containsAny: [value('list'), ['x', 'y']] }],
  ],
  doesNotContainAny: [
    [{ doesNotContainAny: [value('list'), ['x']] }],
    [{ doesNotContainAny: [value('list'), ['x', 'a']] }],
  ],
  startsWith: [
    [{ startsWith: [value('plan'), 'go'] }],
    [{ startsWith: [value('plan'), 'old'] }, { startsWith: [value('gone'), ''] }],
  ],
  beginsWith: [[{ beginsWith: [value('plan'), 'go'] }], [{ beginsWith: [value('plan'), 'GO'] }]],
  doesNotBeginWith: [[{ doesNotBeginWith: [value('plan'), 'x'] }], [{ doesNotBeginWith: [value('plan'), 'g'] }]],
  endsWith: [[{ endsWith: [value('plan'), 'ld'] }], [{ endsWith: [value('plan'), 'go'] }]],
  doesNotEndWith: [[{ doesNotEndWith: [value('plan'), 'x'] }], [{ doesNotEndWith: [value('plan'), 'd'] }]],
  null: [
    [{ null: [value('nothing')] }, { null: value('gone') }],
    [{ null: [value('zero')] }, { null: [value('empty')] }],
  ],
  notNull: [[{ notNull: [value('zero')] }], [{ notNull: [value('gone')] }]],
  isEmpty: [
    [{ isEmpty: [value('empty')] }, { isEmpty: [value('gone')] }, { isEmpty: [[]] }],
    [{ isEmpty: [value('plan')] }, { isEmpty: [value('zero')] }],
  ],
  isNonEmpty: [[{ isNonEmpty: [value('list')] }], [{ isNonEmpty: [value('empty')] }]],
  between: [
    [{ between: [value('count'), [3, 5]] }, { between: [value('count'), 1, 3] }],
    [{ between: [value('count'), [4, 5]] }, { between: [value('count'), [4]] }],
  ],
  notBetween: [[{ notBetween: [value('count'), [4, 5]] }], [{ notBetween: [value('count'), [1, 3]] }]],
  moreThanXAgo: [
    [{ moreThanXAgo: [value('at'), { amount: 4, unit: 'days' }] }],
    [
      { moreThanXAgo: [value('at'), { amount: 5, unit: 'days' }] },
      { moreThanXAgo: [value('plan'), { amount: 1, unit: 'days' }] },
    ],
  ],
  lessThanXAgo: [
    [{ lessThanXAgo: [value('at'), { amount: 1, unit: 'weeks' }] }],
    [{ lessThanXAgo: [value('at'), { amount: 2, unit: 'hours' }] }],
  ],
  exactlyXAgo: [
    [
      { exactlyXAgo: [value('at'), { amount: 5, unit: 'days' }] },
      { exactlyXAgo: ['2026-02-28T12:00:00Z', { amount: 1, unit: 'months' }] },
      { exactlyXAgo: ['2025-03-31T12:00:00Z', { amount: 1, unit: 'years' }] },
    ],
    [{ exactlyXAgo: [value('at'), { amount: 4, unit: 'days' }] }],
  ],
  withinLast: [
    [{ withinLast: [value('at'), { amount: 120, unit: 'hours' }] }],
    [
      { withinLast: [value('at'), { amount: 7199, unit: 'minutes' }] },
      { withinLast: ['2026-04-01T00:00:00Z', { amount: 9, unit: 'days' }] },
    ],
  ],
  notWithinLast: [
    [{ notWithinLast: [value('at'), { amount: 1, unit: 'days' }] }],
    [{ notWithinLast: [value('at'), { amount: 500_000, unit: 'seconds' }] }],
  ],
  '+': [[{ '==': [{ '+': [value('count'), '4', 1] }, 8] }], [{ '+': [value('plan'), 1] }]],
  '-': [
    [{ '==': [{ '-': [value('count'), 1] }, 2] }, { '==': [{ '-': value('count') }, -3] }],
    [{ '-': [3, value('count')] }],
  ],
  '*': [[{ '==': [{ '*': [value('count'), 2] }, 6] }], [{ '*': [value('count'), 0] }]],
  '/': [[{ '==': [{ '/': [value('count'), 2] }, 1.5] }], [{ '/': [1, 0] }]],
  '%': [[{ '==': [{ '%': [value('count'), 2] }, 1] }], [{ '%': [4, 2] }]],
  min: [[{ '==': [{ min: [value('count'), 7] }, 3] }], [{ min: [0, 7] }]],
  max: [[{ '==': [{ max: [value('count'), 7] }, 7] }], [{ max: [-1, 0] }]],
  cat: [[{ '==': [{ cat: [value('plan'), '-', value('count'), value('gone')] }, 'gold-3'] }], [{ cat: [''] }]],
  substr: [
    [
      { '==': [{ substr: [value('plan'), 1, 2] }, 'ol'] },
      { '==': [{ substr: [value('plan'), -2] }, 'ld'] },
      { '==': [{ substr: [value('plan'), 0, -1] }, 'gol'] },
    ],
    [{ substr: [value('plan'), 9] }],
  ],
  merge: [[{ in: ['x', { merge: [value('list'), 'x'] }] }], [{ merge: [] }]],
  '!': [[{ '!': [value('no')] }, { '!': [[]] }], [{ '!': [value('yes')] }]],
  '!!': [[{ '!!': [value('list')] }], [{ '!!': [value('zero')] }]],
  var: [
    [
      value('yes'),
      { var: ['payload.gone', true] },
      { '==': [{ var: 'payload.list.2' }, 3] },
      { '==': [{ var: 'subscriber.firstName' }, 'Ada'] },
    ],
    [value('no'), value('gone'), { var: 'payload.__proto__' }, { var: 'constructor' }],
  ],
  missing: [
    [{ missing: ['payload.gone'] }, { missing: [['payload.plan', 'payload.empty']] }],
    [{ missing: ['payload.plan', 'payload.zero'] }],
  ],
  missing_some: [
    [{ missing_some: [2, ['payload.plan', 'payload.gone']] }],
    [{ missing_some: [1, ['payload.plan', 'payload.gone']] }],
  ],
  and: [[{ and: [value('yes'), value('count')] }], [{ and: [value('yes'), value('no')] }]],
  or: [[{ or: [value('no'), value('yes')] }], [{ or: [value('no'), value('zero')] }]],
  if: [
    [{ if: [value('no'), false, value('yes'), true, false] }],
    [{ if: [value('no'), true] }, { if: [value('yes'), false, true] }],
  ],
  '?:': [[{ '?:': [value('yes'), 1, 0] }], [{ '?:': [value('no'), 1, 0] }]],
  map: [[{ in: [20, { map: [value('orders'), { var: 'price' }] }] }], [{ map: [value('gone'), { var: 'price' }] }]],
  filter: [
    [{ filter: [value('orders'), { var: 'paid' }] }],
    [{ filter: [value('orders'), { '>': [{ var: 'price' }, 99] }] }],
  ],
  reduce: [
    [{ '==': [{ reduce: [value('orders'), { '+': [{ var: 'accumulator' }, { var: 'current.price' }] }, 0] }, 25] }],
    [{ reduce: [value('gone'), 1, 0] }],
  ],
  all: [
    [{ all: [value('orders'), { '>': [{ var: 'price' }, 4] }] }],
    [{ all: [value('orders'), { var: 'paid' }] }, { all: [[], true] }],
  ],
  some: [[{ some: [value('orders'), { var: 'paid' }] }], [{ some: [value('list'), { '==': [{ var: '' }, 'z'] }] }]],
  none: [
    [{ none: [value('orders'), { '>': [{ var: 'price' }, 99] }] }],
    [{ none: [value('orders'), { var: 'paid' }] }],
  ],
}

for (const [operator, [holding, failing]] of Object.entries(cases)) {
  test(`the operator ${operator}`, () => {
    for (const rule of holding) assert.equal(holds(rule), true, JSON.stringify(rule))
    for (const rule of failing) assert.equal(holds(rule), false, JSON.stringify(rule))
    for (const rule of [...holding, ...failing]) assert.deepEqual(skipMistakes(rule), [], JSON.stringify(rule))
  })
}

test('every operator has its cases', () => {
  assert.deepEqual([...forms.keys(), ...operators.keys()].sort(), Object.keys(cases).sort())
})

test('an empty rule never holds, and is no mistake', () => {
  assert.deepEqual(evaluateLogic({}, data, now), { holds: false, conditions: [] })
  assert.deepEqual(skipMistakes({}), [])
})

test('what was compared is reported with both values, as far as it was looked at', () => {
  const rule = { and: [{ '==': [value('plan'), 'gold'] }, { between: [value('count'), 4, 5] }, { null: value('at') }] }
  assert.deepEqual(evaluateLogic(rule, data, now), {
    holds: false,
    conditions: [
      { filter: 'Skip', field: 'payload.plan', expected: 'gold', actual: 'gold', operator: '==', passed: true },
      { filter: 'Skip', field: 'payload.count', expected: '[4,5]', actual: '3', operator: 'between', passed: false },
    ],
  })
})

test('what is reported is bounded', () => {
  const list = Array.from({ length: 1_000 }, () => 'x'.repeat(1_000))
  const { conditions } = evaluateLogic({ some: [{ var: 'list' }, { '==': [{ var: '' }, 'y'] }] }, { list }, now)
  assert.equal(conditions.length, 50)
  assert.equal(conditions[0]?.actual.length, 256)
})

test('an unknown operator is a mistake wherever it stands, and the nearest is named', () => {
  const mistakes = skipMistakes({ and: [{ '==': [1, 1] }, { or: [{ startWith: ['a', 'b'] }] }] })
  assert.deepEqual(
    mistakes.map(({ path }) => path),
    ['skip.and.1.or.0.startWith'],
  )
  assert.match(mistakes[0]?.message ?? '', /unknown operator; did you mean startsWith\?/)
  assert.equal(skipMistakes({ toString: [1] })[0]?.path, 'skip.toString')
  assert.equal(skipMistakes({ ['x'.repeat(999)]: [1] })[0]?.path.length, 'skip.'.length + 64)
})

test('rules that can never be meant are refused, each by its place', () => {
  const bad: readonly [unknown, string][] = [
    [true, 'rule'],
    [[], 'rule'],
    ['x', 'rule'],
    [{ '==': [1, 1], '!=': [1, 2] }, 'rule'],
    [{ '==': [1] }, 'rule.=='],
    [{ '!': [1, 2] }, 'rule.!'],
    [{ and: [] }, 'rule.and'],
    [{ var: true }, 'rule.var'],
    [{ var: 'x'.repeat(256) }, 'rule.var'],
    [{ '==': ['x'.repeat(4097), 1] }, 'rule.==.0'],
    [{ withinLast: [value('at'), { amount: 5, unit: 'fortnights' }] }, 'rule.withinLast.1'],
    [{ withinLast: [value('at'), '5 days'] }, 'rule.withinLast.1'],
    [{ in: [1, [{ a: 1, b: 2 }]] }, 'rule.in.1.0'],
    [{ merge: Array.from({ length: 101 }, () => 1) }, 'rule.merge'],
    [{ '!': { in: [1, Array.from({ length: 501 }, () => 1)] } }, 'rule'],
  ]
  for (const [rule, path] of bad)
    assert.deepEqual(
      skipMistakes(rule, 'rule').map((mistake) => mistake.path),
      [path],
      JSON.stringify(rule),
    )
  const deep = JSON.parse(`${'{"!":'.repeat(5_000)}1${'}'.repeat(5_000)}`)
  assert.match(skipMistakes(deep)[0]?.message ?? '', /deep/)
})

test('a rule that makes too much of its payload is broken, not slow', () => {
  const list = Array.from({ length: 50_000 }, (_, index) => ({ index }))
  const nested = { some: [{ var: 'list' }, { some: [{ var: 'index' }, true] }] }
  assert.equal(evaluateLogic(nested, { list: list.slice(0, 100) }, now).holds, false)
  const endless: readonly [unknown, object][] = [
    [{ all: [{ map: [{ var: 'list' }, { var: '' }] }, { '<': [{ var: 'index' }, 1e9] }] }, { list }],
    [{ containsAny: [{ var: 'list' }, { var: 'list' }] }, { list }],
    [{ reduce: [{ var: 'list' }, { cat: [{ var: 'accumulator' }, 'xxxxxxxxxx'] }, ''] }, { list }],
    [{ and: Array.from({ length: 90 }, () => ({ '==': [{ var: 'list' }, { var: 'list' }] })) }, { list }],
  ]
  for (const [rule, given] of endless) {
    assert.deepEqual(skipMistakes(rule), [])
    assert.throws(() => evaluateLogic(rule, given, now), LogicTooLarge, JSON.stringify(rule).slice(0, 80))
  }
})

test('what a rule costs is taken from its budget, and one that needs more is broken', () => {
  const budget = { left: 100 }
  assert.equal(logicHolds({ '==': [value('plan'), 'gold'] }, data, now, budget), true)
  assert.ok(budget.left < 97 && budget.left > 90, String(budget.left))
  assert.equal(logicHolds({ '==': [value('plan'), 'free'] }, data, now, budget), false)
  const long = { all: [value('list'), { '!=': [{ var: '' }, 'z'] }] }
  assert.equal(logicHolds(long, data, now, { left: 100 }), true)
  const short = { left: 10 }
  assert.throws(() => logicHolds(long, data, now, short), LogicTooLarge)
  assert.equal(short.left, 0)
})
