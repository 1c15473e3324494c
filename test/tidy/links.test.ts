// The links of the documents lead somewhere.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { linkBreaches } from './rules/links.ts'
import { readProjectFile, reported, sample } from './rules/sources.ts'

/** What git keeps or would keep: a file that only lies on this machine is no place to link to. */
function projectFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
  })
  return [...new Set(listed.toString().split('\0'))].filter(
    (path) => path !== '' && existsSync(join(projectRoot, path)),
  )
}

test('every relative link of a document leads to a file of the project', (t) => {
  if (!existsSync(join(projectRoot, '.git'))) return t.skip('not a git checkout')
  const paths = projectFiles()
  const documents = paths.filter((path) => path.endsWith('.md'))
  for (const path of ['README.md', 'ARCHITECTURE.md', 'docs/configuration.md'])
    assert.ok(documents.includes(path), path)
  assert.deepEqual(reported(linkBreaches(new Map(documents.map((path) => [path, readProjectFile(path)])), paths)), [])
})

const paths = ['README.md', 'LICENSE', 'docs/operating.md', 'docs/a b.md', 'docs/decisions/0001-one.md', 'src/main.ts']
const judge = (file: string, text: string): string[] => reported(linkBreaches(sample({ [file]: text }), paths))

const refused: Readonly<Record<string, [file: string, text: string, what: string]>> = {
  'a file that is missing': ['README.md', '[a](docs/gone.md)', 'links to docs/gone.md, and there is no docs/gone.md'],
  'a path from the root in a sub-folder': [
    'docs/operating.md',
    '[a](docs/operating.md)',
    'links to docs/operating.md, and there is no docs/docs/operating.md',
  ],
  'an image': ['README.md', '![a](a.png "Title")', 'links to a.png, and there is no a.png'],
  'a reference': ['README.md', 'See [a].\n\n[a]: docs/gone.md', 'links to docs/gone.md, and there is no docs/gone.md'],
  'a missing file with an anchor': ['README.md', '[a](gone.md#b)', 'links to gone.md#b, and there is no gone.md'],
  'a folder that is missing': ['README.md', '[a](images/)', 'links to images/, and there is no images'],
  'a place outside the project': ['README.md', '[a](../b.md)', 'links to ../b.md, and there is no ../b.md'],
  'a path of some host': ['README.md', '[a](/docs)', 'links to /docs, which only means something on one host'],
  'another case of the name': ['README.md', '[a](license)', 'links to license, and there is no license'],
}
for (const [name, [file, text, what]] of Object.entries(refused)) {
  test(`the rule refuses ${name}`, () => {
    assert.deepEqual(judge(file, text), [`${file}:${text.split('\n').length} ${what}`])
  })
}

const allowed: Readonly<Record<string, [file: string, text: string]>> = {
  'a file beside it, and one above': ['docs/operating.md', '[a](a%20b.md) [b](../LICENSE) [c](<a b.md>)'],
  'a folder, with and without its slash': ['README.md', '[a](docs/decisions) [b](docs/decisions/)'],
  'an anchor, here and elsewhere': ['README.md', '[a](#status) [b](docs/operating.md#backup)'],
  'other sites': ['README.md', '[a](https://example.com/x) [b](mailto:a@example.com) <http://localhost:3000>'],
  'what is only code': [
    'README.md',
    '`[a](gone.md)`\n\n```sh\n[a](gone.md)\n```\n\n   ```ts\n   [a](gone.md)\n   ```\n',
  ],
  'what is only a comment': ['README.md', '<!-- [a](gone.md) -->'],
}
for (const [name, [file, text]] of Object.entries(allowed)) {
  test(`the rule allows ${name}`, () => {
    assert.deepEqual(judge(file, text), [])
  })
}

test('a link after a block of code is seen, on its own line', () => {
  assert.deepEqual(judge('README.md', '```\nx\n```\n`y` [a](gone.md)'), [
    'README.md:4 links to gone.md, and there is no gone.md',
  ])
})
