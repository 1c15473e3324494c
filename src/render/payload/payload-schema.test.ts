// Payload schemas: what is rejected when they are compiled, and which errors a payload gets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValidateFunction } from 'ajv'
import { cpuMsOf, turnsOf } from '../../../test/support/turn-cpu.ts'
import { Problem } from '../../domain/problem.ts'
import { checkOf, compilePayloadSchema, isTooBusy } from './payload-schema.ts'

type Check = (payload: Record<string, unknown>) => string[]

function compiled(schema: Record<string, unknown>): Check {
  const result = compilePayloadSchema(schema)
  if (!result.ok) assert.fail(`${result.path} ${result.message}`)
  return patient(result.check)
}

/** Whatever else the machine does: one that is too busy to tell is asked again. */
const patient =
  (check: Check): Check =>
  (payload) => {
    for (let turn = 1; ; turn += 1) {
      try {
        return check(payload)
      } catch (error) {
        if (!isTooBusy(error) || turn === 50) throw error
      }
    }
  }

/** When its time was over: on a busy machine no one knows whether that is the payload's fault. */
function isStopped(check: Check, payload: Record<string, unknown>): boolean {
  try {
    return /takes too long to validate/.test(check(payload)[0] ?? '')
  } catch (error) {
    return isTooBusy(error)
  }
}

const judged = (check: Check, payload: Record<string, unknown>): string => patient(check)(payload)[0] ?? ''

function refused(schema: Record<string, unknown>): { path: string; message: string } {
  const result = compilePayloadSchema(schema)
  if (result.ok) assert.fail('the schema was taken')
  return result
}

const order = {
  type: 'object',
  properties: {
    total: { type: 'number' },
    currency: { type: 'string', enum: ['EUR', 'USD'], default: 'EUR' },
    customer: { type: 'object', properties: { email: { type: 'string', format: 'email' } }, required: ['email'] },
  },
  required: ['total'],
}

test('every member that does not fit is named, all at once', () => {
  const check = compiled(order)
  assert.deepEqual(check({ total: 'much', currency: 'GBP', customer: {} }).sort(), [
    'payload.currency must be one of EUR, USD',
    'payload.customer.email is required',
    'payload.total must be number',
  ])
  assert.deepEqual(check({ customer: { email: 'invalid' }, total: 1 }), [
    'payload.customer.email must match format "email"',
  ])
  assert.deepEqual(compiled({ ...order, additionalProperties: false })({ total: 1, other: 2 }), [
    'payload must not have the field other',
  ])
})

test('a payload that fits gets the defaults', () => {
  const payload: Record<string, unknown> = { total: 5 }
  assert.deepEqual(compiled(order)(payload), [])
  assert.deepEqual(payload, { total: 5, currency: 'EUR' })
})

test('one answer does not leak into the next', () => {
  const check = compiled(order)
  assert.equal(check({}).length, 1)
  assert.deepEqual(check({ total: 1 }), [])
  assert.equal(check({ total: '1' }).length, 1)
})

test('drafts 7 and 2020-12 are read, others are refused', () => {
  assert.equal(compiled({ ...order, $schema: 'http://json-schema.org/draft-07/schema#' })({}).length, 1)
  const tuple = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { pair: { prefixItems: [{ type: 'string' }] } },
  }
  assert.deepEqual(compiled(tuple)({ pair: [5] }), ['payload.pair.0 must be string'])
  for (const $schema of ['http://json-schema.org/draft-04/schema#', 'https://example.com/schema', '', 5]) {
    assert.equal(refused({ $schema }).path, '$schema')
  }
})

test('an invalid schema is refused with the place of the mistake', () => {
  assert.equal(refused({ properties: { total: { type: 'text' } } }).path, 'properties.total.type')
  assert.equal(refused({ required: 'total' }).path, 'required')
  assert.equal(refused({ properties: { name: { pattern: '(' } } }).path, 'properties.name.pattern')
  assert.equal(refused({ $async: true }).path, '$async')
})

test('references lead into the schema itself and nowhere else', () => {
  const own = { definitions: { sum: { type: 'number' } }, properties: { total: { $ref: '#/definitions/sum' } } }
  assert.deepEqual(compiled(own)({ total: 'x' }), ['payload.total must be number'])
  for (const $ref of ['#/definitions/none', 'https://example.com/schema.json', 'other.json', 'file:///etc/passwd']) {
    const { path, message } = refused({ properties: { total: { $ref } } })
    assert.equal(path, 'properties.total.$ref', $ref)
    assert.match(message, /not in the schema itself/)
    assert.ok(message.includes($ref), message)
  }
})

test('a pattern that would never end elsewhere is matched in linear time', () => {
  for (const schema of [
    { properties: { name: { type: 'string', pattern: '^(a+)+$' } } },
    { properties: { name: { type: 'string', pattern: '^(?:a|a)*$' } } },
    { properties: { name: { patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false } } },
  ]) {
    const check = compiled(schema)
    const isNamed = 'patternProperties' in schema.properties.name
    const given = (name: string) => ({ name: isNamed ? { [name]: 'x' } : name })
    assert.deepEqual(check(given('aaa')), [])
    const turns = turnsOf(() => {
      const [message] = check(given(`${'a'.repeat(20_000)}!`))
      assert.match(message ?? '', /must match pattern|must not have the field/)
    })
    assert.ok(turns < 5, `${turns} turns`)
  }
})

test('patterns of the linear engine match what others match', () => {
  const fits = (pattern: string, text: string) => compiled({ properties: { a: { pattern } } })({ a: text }).length === 0
  for (const [pattern, good, bad] of [
    ['^[A-Z]{3}-\\d+$', 'ABC-12', 'AB-12'],
    ['^\\u00e9\\p{L}+$', 'éà', 'ea'],
    ['^(?<year>\\d{4})\\/[\\w.+-]*$', '2024/a.b', '24/'],
    ['b', 'abc', 'ac'],
    ['^.$', '😀', 'ab'],
  ] as const) {
    assert.ok(fits(pattern, good), pattern)
    assert.ok(!fits(pattern, bad), pattern)
  }
})

test('two thousand texts are matched with a linear pattern, however busy the machine is', () => {
  const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
  const check = compiled({ properties: { ids: { items: { type: 'string', pattern: uuid } } } })
  const ids = Array.from({ length: 2_000 }, (_, index) => `0190a5f0-7c3e-7b1a-8c2d-${String(index).padStart(12, '0')}`)
  for (let again = 0; again < 4; again += 1) assert.equal(judged(check, { ids }), '')
  assert.match(judged(check, { ids: [...ids, 'none'] }), /must match pattern/)
})

test('a text that is called a pattern but stands in an example is not compiled', () => {
  const pattern = 'a{1000}'.repeat(900)
  const turns = turnsOf(() => {
    const result = compilePayloadSchema({
      properties: { a: { type: 'string', pattern: '^a$', examples: [{ pattern }], default: { pattern: '(?=a)' } } },
      examples: [{ pattern }, { pattern: `b${pattern}` }],
      const: { patternProperties: { '(?=a)': {} } },
    })
    assert.ok(result.ok)
    assert.deepEqual(result.slowPatterns, [])
  })
  assert.ok(turns < 5, `${turns} turns`)
})

test('a pattern that becomes too large is slow, before it is compiled', () => {
  const turns = turnsOf(() => {
    for (const pattern of ['a{1000}'.repeat(900), '((a{100}){100}){100}', '(?:x{0,999}y){3}']) {
      const result = compilePayloadSchema({ properties: { a: { pattern } } })
      assert.ok(result.ok)
      assert.deepEqual(result.slowPatterns, ['properties.a.pattern'])
    }
    // Each is small enough, all together are not.
    const many = Array.from({ length: 30 }, (_, index) => [`m${index}`, { pattern: `^${index}[a-z]{900}$` }])
    const result = compilePayloadSchema({ properties: Object.fromEntries(many) })
    assert.ok(result.ok && result.slowPatterns.length > 0 && result.slowPatterns.length < 30)
  })
  assert.ok(turns < 15, `${turns} turns`)
})

test('a stored pattern that the linear engine cannot read is stopped when its time is over', () => {
  const result = compilePayloadSchema({ properties: { name: { type: 'string', pattern: '^(?=a)(a+)+$' } } })
  assert.ok(result.ok)
  assert.deepEqual(result.slowPatterns, ['properties.name.pattern'])
  assert.deepEqual(patient(result.check)({ name: 'aaa' }), [])
  assert.ok(isStopped(result.check, { name: `${'a'.repeat(60)}!` }))
  const turns = turnsOf(() => {
    try {
      result.check({ name: `${'a'.repeat(60)}!` })
    } catch (error) {
      assert.ok(isTooBusy(error))
    }
  })
  assert.ok(turns < 2, `${turns} turns`)
  assert.deepEqual(patient(result.check)({ name: 'aaa' }), [], 'and the next payload is judged as ever')
})

test('a schema whose compiling others kept from working has a limit for all attempts', () => {
  const members = Array.from({ length: 200 }, (_, at) => [`m${at}`, { type: 'string', minLength: at }])
  const schema = { properties: Object.fromEntries(members) }
  assert.ok(compilePayloadSchema(schema).ok)
  // As on a machine where it had no processor time at all: the second attempt would get twenty times as long.
  const result = compilePayloadSchema(schema, { timeMaxMs: 5, totalMaxMs: 6, cpuMs: () => 0 })
  assert.ok(!result.ok && result.isOutOfTime === true && result.isStarved === true)
  // With time it is compiled by a later attempt, whatever the first has left half done.
  assert.ok(compilePayloadSchema(schema, { timeMaxMs: 50, totalMaxMs: 10_000, cpuMs: () => 0 }).ok)
})

test('patterns are found wherever they stand', () => {
  const slow = (schema: Record<string, unknown>) => {
    const result = compilePayloadSchema(schema)
    return result.ok ? result.slowPatterns : []
  }
  assert.deepEqual(slow({ properties: { a: { items: { pattern: '(a)\\1' } } } }), ['properties.a.items.pattern'])
  assert.deepEqual(slow({ patternProperties: { '^(?!x)': { type: 'string' } } }), ['patternProperties'])
  assert.deepEqual(slow({ properties: { pattern: { type: 'string', pattern: '^a$' } } }), [])
})

test('a format whose check grows with the square of the text is stopped', () => {
  const check = compiled({ properties: { home: { type: 'string', format: 'url' } } })
  assert.deepEqual(check({ home: 'https://example.com/' }), [])
  assert.ok(isStopped(check, { home: `http://${':'.repeat(400_000)}` }))
})

test('a schema that doubles itself again and again is stopped', () => {
  const definitions: Record<string, unknown> = { d0: { type: 'object' } }
  for (let level = 1; level <= 40; level += 1) {
    const $ref = `#/definitions/d${level - 1}`
    definitions[`d${level}`] = { allOf: [{ $ref }, { $ref }] }
  }
  assert.ok(isStopped(compiled({ definitions, $ref: '#/definitions/d40' }), {}))
})

test('a schema that refers to itself without end is the payload’s mistake, not a fault', () => {
  const check = compiled({
    definitions: { loop: { allOf: [{ $ref: '#/definitions/loop' }] } },
    $ref: '#/definitions/loop',
  })
  assert.equal(check({}).length, 1)
})

test('of a thousand errors in a payload twenty are reported', () => {
  const check = compiled({ properties: { list: { items: { type: 'string' } } } })
  assert.equal(check({ list: Array.from({ length: 1000 }, () => 1) }).length, 20)
})

test('an unknown format is no reason to refuse', () => {
  assert.deepEqual(compiled({ properties: { at: { type: 'string', format: 'own' } } })({ at: 'x' }), [])
})

test('items are unique by their value, however many there are', () => {
  const check = compiled({ properties: { list: { type: 'array', uniqueItems: true } } })
  const isUnique = (...list: unknown[]): boolean => check({ list }).length === 0
  const different = [0, '0', false, null, '', [], {}, [1, 2], [2, 1], [{ a: 1 }], { a: 1 }, { a: '1' }, { a: 1, b: 1 }]
  assert.ok(isUnique(...different, { members: [['a', 1]] }, { 1: 'a', b: 1 }))
  for (const one of different) assert.equal(isUnique(...different, structuredClone(one)), false, JSON.stringify(one))
  assert.equal(isUnique({ a: { b: 1, 2: [] } }, { a: { 2: [], b: 1 } }), false)
  assert.ok(isUnique(...Array.from({ length: 4_000 }, (_, index) => ({ index }))))
  assert.deepEqual(check({ list: [1, 1] }), ['payload.list must NOT have duplicate items'])
})

test('a machine that is too busy to tell refuses no payload: it is to come again', () => {
  const forever = Object.assign(
    () => {
      for (;;) Math.sqrt(2)
    },
    { errors: null },
  ) as unknown as ValidateFunction
  const cpuOf = (ms: number) => {
    let calls = 0
    return () => {
      calls += 1
      return calls % 2 === 0 ? ms : 0
    }
  }
  assert.match(checkOf(() => false, 20, forever, cpuOf(20))({})[0] ?? '', /takes too long/)
  assert.throws(
    () => checkOf(() => false, 20, forever, cpuOf(1))({}),
    (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '1',
  )
})

test('parts that are applied to each of many members are stopped when their time is over', () => {
  const names = Array.from({ length: 100 }, (_, at) => `x${at}`)
  const ofEach = [
    { anyOf: names.map((name) => ({ required: [name] })) },
    { required: names },
    { enum: names.map((name) => ({ name })) },
  ]
  const many = Array.from({ length: 200_000 }, (_, at) => ({ at }))
  for (const each of ofEach) {
    const schema = compilePayloadSchema({ properties: { items: { items: each } } })
    assert.ok(schema.ok)
    assert.ok(isStopped(schema.check, { items: many }))
    assert.ok(patient(schema.check)({ items: many.slice(0, 2) }).length > 1)
    assert.deepEqual([{ items: many }, { items: [[[many]]] }, { items: many.slice(0, 2) }].map(schema.isQuick), [
      false,
      false,
      true,
    ])
  }
  // What is said of an object as a whole takes no longer for that.
  const plain = compilePayloadSchema({ ...order, additionalProperties: false })
  assert.ok(plain.ok && plain.isQuick({ items: many }))
})

test('hundreds of long patterns take hardly longer to refuse than hundreds of short ones take to compile', () => {
  const withPatterns = (pattern: (at: number) => string) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 250 }, (_, at) => [`field${at}`, { type: 'string', pattern: pattern(at) }]),
    ),
  })
  const leastMs = (pattern: (at: number) => string): number =>
    Math.min(
      ...[1, 2, 3].map((time) => cpuMsOf(() => compilePayloadSchema(withPatterns((at) => pattern(at * 10 + time))))),
    )
  const short = leastMs((at) => `^[a-z]+${at}$`)
  const long = leastMs((at) => `^a{0,1000}${at}$`)
  assert.ok(long < 3 * short, `${long} ms, and ${short} ms for short ones`)
  const result = compilePayloadSchema(withPatterns((at) => `^a{0,1000}${at}$`))
  assert.ok(result.ok && result.slowPatterns.length > 200)
})
