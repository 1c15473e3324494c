// Parsing in pieces: whatever the text, what comes out is what JSON.parse returns, and what it refuses is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../test/support/random.ts'
import { createRandom, fuzzRounds } from '../../test/support/random.ts'
import { scanJson } from './json-scan.ts'
import { parseInTurns } from './parse-in-turns.ts'
import { Turn } from './turn.ts'

const limits = { depthMax: 1_000, valuesMax: 1_000_000 }

/** The value, or `refused`: as one sees them. */
async function inPieces(text: string, piece: number): Promise<unknown> {
  const bytes = Buffer.from(text)
  const turn = new Turn()
  const scan = await scanJson(bytes, { ...limits, pieceBytes: piece }, turn)
  if (typeof scan === 'string') return scan === 'not JSON' ? 'refused' : scan
  return parseInTurns(bytes, scan, turn, { piece }).catch((error) => {
    assert.ok(error instanceof SyntaxError, String(error))
    return 'refused'
  })
}

function atOnce(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'refused'
  }
}

/** As it is written again: the order of members counts too. */
async function assertSame(text: string, piece: number): Promise<void> {
  const [got, wanted] = [await inPieces(text, piece), atOnce(text)]
  assert.equal(JSON.stringify(got), JSON.stringify(wanted), `${piece}: ${text}`)
  assert.deepEqual(got, wanted, `${piece}: ${text}`)
}

const letters = ['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', 'a', 'é', '😀', '1', '-', 'e', '.', '\u0000']
const names = ['a', 'b', '__proto__', 'constructor', '1', '02', '', 'a,b', '}{', 'é"', '\\']

function randomValue(random: Random, depth: number): unknown {
  const kind = random.integer(depth > 5 ? 5 : 9)
  if (kind === 0) return random.integer(1_000_000) / 7
  if (kind === 1) return [true, false, null][random.integer(3)]
  if (kind < 5) return Array.from({ length: random.integer(12) }, () => random.oneOf(letters)).join('')
  const size = random.integer(7)
  if (kind < 7) return Array.from({ length: size }, () => randomValue(random, depth + 1))
  return Object.fromEntries(Array.from({ length: size }, () => [random.oneOf(names), randomValue(random, depth + 1)]))
}

/** Written with blanks here and there, and with one name twice. */
function randomText(random: Random): string {
  const text = JSON.stringify(randomValue(random, 0), undefined, random.oneOf(['', ' ', '\t\n']))
  const again = random.integer(4) === 0 ? text.replace(/^\{/, '{"b":[1,[2]],"a":0,') : text
  return random.integer(3) === 0 ? `\r\n ${again} \t` : again
}

/** One letter is changed, left out or put in. */
function broken(text: string, random: Random): string {
  const at = random.integer(text.length + 1)
  const other = random.integer(3) === 0 ? '' : random.oneOf(letters)
  // Half a pair of surrogates is not UTF-8, and never comes this far.
  return (text.slice(0, at) + other + text.slice(at + random.integer(2))).toWellFormed()
}

test('random texts, and as many with a letter wrong, come out as of JSON.parse, whatever the size of a piece', async () => {
  const random = createRandom(16)
  for (let count = 0; count < fuzzRounds(1_500); count += 1) {
    const text = randomText(random)
    await assertSame(text, 1 + random.integer(30))
    await assertSame(broken(text, random), 1 + random.integer(30))
  }
})

test('what stands between large parts is read as strictly as they are', async () => {
  const large = `[${'1,'.repeat(20)}1]`
  for (const text of [
    `[${large}]`,
    `[${large},]`,
    `[,${large}]`,
    `[${large},,${large}]`,
    `[${large} ${large}]`,
    `[${large}1]`,
    `[1${large}]`,
    `[1,${large},2]`,
    `{"a":${large}}`,
    `{"a":${large},}`,
    `{,"a":${large}}`,
    `{"a" ${large}}`,
    `{"a":,"b":${large}}`,
    `{a:${large}}`,
    `{1:${large}}`,
    `{"a\u0000":${large}}`,
    `{"__proto__":${large},"a":{"__proto__":1}}`,
    `{"a":${large},"b":1,"a":2}`,
    `{${large}}`,
    `[${large}`,
    `${large}]`,
    `${large}${large}`,
    `${large} x`,
    `[${large}}`,
    `{"a":1,${large}}`,
    '',
    '   ',
    '"text"',
    '12',
  ]) {
    await assertSame(text, 8)
  }
})

test('depth and values are counted before anything is parsed', async () => {
  const turn = new Turn()
  const scan = (text: string, own: object) => scanJson(Buffer.from(text), { ...limits, pieceBytes: 8, ...own }, turn)
  assert.equal(await scan('['.repeat(1_001), {}), 'too deep')
  assert.equal(await scan('[[["[[["]]]', { depthMax: 2 }), 'too deep')
  assert.equal(await scan('[[["[[[\\"["]]]', { depthMax: 3, valuesMax: 4 }).then((one) => typeof one), 'object')
  assert.equal(await scan('[1,2,{"a":"b"},[],3]', { valuesMax: 4 }), 'too many values')
  assert.equal(await scan('[1,2,{"a":"b"},[],3]', { valuesMax: 5 }).then((one) => typeof one), 'object')
  for (const text of ['[}', ']', '[', '"', '{"a']) assert.equal(await scan(text, {}), 'not JSON')
})

test('an object of more names than may be gone through at once is refused, one of many parts alone', async () => {
  const turn = new Turn()
  const scan = (text: string, own: object) =>
    scanJson(Buffer.from(text), { ...limits, pieceBytes: 8, namesMax: 3, ...own }, turn)
  const crowded = '{"a":1,"b":{"a":":"},"c":1,"d":1}'
  assert.equal(await scan(crowded, {}), 'too many names')
  assert.equal(await scan(crowded, { namesMax: 4 }).then((one) => typeof one), 'object')
  assert.equal(await scan(`[{"a":1},${crowded}]`, {}), 'too many names')
  assert.equal(await scan('[{"a":1,"b":1,"c":1},{"a":1,"b":1}]', {}).then((one) => typeof one), 'object')
  const inParts = { partValuesMax: 1_000 }
  assert.equal(await scan(crowded, inParts), 'too many names')
  assert.equal(await scan(`{"x":${crowded}}`, inParts), 'too many names')
  for (const element of [crowded, `{"p":${crowded}}`, `[[0,${crowded}]]`]) {
    const found = await scan(`{"events":[{"a":1},${element}]}`, inParts)
    assert.ok(typeof found !== 'string')
    assert.deepEqual([...found.overfull], ['{"events":[{"a":1},'.length])
  }
})

test('a list that is longer than anyone takes is not read to its end', async () => {
  const bytes = Buffer.from(`{"events":[${'1,'.repeat(500_000)}1],"more":[[${'1,'.repeat(100_000)}1]]}`)
  const turn = new Turn()
  const scan = await scanJson(bytes, { ...limits, pieceBytes: 65_536 }, turn)
  assert.ok(typeof scan !== 'string')
  const body = (await parseInTurns(bytes, scan, turn, { listMax: 1_000 })) as Record<string, unknown[]>
  const [events, more] = [body['events'] ?? [], body['more'] ?? []]
  assert.ok(events.length > 1_000 && events.length < 50_000, `${events.length}`)
  assert.equal((more[0] as unknown[]).length, 100_001, 'what lies deeper is read')
})
