// Made-up payloads: what a schema describes, what templates name, and bounds on both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filledUp, sampleOfSchema, sampleOfVariables } from './sample-payload.ts'

test('the words of the author come before those of a type', () => {
  const properties = {
    a: { type: 'string', default: 'd' },
    b: { const: 5 },
    c: { enum: ['x', 'y'] },
    d: { examples: [{ e: 1 }] },
    e: { type: ['null', 'integer'] },
    f: { type: 'string', format: 'email' },
    g: { type: 'array', items: { type: 'boolean' } },
    h: { oneOf: [{ type: 'number', minimum: 7 }, { type: 'string' }] },
    i: { allOf: [{ properties: { j: { type: 'string' } } }, { properties: { k: {} } }] },
  }
  assert.deepEqual(sampleOfSchema({ type: 'object', properties }), {
    ...{ a: 'd', b: 5, c: 'x', d: { e: 1 }, e: 1, f: 'ada@example.com', g: [true], h: 7 },
    i: { j: 'j', k: 'k' },
  })
})

test('a schema that refers to itself, or doubles itself, comes to an end', () => {
  const self = { type: 'object', properties: { next: { $ref: '#' }, name: { type: 'string' } } }
  assert.equal(sampleOfSchema(self)['name'], 'name')
  const both = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } } }
  assert.ok(JSON.stringify(sampleOfSchema(both)).length < 100_000)
  const circle = { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } }
  assert.deepEqual(sampleOfSchema(circle), {})
})

test('variables become members by their dotted names, whatever they are called', () => {
  assert.deepEqual(sampleOfVariables(['order', 'order.id', 'order.items.count', 'name']), {
    order: { id: 'id', items: { count: 'count' } },
    name: 'name',
  })
  const odd = sampleOfVariables(['__proto__.polluted', 'constructor.name'])
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.deepEqual(Object.keys(odd).includes('constructor'), true)
})

test('what is given wins, and only what is missing is filled up', () => {
  const sample = { a: { b: 1, c: 2 }, d: [1], e: 'x' }
  assert.deepEqual(filledUp({ a: { b: null }, d: [] }, sample), { a: { b: null, c: 2 }, d: [], e: 'x' })
  assert.deepEqual(filledUp(undefined, sample), sample)
  assert.equal(filledUp('text', sample), 'text')
})
