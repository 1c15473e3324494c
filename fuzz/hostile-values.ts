// JSON that is meant to hurt: depth, width, numbers, names, logic and schemas.
import type { Random } from '../test/support/random.ts'
import { hostileText, patterns, templates } from './hostile-texts.ts'

const scalars: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  1e-308,
  5e-324,
  [],
  {},
  [[]],
  [{}],
]

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'length',
  'size',
  'toString',
  '',
  'a.b',
  '$ref',
  '\u0000',
  'a',
  '0',
  '-1',
]

/** A member `__proto__` as JSON has it, which an object literal would not make. */
function objectOf(entries: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(entries)
}

export function hostileValue(random: Random, size: number, depth = 0): unknown {
  const kind = random.integer(14)
  if (kind < 4) return hostileText(random, '', size)
  if (kind < 7 || depth > 3) return random.oneOf(scalars)
  if (kind === 7) return nested(1 + random.integer(Math.min(size, 150)), random.chance(0.5))
  if (kind === 8) return Array.from({ length: random.integer(size) }, (_, at) => at)
  if (kind === 9) return objectOf(Array.from({ length: random.integer(size) }, (_, at) => [`k${at}`, at] as const))
  const values = Array.from({ length: random.integer(5) }, () => hostileValue(random, size, depth + 1))
  if (kind === 10) return values
  return objectOf(values.map((value) => [random.oneOf(names), value] as const))
}

function nested(depth: number, asList: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = asList ? [value] : { a: value }
  return value
}

/** What templates and conditions are pointed at. */
export function hostilePayload(random: Random, size: number): Record<string, unknown> {
  const item = random.oneOf<unknown>([
    1,
    'x',
    { a: 1 },
    ['x'],
    { a: { b: { c: 'x'.repeat(100) } } },
    null,
    '<b>x</b>',
    templates[0],
  ])
  const long = random.oneOf(['a', 'a ', '<a>', '%Y', '&', 'é', '\n', 'a@b.', '%'])
  const odd = random.chance(0.3) ? { [random.oneOf(names)]: hostileValue(random, size) } : {}
  return {
    a: hostileValue(random, Math.min(size, 100)),
    format: '%Y'.repeat(1 + random.integer(size)),
    items: Array.from({ length: random.integer(size) }, () => item),
    long: long.repeat(random.integer(size * 4)),
    o: objectOf(Array.from({ length: random.integer(size) }, (_, at) => [`k${at}`, item] as const)),
    ...odd,
  }
}

const operators = [
  '==',
  '===',
  '!=',
  '<',
  '>',
  'and',
  'or',
  '!',
  'if',
  'in',
  'cat',
  '+',
  '*',
  '%',
  'map',
  'filter',
  'reduce',
  'all',
  'some',
  'none',
  'merge',
  'missing',
  'missing_some',
  'substr',
  'var',
  'log',
  'method',
  'constructor',
  '__proto__',
  'contains',
  'startsWith',
  'between',
  'matches',
]

/** JSON logic: nested, wide, or loops within loops over a large list. */
export function hostileLogic(random: Random, size: number): unknown {
  const kind = random.integer(7)
  if (kind === 0)
    return { and: Array.from({ length: random.integer(size) }, () => ({ '==': [{ var: 'payload.a' }, 1] })) }
  if (kind === 1) return loops(1 + random.integer(5))
  if (kind === 2) return { in: [{ var: 'payload.long' }, { var: 'payload.long' }] }
  if (kind === 3) return { '==': [{ var: 'payload.items' }, { var: 'payload.items' }] }
  if (kind === 4) return doubled(1 + random.integer(40))
  let logic: unknown = random.oneOf<unknown>([1, { var: 'payload' }, { var: '' }, { var: ['payload.o', 1] }])
  for (let level = random.integer(Math.min(size, 200)); level >= 0; level -= 1)
    logic = { [random.oneOf(operators)]: [logic, random.oneOf(scalars)] }
  return logic
}

const loops = (depth: number): unknown =>
  depth === 0 ? { '==': [1, 2] } : { some: [{ var: 'payload.items' }, loops(depth - 1)] }

const doubled = (depth: number): unknown =>
  depth === 0 ? { var: 'payload.long' } : { cat: [{ var: 'payload.long' }, doubled(depth - 1)] }

/** JSON schemas of payloads: patterns, references to themselves, choices of choices, comparisons of all with all. */
export function hostileSchema(random: Random, size: number): unknown {
  const pattern = random.oneOf(patterns)
  return random.oneOf<() => unknown>([
    () => ({ type: 'object', properties: { long: { type: 'string', pattern } } }),
    () => ({ type: 'object', patternProperties: { [pattern]: { type: 'string' } } }),
    () => ({ type: 'object', propertyNames: { pattern } }),
    () => ({ type: 'object', properties: { items: { type: 'array', uniqueItems: true } } }),
    () => ({ $ref: '#' }),
    () => ({
      $ref: '#/definitions/a',
      definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } },
    }),
    () => ({ properties: { a: { $ref: '#' }, o: { additionalProperties: { $ref: '#' } } } }),
    () => ({ $ref: 'https://169.254.169.254/schema.json' }),
    () => choices(1 + random.integer(12)),
    () => ({
      type: 'object',
      properties: objectOf(
        Array.from(
          { length: random.integer(size) },
          (_, at) => [`p${at}`, { type: 'string', maxLength: at, default: 'x' }] as const,
        ),
      ),
    }),
    () => ({ enum: Array.from({ length: random.integer(size) }, (_, at) => ({ at })) }),
    () => ({
      properties: { items: { contains: { const: { a: 1 } }, items: { anyOf: [{ const: 1 }, { const: { a: 1 } }] } } },
    }),
    () => ({ properties: { a: { multipleOf: 1e-300 } } }),
    () => ({
      type: 'object',
      properties: { long: { format: random.oneOf(['email', 'uri', 'regex', 'date-time', 'hostname', 'x']) } },
    }),
    () => ({ unevaluatedProperties: false, allOf: [{ $dynamicRef: '#x' }] }),
    () => hostileValue(random, size),
  ])()
}

const choices = (depth: number): unknown =>
  depth === 0 ? { type: 'object', required: ['none'] } : { anyOf: [choices(depth - 1), choices(depth - 1)] }

/** Bytes that are JSON hardly, or not at all. */
export function hostileBody(random: Random, size: number): string {
  const count = 1 + random.integer(size * 4)
  return random.oneOf<() => string>([
    () => '',
    () => '{',
    () => 'null',
    () => '"x"',
    () => '[1,]',
    () => '{"a":1}}',
    () => '\u0000',
    () => '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}',
    () => '1e999',
    () => `${'9'.repeat(count)}`,
    () => `-${'0.'.repeat(count)}`,
    () => '['.repeat(count),
    () => '{"a":'.repeat(count),
    () => `${'['.repeat(count)}${']'.repeat(count)}`,
    () => `[${'{},'.repeat(count)}{}]`,
    () => `{${Array.from({ length: count }, (_, at) => `"a${at}":1`).join()}}`,
    () => `{${'"a":1,'.repeat(count)}"a":2}`,
    () => `"${'\\u0000'.repeat(count)}"`,
    () => `"${'\\ud800'.repeat(count)}"`,
    () => ' '.repeat(count),
    () => '\ufeff{}',
  ])()
}
