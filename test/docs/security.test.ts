// SECURITY.md: every promise names a test that exists.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

interface Promised {
  readonly promise: string
  readonly tests: readonly string[]
}

/** The rows of the tables of promises. */
function promisesIn(text: string): Promised[] {
  const part = text.split(/^## /m).find((one) => one.startsWith('Promises')) ?? ''
  return part
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| Promise \|/.test(line))
    .map((line) => {
      const [, promise = '', shown = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
      return {
        promise,
        tests: [...shown.matchAll(/`((?:src|test)\/[\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name),
      }
    })
}

const unshown = (text: string): string[] =>
  promisesIn(text)
    .filter(({ tests }) => tests.length === 0 || tests.some((name) => !existsSync(join(projectRoot, name))))
    .map(({ promise }) => promise)

test('every promise of SECURITY.md names a test that exists', () => {
  const text = readProjectFile('SECURITY.md')
  assert.ok(promisesIn(text).length > 30, `${promisesIn(text).length} promises`)
  assert.deepEqual(unshown(text), [])
})

test('a promise without a test, or with one that is gone, is found', () => {
  const rows = [
    '| Kept | `test/docs/security.test.ts` |',
    '| Bare | by design |',
    '| Gone | `test/docs/gone.test.ts` |',
  ]
  assert.deepEqual(unshown(`## Promises\n\n| Promise | Shown by |\n|---|---|\n${rows.join('\n')}\n`), ['Bare', 'Gone'])
})

/** What a threat model is made of. */
test('the threat model names assets, actors, entry points, promises and limits', () => {
  const headings = [...readProjectFile('SECURITY.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  for (const heading of ['Assets', 'Actors', 'Entry points', 'Promises', 'Limits'])
    assert.ok(headings.includes(heading), `${heading} is not among ${headings}`)
})
