// A command is loaded without the others, and only one loads the service: by what their files import before anything runs.
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'
import type { Sources } from './rules/sources.ts'
import { readSources, sample } from './rules/sources.ts'

/** What a file imports at once: neither types nor what is loaded when it is needed. */
const importedAtOnce = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)(?! type)(?: [^'"]*? from)? '(\.[^']+)'/gm)].map((match) => match[1] ?? '')

/** The file and everything that is loaded with it. */
function loadedWith(sources: Sources, file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const path of importedAtOnce(sources.get(file) ?? ''))
    loadedWith(sources, posix.join(posix.dirname(file), path), seen)
  return seen
}

const all = 'src/cli/commands.ts'
const service = 'src/main.ts'

test('no command loads the others or the service with it', () => {
  const sources = readSources(['src'], ['.ts'])
  const files = [...(sources.get('src/cli/loaded-alone.ts') ?? '').matchAll(/import\('\.(\/[^']+)'\)/g)]
  assert.ok(files.length > 20)
  for (const [, path] of files) {
    const loaded = loadedWith(sources, `src/cli${path}`)
    assert.ok(loaded.size > 2, `${path} imports something`)
    assert.deepEqual(
      [all, service].filter((file) => loaded.has(file)),
      [],
      path,
    )
  }
})

test('an import through another file is found; a type, and what is loaded when it is needed, is not', () => {
  const through = (text: string) =>
    loadedWith(
      sample({ 'src/cli/a.ts': "import { b } from './b.ts'", 'src/cli/b.ts': text, [service]: '' }),
      'src/cli/a.ts',
    )
  assert.ok(through("import {\n  start,\n} from '../main.ts'").has(service))
  assert.ok(through("export { start } from '../main.ts'").has(service))
  assert.ok(through("import '../main.ts'").has(service))
  assert.equal(through("import type { Start } from '../main.ts'").has(service), false)
  assert.equal(through("const load = () => import('../main.ts')").has(service), false)
})
