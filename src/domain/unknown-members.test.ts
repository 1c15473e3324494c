// What a schema does not know of a value, and the names that are probably meant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearMiss } from './nearest.ts'
import { unknownMembers, unknownMembersMax } from './unknown-members.ts'

const text = { type: 'string' }
const person = { type: 'object', properties: { subscriberId: text, data: { type: 'object' } } }
const topic = { type: 'object', properties: { type: text, topicKey: text } }
const schema = {
  type: 'object',
  properties: {
    name: text,
    payload: { type: 'object', additionalProperties: true },
    settings: { type: ['object', 'null'], properties: { amount: { type: 'number' } }, additionalProperties: true },
    steps: { type: 'array', items: { type: 'object', properties: { title: text } } },
    headers: { type: 'object', patternProperties: { '^x-': text } },
    byId: { type: 'object', additionalProperties: { type: 'object', properties: { layoutId: text } } },
    to: { anyOf: [text, topic, person, { type: 'array', items: { anyOf: [text, topic, person] } }] },
    free: {},
  },
}
const found = (value: unknown): string[] =>
  unknownMembers(schema, value).map(({ path, nearest }) => `${path} ${nearest ?? '-'}`)

test('a value of known members has none that are unknown, however its free parts look', () => {
  assert.deepEqual(
    found({
      name: 'a',
      payload: { any: { thing: 1 } },
      settings: { amount: 1, other: 2 },
      steps: [{ title: 'a' }, {}],
      headers: { 'x-a': 'b' },
      byId: { one: { layoutId: 'a' } },
      to: ['a', { topicKey: 'b' }, { subscriberId: 'c', data: { any: 1 } }],
      free: [{ any: 1 }],
    }),
    [],
  )
})

test('each unknown member is named by its path, with the known name that is nearest', () => {
  const value = {
    nmae: 'a',
    steps: [{}, { titel: 'b' }],
    headers: { y: 'a' },
    byId: { one: { layoutid: 'a' } },
    what: 1,
  }
  assert.deepEqual(found(value), [
    'nmae name',
    'steps.1.titel title',
    'headers.y -',
    'byId.one.layoutid layoutId',
    'what -',
  ])
})

test('of several ways to write a value the one that knows most of it counts', () => {
  assert.deepEqual(found({ to: { topicKye: 'a' } }), ['to.topicKye topicKey'])
  assert.deepEqual(found({ to: [{ subscriberID: 'a', mail: 1 }] }), ['to.0.subscriberID subscriberId', 'to.0.mail -'])
  assert.deepEqual(found({ to: { topicKey: 'a', subscriberIds: [] } }), ['to.subscriberIds -'])
})

test('values of another type are left to the validator', () => {
  for (const value of [undefined, null, 7, 'a', [], { steps: {}, to: 7, headers: [], settings: null }]) {
    assert.deepEqual(found(value), [])
  }
})

test('a body full of unknown members costs no more than the first of them', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, 1]))
  assert.equal(unknownMembers(schema, many).length, unknownMembersMax)
  const [long] = unknownMembers(schema, { ['é'.repeat(100_000)]: 1 })
  assert.equal(long?.path.length, 200)
})

test('the names of a value are listed once, however many ways there are to read it', () => {
  let listed = 0
  const counting = (members: object): object =>
    new Proxy(members, {
      ownKeys: (target) => {
        listed += 1
        return Reflect.ownKeys(target)
      },
    })
  assert.equal(found(counting({ nmae: 1, what: 2 })).length, 2)
  assert.equal(listed, 1)
  assert.equal(found({ to: counting({ a: 1, b: 2 }) }).length, 2)
  assert.equal(listed, 2)
  assert.equal(found({ to: [counting({ subscriberId: 'a' }), counting({ topicKey: 'a' })] }).length, 0)
  assert.equal(listed, 4)
})

test('names that any object has are not known, unless the schema has them', () => {
  assert.deepEqual(found(JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}')), [
    '__proto__ -',
    'constructor -',
    'toString -',
  ])
})

test('a word is near if it begins the other, or a third of its letters differ', () => {
  assert.equal(nearMiss('mon', ['monday', 'sunday']), 'monday')
  assert.equal(nearMiss('desc', ['name', 'description']), 'description')
  assert.equal(nearMiss('stepz', ['steps', 'name']), 'steps')
  assert.equal(nearMiss('foo', ['to', 'name']), undefined)
  assert.equal(nearMiss('anything', ['payload']), undefined)
})
