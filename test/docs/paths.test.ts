// What documents and comments refer to exists: files of the project, and no documents that a reader does not have.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile, readSources } from '../tidy/rules/sources.ts'

const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(projectRoot, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]

/** Files that the recipes of CONTRIBUTING make, and those that a command makes. */
const made = /labels|\/label\.ts$|acme-sms|NNNN|^bench\/results\//
const path = /`((?:src|test|docs|scripts|bench|soak|fuzz)\/[\w./-]+\.\w+)`/g

const missing = (text: string): string[] =>
  [...text.matchAll(path)]
    .map(([, cited = '']) => cited)
    .filter((cited) => !made.test(cited) && !existsSync(join(projectRoot, cited)))

test('every file that a document names is there', () => {
  for (const document of documents) assert.deepEqual(missing(readProjectFile(document)), [], document)
  assert.deepEqual(missing('see `src/main.ts` and `src/gone.ts`'), ['src/gone.ts'])
})

const sources = readSources(['src', 'scripts', 'bench', 'soak', 'fuzz'], ['.ts', '.mjs'])
const cited = /\bdocs\/[\w./-]+\.(?:md|json|yaml)/g

test('every document that a comment or a message names is there', () => {
  for (const [file, text] of sources) {
    if (file.endsWith('.test.ts')) continue
    const gone = [...text.matchAll(cited)].map(([name]) => name).filter((name) => !existsSync(join(projectRoot, name)))
    assert.deepEqual(gone, [], file)
  }
})

/** Numbered sections of papers that are not part of the project. */
const elsewhere = /\b(?:interface|behaviours) \(?\d+\.\d+|sheet of facts/i

test('no comment cites a document that readers do not have', () => {
  const citing = [...sources].filter(([, text]) => elsewhere.test(text)).map(([file]) => file)
  assert.deepEqual(citing, [])
  assert.match('as interface 4.0 says', elsewhere)
})

/** As the places where documents are shown make them: small letters, dashes for blanks, nothing else. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
const withoutCode = (text: string): string => text.replace(/^\s*```[\s\S]*?^\s*```/gm, '')
const anchorsIn = (text: string): Set<string> =>
  new Set([...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)))

function deadAnchors(document: string, text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
  return links.flatMap(([, target = '', anchor = '']) => {
    const path = target === '' ? document : join(dirname(document), target)
    if (/^\w+:/.test(target) || !path.endsWith('.md')) return []
    const headings = anchorsIn(target === '' ? text : readProjectFile(path))
    return headings.has(anchor) ? [] : [`${target}#${anchor}`]
  })
}

test('every anchor leads to a heading', () => {
  for (const document of documents) assert.deepEqual(deadAnchors(document, readProjectFile(document)), [], document)
  assert.deepEqual(deadAnchors('README.md', '# A `b` c\n[x](#a-b-c) [y](#gone)'), ['#gone'])
})
