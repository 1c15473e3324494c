// Payloads that would make a saved rule slow, deep or endless: the rule is too large at once, and nothing else breaks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathLengthMax } from '../path.ts'
import { evaluateLogic } from './json-logic.ts'
import { LogicTooLarge } from './json-logic-operators.ts'
import { skipMistakes } from './skip-mistakes.ts'

const now = new Date('2026-03-31T12:00:00Z')
const list = { var: 'list' }
const accumulator = { var: 'accumulator' }
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index)

function holds(rule: unknown, data: object): boolean {
  assert.deepEqual(skipMistakes(rule), [])
  return evaluateLogic(rule, data, now).holds
}

function isTooLarge(rule: unknown, data: object): void {
  assert.throws(() => holds(rule, data), LogicTooLarge, JSON.stringify(rule))
}

test('what a reduce makes is paid for, whoever looks at it', () => {
  const doubled = { reduce: [list, [accumulator, accumulator], 1] }
  for (const rule of [doubled, { missing: [doubled] }, { var: [doubled] }, { missing_some: [doubled, ['a']] }]) {
    isTooLarge(rule, { list: numbers(18) })
  }
  assert.equal(holds({ missing: [doubled] }, { list: numbers(3) }), true)
})

test('only short texts and numbers are paths: whatever else is computed is missing', () => {
  const long = 'x'.repeat(pathLengthMax + 1)
  const short = 'x'.repeat(pathLengthMax)
  const data = { [long]: true, [short]: true, 7: true, true: true, 'a,b': true }
  const paths: readonly [unknown, boolean][] = [
    [short, true],
    [7, true],
    [long, false],
    [true, false],
    [['a', 'b'], false],
    [{ toString: 1 }, false],
    [{ toString: { a: 1 }, valueOf: null }, false],
  ]
  for (const [path, isThere] of paths) {
    const label = JSON.stringify(path).slice(0, 40)
    assert.equal(holds({ var: [{ var: 'path' }] }, { ...data, path }), isThere, label)
    assert.equal(holds({ var: [{ var: 'path' }, 'otherwise'] }, { ...data, path }), true, label)
    assert.equal(holds({ missing: [[{ var: 'path' }]] }, { ...data, path }), !isThere, label)
    assert.equal(holds({ missing_some: [1, [{ var: 'path' }]] }, { ...data, path }), !isThere, label)
  }
})

test('how many must be there is a number, or nothing is enough', () => {
  const rule = { missing_some: [{ var: 'least' }, ['least', 'gone']] }
  for (const least of [1, '1', 0.5]) assert.equal(holds(rule, { least }), false)
  for (const least of [2, '2', true, [1], { toString: 1 }, { valueOf: 1 }, 'x'])
    assert.equal(holds(rule, { least }), true)
})

test('every name that may be missing is paid for', () => {
  const rule = { reduce: [list, { if: [{ missing: [accumulator] }, accumulator, 0] }, { var: 'names' }] }
  const names = Array.from({ length: 1_000 }, (_, index) => `name${index}`)
  assert.equal(holds(rule, { list: numbers(20), names }), true)
  isTooLarge(rule, { list: numbers(1_000), names })
})

test('what is nested too deep is too large, not a fault of the machine', () => {
  const wrapped = { reduce: [list, [accumulator], 1] }
  for (const rule of [wrapped, { '==': [wrapped, 1] }, { cat: [wrapped] }, { in: [1, wrapped] }]) {
    isTooLarge(rule, { list: numbers(40_000) })
    isTooLarge(rule, { list: numbers(201) })
  }
  assert.equal(holds({ '!=': [wrapped, 1] }, { list: numbers(199) }), true)
})

test('what is looked for in a list is paid for once a member, on whichever side the list stands', () => {
  const part = Object.fromEntries(numbers(1_000).map((index) => [`name${index}`, 'x'.repeat(20)]))
  const members = numbers(1_000).map((index) => ({ index }))
  for (const name of ['contains', 'doesNotContain', 'containsAny', 'doesNotContainAny']) {
    isTooLarge({ [name]: [list, { var: 'part' }] }, { list: members, part })
  }
  for (const name of ['in', 'notIn']) isTooLarge({ [name]: [{ var: 'part' }, list] }, { list: members, part })
  const text = 'x'.repeat(20_000)
  isTooLarge({ contains: [list, { var: 'text' }] }, { list: members, text })
  assert.equal(holds({ contains: [list, { var: 'part' }] }, { list: [...members.slice(0, 50), part], part }), true)
})

test('what is looked for is written out once, however long the list', () => {
  let written = 0
  const writtenFor = (length: number): number => {
    written = 0
    const part = {
      toJSON: () => {
        written += 1
        return { index: -1 }
      },
    }
    assert.equal(
      evaluateLogic({ contains: [list, { var: 'part' }] }, { list: membersOf(length), part }, now).holds,
      false,
    )
    return written
  }
  const membersOf = (length: number): object[] => numbers(length).map((index) => ({ index }))
  assert.equal(writtenFor(1_000), writtenFor(1))
})

test('a long text that is looked for in a longer one is paid for by both lengths', () => {
  const part = `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}`
  const text = 'a'.repeat(100_000)
  isTooLarge({ contains: [{ var: 'text' }, { var: 'part' }] }, { text, part })
  isTooLarge({ in: [{ var: 'part' }, { var: 'text' }] }, { text, part })
  isTooLarge({ containsAny: [{ var: 'text' }, { var: 'parts' }] }, { text, parts: [part] })
  isTooLarge({ contains: [{ var: 'text' }, { var: 'part' }] }, { text, part: { part } })
  assert.equal(holds({ contains: [{ var: 'text' }, 'aab'] }, { text: `${text}b` }), true)
  const words = numbers(50).map((index) => `word ${index}`)
  assert.equal(holds({ containsAny: [{ var: 'text' }, { var: 'words' }] }, { text: `${text} word 49`, words }), true)
})

test('the names of members are paid for like their values', () => {
  const data = { list: numbers(1_000), whole: { ['x'.repeat(60_000)]: 1 } }
  isTooLarge({ reduce: [list, { if: [{ '==': [accumulator, accumulator] }, accumulator, 0] }, { var: 'whole' }] }, data)
})

test('lists as long as payloads have them are looked through and compared', () => {
  const tags = numbers(5_000).map((index) => `tag number ${index}`)
  const data = { list: tags, same: [...tags] }
  assert.equal(holds({ contains: [list, 'tag number 4999'] }, data), true)
  assert.equal(holds({ in: ['tag number 4999', list] }, data), true)
  assert.equal(holds({ containsAny: [list, ['a', 'b', 'tag number 4999']] }, data), true)
  assert.equal(holds({ '==': [list, { var: 'same' }] }, data), true)
  assert.equal(holds({ notIn: ['tag', list] }, data), true)
})
