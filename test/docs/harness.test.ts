// The test of the documents would notice: blocks and their marks, answers that differ, edits that fit nowhere, commands that fail.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { blocksOf } from './blocks.ts'
import { scriptOf } from './page-script.ts'
import { differences, lastJson } from './shown-json.ts'

const folder = mkdtempSync(join(tmpdir(), 'posthorn-docs-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('blocks are found with their marks, their files and what they follow', () => {
  const page = [
    '<!-- not run: needs a mail server -->\n```sh\nfalse\n```',
    '<!-- in the background -->\n```sh\nnpm start\n```\n\n```json\n{}\n```',
    '1. The noun, `src/domain/people/label.ts`:\n\n   ```ts\n   // A label.\n   ```',
    'In `src/a.ts`, without a colon.\n\n```ts\nx\n```',
  ].join('\n\n')
  const found = blocksOf('a.md', page).map(({ language, notRun, background, path, follows }) => [
    language,
    notRun ?? path ?? '',
    background,
    follows,
  ])
  assert.deepEqual(found, [
    ['sh', 'needs a mail server', false, false],
    ['sh', '', true, true],
    ['json', '', false, true],
    ['ts', 'src/domain/people/label.ts', false, false],
    ['ts', '', false, false],
  ])
  assert.throws(() => blocksOf('a.md', '```sh\nnever closed'), /never closed/)
})

test('an answer without a shown member, or with one of another type, is noticed', () => {
  assert.deepEqual(differences({ a: 1, b: ['…'] }, { a: 2, b: ['x'], more: true }), [])
  assert.deepEqual(differences({ a: { b: 1 } }, { a: {} }), ['a.b is missing'])
  assert.deepEqual(differences({ a: 'x' }, { a: 5 }), ['a is a number, shown as a string'])
  assert.deepEqual(differences([{ a: 1 }], []), ['the answer is empty'])
})

test('the last of several answers is read, whatever its texts hold', () => {
  assert.deepEqual(lastJson('{"a":"}{"}\n{"b":[1,{"c":"\\"]"}]}\n'), { b: [1, { c: '"]' }] })
})

const run = (page: string) => {
  const script = scriptOf(blocksOf('a.md', page), { out: folder, work: folder, port: 1 })
  writeFileSync(join(folder, 'page.sh'), script.text)
  const env = { PATH: process.env['PATH'] ?? '', EDIT: join(projectRoot, 'test/docs/apply-edit.mjs') }
  return spawnSync('bash', [join(folder, 'page.sh')], { env }).status
}

test('a command that fails fails the page, also within a pipe and for a status of HTTP; variables continue', () => {
  assert.equal(run('```sh\nexport A=1\n```\n\n```sh\ntest "$A" = 1\n```'), 0)
  assert.notEqual(run('```sh\nfalse | cat\n```'), 0)
  assert.notEqual(run('```sh\ncurl http://localhost:3000/\n```'), 0)
  assert.notEqual(run('```js\nthrow new Error("no")\n```'), 0)
})

test('an edit is made where it fits once, and nowhere else', () => {
  const edit = (lines: string) => run(`In \`a.ts\`:\n\n\`\`\`diff\n${lines}\n\`\`\``)
  writeFileSync(join(folder, 'a.ts'), 'one\ntwo\nthree\ntwo\n')
  assert.equal(edit(' one\n-two\n+2\n…\n three\n+3'), 0)
  assert.equal(readFileSync(join(folder, 'a.ts'), 'utf8'), 'one\n2\nthree\n3\ntwo\n')
  assert.notEqual(edit(' four\n+4'), 0)
})
