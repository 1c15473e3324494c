// Conditions against a second, plain reading of the same rules, over many random filters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../test/support/random.ts'
import { createRandom, fuzzRounds } from '../../../test/support/random.ts'
import type { FieldFilterPart, FilterPart, StepFilter, WebhookFilterPart } from './condition.ts'
import {
  arrangedFilter,
  filterJoins,
  filterOperators,
  filterSources,
  filterTypes,
  previousStepTypes,
  timeOperators,
} from './condition.ts'
import type { EarlierMessage } from './condition-evaluation.ts'
import { evaluateFilters } from './condition-evaluation.ts'

type Scalar = number | string | undefined
const missing = (value: unknown): value is null | undefined => value === null || value === undefined

function asNumber(value: unknown): Scalar {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : undefined
}
function asBoolean(value: unknown): Scalar {
  if ([true, 1, '1', 'true', 'TRUE'].some((word) => word === value)) return 1
  return [false, 0, '0', 'false'].some((word) => word === value) ? 0 : undefined
}
const isoForm = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d))?$/
function asDate(value: unknown): Scalar {
  return typeof value === 'string' && isoForm.test(value) ? Date.parse(value) : asNumber(value)
}
/** Objects of these tests have one member at most, so that JSON is canonical. */
function asText(value: unknown): Scalar {
  if (missing(value)) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
const readers = { NUMBER: asNumber, BOOLEAN: asBoolean, DATE: asDate, TEXT: asText }
type ReaderName = keyof typeof readers

function readerFor(type: string, actual: unknown): ((value: unknown) => Scalar) | undefined {
  if (type in readers) return readers[type as ReaderName]
  if (typeof actual === 'number') return asNumber
  if (typeof actual === 'boolean') return asBoolean
  return typeof actual === 'string' ? asText : undefined
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function same(type: string, actual: unknown, expected: unknown): boolean {
  const reader = readerFor(type, actual)
  if (reader !== undefined) return reader(actual) !== undefined && reader(actual) === reader(expected)
  return !missing(actual) && isDeepStrictEqual(actual, parsed(expected))
}

function list(text: string): unknown[] {
  const value = parsed(text)
  return Array.isArray(value)
    ? value
    : text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one.length > 0)
}

function ordered(type: string, actual: unknown, expected: unknown): -1 | 0 | 1 | undefined {
  const reader = readerFor(type, actual)
  const [one, other] = [reader?.(actual), reader?.(expected)]
  if (one === undefined || other === undefined) return undefined
  return one === other ? 0 : one < other ? -1 : 1
}

function positive(type: string, actual: unknown, operator: string, text: string): boolean {
  if (missing(actual)) return false
  const isList = type === 'LIST' || type === 'MULTI_LIST'
  const members = Array.isArray(actual) ? actual : isList && typeof actual === 'string' ? list(actual) : [actual]
  const has = (expected: unknown): boolean => members.some((member) => same(type, member, expected))
  const order = ordered(type, actual, text)
  switch (operator) {
    case 'EQUAL': {
      if (!isList && (type in readers || !Array.isArray(actual))) return same(type, actual, text)
      return members.every((member) => list(text).some((one) => same(type, member, one))) && list(text).every(has)
    }
    case 'LARGER':
      return order === 1
    case 'SMALLER':
      return order === -1
    case 'LARGER_EQUAL':
      return order === 1 || order === 0
    case 'SMALLER_EQUAL':
      return order === -1 || order === 0
    case 'BETWEEN': {
      const bounds = list(text)
      if (bounds.length !== 2) return false
      const [low, high] = bounds.map((bound) => ordered(type, actual, missing(bound) ? bound : asText(bound)))
      return (low === 0 || low === 1) && (high === 0 || high === -1)
    }
    case 'LIKE':
      return (Array.isArray(actual) ? actual : [actual]).some(
        (one) => !missing(one) && String(asText(one)).includes(text),
      )
    case 'IN':
      return Array.isArray(actual) && !isList ? has(text) : list(text).some(has)
    case 'ANY_IN':
      return list(text).some(has)
    default:
      return list(text).length > 0 && list(text).every(has)
  }
}

type Fields = Record<string, unknown>

/** Everything that conditions can ask of. */
interface Scene {
  readonly payload: Fields
  readonly subscriber: Fields
  readonly tenant: Fields
  readonly steps: Readonly<Record<string, readonly EarlierMessage[] | undefined>>
  readonly answers: Readonly<Record<string, Fields | undefined>>
}

const now = new Date('2026-03-01T00:00:00Z')
const minutesOf = { minutes: 1, hours: 60, days: 60 * 24 }

function fieldPasses(type: string, { field, operator, value }: FieldFilterPart | WebhookFilterPart, fields: Fields) {
  const isNegative = operator.startsWith('NOT_')
  const [first = '', second] = field.split('.')
  const top = fields[first]
  const actual = second === undefined ? top : (top as Fields | undefined)?.[second]
  return positive(type, actual, isNegative ? operator.slice('NOT_'.length) : operator, value) !== isNegative
}

/** `guess` is what an address that has not answered would make of it. */
function childPasses(type: string, child: FilterPart, scene: Scene, guess: boolean): boolean {
  const { isOnline, lastOnlineAt } = scene.subscriber
  switch (child.on) {
    case 'isOnline':
      return (isOnline === true || lastOnlineAt !== null) && isOnline === child.value
    case 'isOnlineInLast': {
      if (isOnline === true) return true
      const minutes = (now.getTime() - Date.parse(String(lastOnlineAt))) / 60_000
      return minutes <= child.value * minutesOf[child.timeOperator]
    }
    case 'previousStep': {
      const messages = scene.steps[child.step] ?? []
      if (messages.length === 0) return true
      const { stepType } = child
      if (stepType === 'sent') return messages.some(({ status }) => status === 'sent')
      if (stepType === 'unsent') return messages.every(({ status }) => status !== 'sent')
      if (stepType === 'seen') return messages.some(({ seen }) => seen)
      if (stepType === 'unseen') return messages.every(({ seen }) => !seen)
      return messages.some(({ read }) => read) === (stepType === 'read')
    }
    case 'webhook': {
      const answer = scene.answers[child.webhookUrl]
      return answer === undefined ? guess : fieldPasses(type, child, answer)
    }
    default:
      return fieldPasses(type, child, scene[child.on])
  }
}

/** The answer for one way of guessing the silent webhooks, whose guesses are the bits of a number. */
function guessed(filters: readonly StepFilter[], scene: Scene, guesses: number): boolean {
  if (filters.length === 0) return true
  let silent = 0
  const groups = filters.map(({ children, moreChildren = [], isNegated, type, value }) => {
    const all = [...children, ...moreChildren]
    if (all.length === 0) return true
    const passed = all.map((child) => {
      const isSilent = child.on === 'webhook' && scene.answers[child.webhookUrl] === undefined
      return childPasses(type, child, scene, isSilent && ((guesses >> silent++) & 1) === 1)
    })
    const joined = value === 'AND' ? !passed.includes(false) : passed.includes(true)
    return isNegated ? !joined : joined
  })
  return groups.includes(true)
}

/** Decided when it comes to the same whatever the silent ones would say. */
function plainly(filters: readonly StepFilter[], scene: Scene): boolean | 'open' {
  const silent = filters
    .flatMap(({ children, moreChildren = [] }) => [...children, ...moreChildren])
    .filter((child) => child.on === 'webhook' && scene.answers[child.webhookUrl] === undefined).length
  const ways = Array.from({ length: 2 ** silent }, (_, guesses) => guessed(filters, scene, guesses))
  if (ways.every((passed) => passed)) return true
  return ways.includes(true) ? 'open' : false
}

const words = [
  'a',
  'b',
  'A',
  'ab',
  '1',
  '2',
  '10',
  '1.0',
  'true',
  'false',
  '0',
  '',
  '2024-01-01',
  '2024-02-29T12:00:00Z',
]
const scalars = [...words, 0, 1, 2, 10, 1.5, -1, true, false, null]
const moreWords = [
  '2024-01-01T01:00:00+01:00',
  'null',
  '{"a":1}',
  '[]',
  '[1, 2]',
  '["a", true]',
  'a,b',
  'a, 1,',
  '1,10',
  '-1',
]

function randomActual(random: Random): unknown {
  const kind = random.integer(10)
  if (kind === 0) return undefined
  if (kind === 1) return random.chance(0.5) ? { a: 1 } : {}
  if (kind > 4) return random.chance(0.8) ? random.oneOf(scalars) : random.oneOf(moreWords)
  return Array.from({ length: random.integer(4) }, () => (random.chance(0.1) ? { a: 1 } : random.oneOf(scalars)))
}

function randomValue(random: Random): string {
  if (random.chance(0.5)) return random.oneOf([...words, ...moreWords])
  const members = Array.from({ length: random.integer(4) }, () => random.oneOf(scalars))
  return random.chance(0.5) ? JSON.stringify(members) : members.join(random.chance(0.5) ? ',' : ' , ')
}

const addresses = ['https://a.example', 'https://b.example', 'https://silent.example']
const stepNames = ['one', 'two', 'none']

function randomPart(random: Random): FilterPart {
  const kind = random.integer(10)
  if (kind === 0) return { on: 'isOnline', value: random.chance(0.5) }
  if (kind === 1)
    return { on: 'isOnlineInLast', value: 1 + random.integer(90), timeOperator: random.oneOf(timeOperators) }
  if (kind === 2)
    return { on: 'previousStep', step: random.oneOf(stepNames), stepType: random.oneOf(previousStepTypes) }
  const compared = {
    field: random.oneOf(['x', 'y', 'inner.z']),
    value: randomValue(random),
    operator: random.oneOf(filterOperators),
  }
  if (kind === 3) return { on: 'webhook', webhookUrl: random.oneOf(addresses), ...compared }
  return { on: random.oneOf(filterSources), ...compared }
}

function randomFilter(random: Random, wide: boolean): StepFilter {
  const filter: StepFilter = {
    isNegated: random.chance(0.3),
    type: random.oneOf(filterTypes),
    value: random.oneOf(filterJoins),
    children: Array.from({ length: wide ? random.integer(4) : 1 }, () => randomPart(random)),
  }
  return random.chance(0.5) ? arrangedFilter(filter) : filter
}

function randomScene(random: Random): Scene {
  const side = (): Fields => ({ x: randomActual(random), y: randomActual(random), inner: { z: randomActual(random) } })
  const messages = (): EarlierMessage[] =>
    Array.from({ length: random.integer(3) }, () => ({
      status: random.oneOf(['sent', 'error', 'warning', null]),
      seen: random.chance(0.5),
      read: random.chance(0.5),
    }))
  const lastOnlineAt = random.chance(0.3)
    ? null
    : new Date(now.getTime() - random.integer(60 * 24 * 90) * 60_000).toISOString()
  return {
    payload: side(),
    subscriber: { ...side(), isOnline: random.chance(0.3), lastOnlineAt },
    tenant: side(),
    steps: { one: messages(), two: messages() },
    answers: { 'https://a.example': side(), 'https://b.example': side() },
  }
}

/** A single condition shows a difference that a wide filter may hide. */
const roundsMax = fuzzRounds(20_000)

test('two readings of the rules agree', () => {
  const random = createRandom(3)
  const counted = { true: 0, false: 0, open: 0 }
  for (let round = 0; round < roundsMax; round += 1) {
    const scene = randomScene(random)
    const wide = random.chance(0.3)
    const filters = Array.from({ length: wide ? random.integer(4) : 1 }, () => randomFilter(random, wide))
    const evaluation = evaluateFilters(filters, scene, (text) => text, {
      now,
      messagesOf: (step) => scene.steps[step],
      answerOf: (address) => scene.answers[address],
    })
    const outcome = evaluation.asks.length > 0 ? 'open' : evaluation.passed
    counted[`${outcome}`] += 1
    const expected = plainly(filters, scene)
    if (outcome === expected) continue
    assert.fail(`${outcome}, not ${expected}: ${JSON.stringify({ filters, scene, evaluation })}`)
  }
  for (const [outcome, count] of Object.entries(counted)) {
    assert.ok(count > roundsMax / (outcome === 'open' ? 60 : 4), `${outcome}: ${count}`)
  }
})
