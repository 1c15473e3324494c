// Everything fits on a screen, and says what it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOnly } from './rules/code-only.ts'
import { fileLinesMax, functionLinesMax, functionsOf, longFiles, longFunctions, namelessFiles } from './rules/sizes.ts'
import { readSources, reported, sample } from './rules/sources.ts'

const sources = readSources(['src', 'test', 'scripts', 'bench', 'soak', 'fuzz'], ['.ts', '.mjs'])

test('files have at most 400 lines', () => {
  assert.ok(sources.size > 50)
  assert.deepEqual(reported(longFiles(sources)), [])
})

test('functions have at most 70 lines', () => {
  assert.deepEqual(reported(longFunctions(sources)), [])
})

test('line one of every file is a comment that says what it is', () => {
  assert.deepEqual(reported(namelessFiles(sources)), [])
})

const lines = (count: number, line = '  work()'): string => `${line}\n`.repeat(count)

test('a file of 401 lines is refused, one of 400 is not', () => {
  assert.equal(longFiles(sample({ 'src/a.ts': lines(fileLinesMax) })).length, 0)
  assert.equal(longFiles(sample({ 'src/a.ts': lines(fileLinesMax + 1) })).length, 1)
})

test('a file that begins with code, a blank line or an empty comment is refused; a shebang may come first', () => {
  for (const text of [
    'const a = 1',
    '\n// What it is.',
    '//',
    '/** What it is. */',
    '#!/usr/bin/env node\nconst a = 1',
    '',
  ]) {
    assert.equal(namelessFiles(sample({ 'src/a.ts': text })).length, 1, text)
  }
  for (const text of ['// What it is.\n', '#!/usr/bin/env node\n// What it is.']) {
    assert.equal(namelessFiles(sample({ 'src/a.ts': text })).length, 0, text)
  }
})

/** Each is given a body; the opening and closing lines count as well. */
const shapes: Readonly<Record<string, (body: string) => string>> = {
  'a function': (body) => `function a() {\n${body}}`,
  'an exported async function with a return type': (body) =>
    `export async function a(): Promise<Map<string, A>> {\n${body}}`,
  'a function that returns an object type': (body) => `function a(): { b: string } {\n${body}}`,
  'a generator': (body) => `function* a() {\n${body}}`,
  'an arrow': (body) => `const a = async (b) => {\n${body}}`,
  'a callback': (body) => `test('a', () => {\n${body}})`,
  'a method of an object': (body) => `const a = { b(c: number): number {\n${body}} }`,
  'a method of a class': (body) => `class A {\n  b(module: string) {\n${body}}\n}`,
  'a constructor': (body) => `class A {\n  constructor() {\n${body}}\n}`,
  'an accessor': (body) => `class A {\n  get b() {\n${body}}\n}`,
  'a function with braces in its strings': (body) =>
    `function a() {\n  const b = '}' + \`}\${'}'}\` + /[}/]/.source // }\n${body.slice(9)}}`,
}
for (const [name, shape] of Object.entries(shapes)) {
  test(`${name} of 71 lines is refused, one of 70 is not`, () => {
    const within = shape(lines(functionLinesMax - 2))
    const beyond = shape(lines(functionLinesMax - 1))
    assert.equal(longFunctions(sample({ 'src/a.ts': within })).length, 0)
    assert.deepEqual(
      longFunctions(sample({ 'src/a.ts': beyond })).map((breach) => breach.what),
      ['is a function of 71 lines; 70 are allowed'],
    )
  })
}

test('a signature of several lines counts as part of its function', () => {
  const text = `function a(\n  b: number,\n  c: number,\n): void {\n${lines(3)}}\n`
  assert.deepEqual(functionsOf(text), [{ line: 1, lines: 8 }])
})

test('an arrow without braces is measured to the end of its expression', () => {
  const chain = `const a = (b) =>\n  b\n${lines(80, '    .c()')}const d = 1\n`
  const call = `const a = (b) => c(\n${lines(80, '  b,')})\n`
  const sum = `const a = (b) =>\n${lines(80, '  b +')}  1\n`
  for (const text of [chain, call, sum])
    assert.equal(longFunctions(sample({ 'src/a.ts': text })).length, 1, text.slice(0, 30))
  assert.deepEqual(functionsOf(`const a = (b) => b\n${lines(80)}`), [{ line: 1, lines: 1 }])
})

test('a suite is a list of tests, each measured by itself', () => {
  const suite = (body: string): string =>
    `describe('a', { concurrency: 3 }, () => {\n  test('b', async (t) => {\n${body}  })\n})\n`
  const tests = suite(`${lines(60)}  })\n  test('c', () => {\n${lines(60)}`)
  assert.deepEqual(longFunctions(sample({ 'test/a.test.ts': tests })), [])
  assert.equal(longFunctions(sample({ 'test/a.test.ts': suite(lines(70)) })).length, 1)
})

test('objects, types, classes and import lists are no functions, however long', () => {
  const members = lines(80, '  a: 1,')
  for (const head of [
    'const a = {',
    'export const a: A = {',
    'type A = {',
    'interface A extends B<C> {',
    'export interface A {',
  ]) {
    assert.deepEqual(longFunctions(sample({ 'src/a.ts': `${head}\n${members}}` })), [], head)
  }
  const texts = [
    `class A extends B {\n${members}}`,
    `import {\n${lines(80, '  a,')}} from 'b'`,
    `export const a = b({\n${members}})`,
    `export const a = [\n  {\n${members}  },\n]`,
    `declare module 'a' {\n${members}}`,
  ]
  for (const text of texts) assert.deepEqual(longFunctions(sample({ 'src/a.ts': text })), [], text.slice(0, 30))
})

test('blanking keeps code and its offsets, and nothing of comments, strings, templates and regular expressions', () => {
  // « and » stand for a template's hole.
  const withHoles = (text: string): string => text.replaceAll('«', '${').replaceAll('»', '}')
  const text = "a('x{') // {\n/* { */ b(`{«c({ d: '}' })»{`) / e / f.g(/[/{]\\/{/u)"
  const expected = "a('  ')     \n        b(` «c({ d: ' ' })» `) / e / f.g(/       /u)"
  assert.equal(codeOnly(withHoles(text)), withHoles(expected))
})
