// Plain English in the documents: words that a native speaker would not write there.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

/** Each with what to write instead. */
const banned: readonly (readonly [RegExp, string])[] = [
  [/\b(?:told|tells?)\b/i, 'notified, reported, says, shows'],
  [/\bmend(?:s|ed|ing|able)?\b/i, 'fix, recovery'],
  [/\banew\b/i, 'again'],
  [/\bcall(?:s|ed)? off\b/i, 'cancel'],
  [/\bborn\b/i, 'created'],
  [/\bgoes? at\b/i, 'attempts, applies to'],
  [/\bunless given\b/i, 'by default'],
  [/\bnobody knows\b/i, 'unknown'],
  [/\bfaces? of the API\b/i, 'API v1 and v2'],
  [/\bone file a\b|\ba verb a\b/i, 'one file per'],
  [/\bat the most\b/i, 'at most'],
]

/** Written by a program from texts in the sources, which have their own rules. */
const generated = ['docs/configuration.md', 'docs/providers.md', 'docs/reliability.md', 'docs/security-report.md']

const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(projectRoot, 'docs'))
    .map((name) => `docs/${name}`)
    .filter((path) => path.endsWith('.md') && !generated.includes(path)),
]

/** Code and what programs print are left out. */
const prose = (text: string): string => text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '')

function breaches(text: string): string[] {
  return prose(text)
    .split('\n')
    .flatMap((line) =>
      banned.flatMap(([word, instead]) => {
        const [found] = word.exec(line) ?? []
        return found === undefined ? [] : [`"${found}" in: ${line.trim()}; write: ${instead}`]
      }),
    )
}

test('the documents are written in plain English', () => {
  for (const document of documents) assert.deepEqual(breaches(readProjectFile(document)), [], document)
})

test('a banned word is found in prose, and not in code', () => {
  assert.equal(breaches('Whoever was told of it.').length, 1)
  assert.deepEqual(breaches('See `told` and\n```text\nit was told\n```\n'), [])
})
