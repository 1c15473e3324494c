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

/** More than a newcomer reads in a day is no spine. */
const spineMax = 35

/** What is wrong with the list of files to read in ARCHITECTURE, which the leaves follow. */
function spineMistakes(text: string): string[] {
  const [, after = ''] = text.split(/^### One trigger: the spine$/m)
  const [spine = '', leaves = ''] = after.split(/^### The leaves$/m)
  const items = [...spine.matchAll(/^(\d+)\. `(src\/[^`]+)`: /gm)].map(([, place, file = '']) => ({ place, file }))
  const files = items.map(({ file }) => file)
  const [rest = ''] = leaves.split(/^### /m)
  return [
    ...(files.length === 0 || files.length > spineMax ? [`${files.length} files`] : []),
    ...items.flatMap(({ place }, at) => (Number(place) === at + 1 ? [] : [`${place} is number ${at + 1}`])),
    ...files.filter((file) => !existsSync(join(projectRoot, file))).map((file) => `${file} is missing`),
    ...files.filter((file, at) => files.indexOf(file) < at).map((file) => `${file} is there twice`),
    ...files.filter((file) => rest.includes(`\`${file}\``)).map((file) => `${file} is a leaf too`),
  ]
}

test('the spine of ARCHITECTURE is a list of at most 35 files, each there once and none of them a leaf', () => {
  assert.deepEqual(spineMistakes(readProjectFile('ARCHITECTURE.md')), [])
  const made = [
    '### One trigger: the spine',
    '1. `src/main.ts`: a',
    '3. `src/gone.ts`: b',
    '### The leaves',
    '`src/main.ts`',
  ]
  const found = ['3 is number 2', 'src/gone.ts is missing', 'src/main.ts is a leaf too']
  assert.deepEqual(spineMistakes(made.join('\n')), found)
  assert.deepEqual(spineMistakes('### The spine'), ['0 files'])
  const long = Array.from({ length: 36 }, (_, at) => `${at + 1}. \`src/main.ts\`: again`)
  assert.equal(spineMistakes([made[0], ...long].join('\n'))[0], '36 files')
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
