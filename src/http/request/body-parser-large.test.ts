// Large bodies: which of them need no judging event by event, and how many values they may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/support/random.ts'
import { eventBytesMax } from '../../domain/delivery/event.ts'
import { Problem } from '../../domain/problem.ts'
import { Turn } from '../../domain/turn.ts'
import type { JudgedAs } from '../route.ts'
import { isLargeBody, plainBytesOf, readLargeJsonBody } from './body-parser.ts'
import { readEvent, readEventInTurns } from './event-request.ts'
import { unfitValue } from './event-value.ts'

const read = (text: string, judgesText?: JudgedAs): Promise<unknown> =>
  readLargeJsonBody(Buffer.from(text), {
    parse: JSON.parse,
    judgesText,
    takeValues: async () => {},
    turn: new Turn(),
  })

/** Letters and digits that look like an exponent or a name, in texts, mean nothing. */
const ordinary = (index: number): string =>
  JSON.stringify({
    name: 'order',
    to: `user-${index}`,
    payload: { id: '3e8f-77E2', ok: true, no: false, price: index / 7, text: `"quoted" \\ é 😀 ${'x'.repeat(900)}` },
  })

const bulkOf = (events: readonly string[]): string => `{"events":[${events.join()}]}`
const bulk = (...more: string[]): string =>
  bulkOf([...Array.from({ length: 99 }, (_, index) => ordinary(index)), ...more])

test('of an ordinary bulk only the size of its largest event is known, and that is enough', async () => {
  const text = bulk()
  assert.ok(text.length > 64 * 1024)
  const body = await read(text, 'events')
  assert.ok(isLargeBody(body))
  const largest = Math.max(...Array.from({ length: 99 }, (_, index) => Buffer.byteLength(ordinary(index))))
  assert.equal(plainBytesOf(body), largest)
  // One that needed judging would be looked through: this one is taken as it is.
  const event = { name: 'order', to: 'user', payload: { price: Number.POSITIVE_INFINITY } }
  const source = { isLarge: true, plainBytes: largest }
  assert.equal('request' in readEvent(event, source), true)
  assert.equal('request' in readEvent(event, { isLarge: true }), false)
})

const withPayload = (payload: string): string => `{"name":"order","to":"user","payload":${payload}}`

const judged: Readonly<Record<string, string>> = {
  'an escape by number': withPayload('{"a":"\\u0000"}'),
  'a name that would change a prototype': withPayload('{"__proto__":1}'),
  'another such name': withPayload('{"constructor":{"prototype":1}}'),
  'an exponent': withPayload('{"a":1e999}'),
  'a capital exponent': withPayload('{"a":1E999}'),
  'a number of 310 digits': withPayload(`{"a":${'9'.repeat(310)}}`),
  'a level too many': withPayload(`${'['.repeat(100)}${']'.repeat(100)}`),
}

for (const [name, event] of Object.entries(judged)) {
  test(`a bulk with ${name} is judged event by event, wherever it stands`, async () => {
    assert.ok(unfitValue(JSON.parse(event)) !== undefined)
    for (let blanks = 0; blanks < 300; blanks += 37) {
      assert.equal(plainBytesOf(await read(bulk(' '.repeat(blanks) + event), 'events')), undefined)
    }
  })
}

test('what stands on the edge of a stride of the scan is seen as well', async () => {
  const parts = [withPayload('{"a":1e999}'), withPayload('{"__proto__":1}'), withPayload('{"a":"\\u0000"}')]
  const random = createRandom(16)
  for (let count = 0; count < 300; count += 1) {
    const part = random.oneOf(parts)
    const blanks = ' '.repeat(64 * 1024 - 11 - random.integer(part.length + 2))
    assert.equal(plainBytesOf(await read(bulkOf([`${blanks}${part}`]), 'events')), undefined)
  }
})

test('an event of no more bytes than it may have is never refused for its values', async () => {
  const nest = `${'['.repeat(90)}${']'.repeat(90)}`
  const count = Math.floor((eventBytesMax - 100) / (nest.length + 1))
  const event = withPayload(`{"a":[${Array(count).fill(nest).join()}]}`)
  assert.ok(event.length <= eventBytesMax && event.length > eventBytesMax - 1_000)
  const body = await read(event, 'event')
  const source = { plainBytes: plainBytesOf(body), isLarge: true }
  assert.equal('request' in readEvent(body, source), true)
  const { events } = (await read(bulkOf([event, ordinary(1)]), 'events')) as { events: unknown[] }
  assert.deepEqual(
    events.map((one) => 'request' in readEvent(one, { isLarge: true })),
    [true, true],
  )
})

test('a body of a mebibyte of the smallest values is read on every route', async () => {
  const text = `[${Array(349_000).fill('""').join()}]`
  assert.ok(text.length > 1_040_000 && text.length <= 1_048_576)
  assert.equal(((await read(text)) as unknown[]).length, 349_000)
})

const isProblem =
  (status: number, words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Problem && error.status === status && words.test(JSON.stringify([error.message, error.members]))

/** As many texts as are not parsed at once, and something that has to be judged. */
const manyTexts = (more: string): string => `{"list":[${'"a",'.repeat(40_000)}"a"],"more":${more}}`

test('a body that is parsed in turns is refused for what any other is refused for', async () => {
  const good = (await read(manyTexts('["\\u0041",{"constructor":{"name":1}}]'))) as { list: string[]; more: unknown }
  assert.deepEqual([good.list.length, good.more], [40_001, ['A', { constructor: { name: 1 } }]])
  const prototype = isProblem(400, /change a prototype/)
  await assert.rejects(read(manyTexts('[{"__proto__":{}}]')), prototype)
  await assert.rejects(read(manyTexts('[{"\\u005f_proto__":{}}]')), prototype)
  await assert.rejects(read(manyTexts('{"constructor":{"prototype":1}}')), prototype)
  await assert.rejects(read(manyTexts('{"b":[1,"\\u0000"]}')), isProblem(422, /more\.b\.1 must not contain NUL/))
  await assert.rejects(read(manyTexts('{"\\ud800":1}')), isProblem(422, /must not contain NUL characters or unpaired/))
  await assert.rejects(read(manyTexts('[1 2]')), isProblem(400, /not sent as JSON/))
})

test('a number of more digits than are parsed at once is refused wherever it stands; long texts and blanks are not', async () => {
  const digits = '9'.repeat(140_000)
  const refused = isProblem(400, /a number of more than 65536 digits/)
  for (const number of [digits, `-${digits}`, `0.${digits}`, `1e${digits}`, digits.replaceAll('9', 'x')]) {
    await assert.rejects(read(`{"a":[1,${number}]}`), refused)
    await assert.rejects(read(withPayload(`{"a":${number}}`), 'event'), refused)
    await assert.rejects(read(bulk(withPayload(`{"a":${number}}`)), 'events'), refused)
  }
  assert.deepEqual(await read(`{"a":"${digits}"}`), { a: digits })
  assert.deepEqual(await read(`{"a":1${' '.repeat(300_000)}}`), { a: 1 })
  assert.deepEqual(await read(`{"a":[${'12345678,'.repeat(20_000)}1]}`), { a: [...Array(20_000).fill(12345678), 1] })
})

test('an object of more fields than one may have is refused on every route, and costs no other event', async () => {
  const crowd = `{${Array.from({ length: 33_000 }, (_, index) => `"${index.toString(36)}":1`).join()}}`
  const refused = isProblem(400, /an object with more than 32768 fields/)
  await assert.rejects(read(crowd), refused)
  await assert.rejects(read(withPayload(crowd), 'event'), refused)
  const { events } = (await read(bulkOf([withPayload(crowd), ordinary(1)]), 'events')) as { events: unknown[] }
  assert.deepEqual(
    events.map((one) => 'request' in readEvent(one, { isLarge: true })),
    [false, true],
  )
})

test('the recipients of a large event are read in turns, with the result of reading them at once', async () => {
  const to = Array.from({ length: 10_000 }, (_, index) =>
    index % 3 === 0 ? {} : index % 3 === 1 ? `user-${index % 100}` : { type: 'Topic', topicKey: `t${index}` },
  )
  const event = { name: 'order', to, payload: {} }
  let looks = 0
  let turns = 0
  const turn = new Turn(
    () => (looks += 1),
    () => {
      turns += 1
    },
  )
  const inTurns = await readEventInTurns(event, { isLarge: true }, turn, 'named')
  assert.ok(turns >= 4, `${turns} turns`)
  assert.deepEqual(inTurns, readEvent(event, { isLarge: true }))
  assert.ok('request' in inTurns)
  assert.equal(inTurns.warnings.length, 11)
  assert.equal(inTurns.warnings.at(-1), '3324 more recipients were ignored')
})
