// Which tests a change can affect: those that import a changed file, through any number of files, or name it.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { SetupProblem } from './child.mjs'
import { filesBelow } from './ensure.mjs'

/** They read the whole project, or are as quick as looking whether they have to run. */
const alwaysRun = ['test/tidy/']
/** Where programs lie. */
const codeFolders = ['src', 'test', 'bench', 'soak', 'scripts']
/** What decides how everything is compiled and run: no graph says what a change of it affects. */
const affectsAll = [/^package(?:-lock)?\.json$/, /^tsconfig[^/]*\.json$/, /^scripts\/(?:test|ensure|child)[^/]*\.mjs$/]
/** Read at run time, so no import names them: what reads them stands for them. */
const readBy = [
  [/^src\/db\/migrations\//, 'src/db/migrate.ts'],
  // The built service is one file, made of all that this one imports.
  [/^src\/cli\/posthorn\.ts$/, 'scripts/posthorn.mjs'],
  [/^scripts\/posthorn\.mjs$/, 'soak/main.ts'],
]
const isCode = (path) => /\.(?:[cm]?ts|[cm]?js)$/.test(path)
const isTest = (path) => path.endsWith('.test.ts')

/** The test files that a change of `changed` can affect. `texts`: the text of every file with code, by its path. */
export function affectedTests(texts, changed) {
  const tests = [...texts.keys()].filter(isTest).sort()
  if (changed.some((path) => affectsAll.some((pattern) => pattern.test(path)))) return tests
  const users = usersOf(texts)
  const reached = new Set()
  const waiting = changed.flatMap((path) => [path, ...neighboursOf(path, tests)])
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    waiting.push(...(users.get(path) ?? []))
    for (const [pattern, reader] of readBy) if (pattern.test(path)) waiting.push(reader)
  }
  return tests.filter((path) => reached.has(path) || alwaysRun.some((folder) => path.startsWith(folder)))
}

/** The tests beside a file without code, such as a golden file; those of the documents for a document. */
function neighboursOf(path, tests) {
  if (isCode(path) || path.startsWith('src/')) return []
  const [top, room] = path.split('/')
  const folder = top === 'test' ? `test/${room}/` : 'test/docs/'
  return tests.filter((one) => one.startsWith(folder))
}

/** Who imports a file, or names it by its path from the root. */
function usersOf(texts) {
  const users = new Map()
  for (const [path, text] of texts) {
    for (const used of usedBy(path, text)) {
      if (!users.has(used)) users.set(used, [])
      users.get(used).push(path)
    }
  }
  return users
}

function usedBy(path, text) {
  return [...text.matchAll(/(['"`])((?:\.{1,2}\/|src\/|test\/|bench\/|soak\/|scripts\/|docs\/)[^'"`\s]*)\1/g)].map(
    ([, , name]) => (name.startsWith('.') ? posix.normalize(posix.join(dirname(path), name)) : name),
  )
}

/** The texts of all code below a project's root. */
export function readCode(root) {
  const paths = codeFolders.flatMap((folder) =>
    existsSync(join(root, folder)) ? filesBelow(join(root, folder)).map((path) => `${folder}/${path}`) : [],
  )
  return new Map(paths.filter(isCode).map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** What is not as it was where this branch left main, committed or not, with new and removed files. */
export function changedFiles(root) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const base = git('rev-parse', '--verify', '--quiet', hasMain(git) ? 'main' : 'HEAD').trim()
    const left = git('merge-base', 'HEAD', base).trim()
    const lists = [
      git('diff', '--name-only', '--no-renames', '-z', left),
      git('ls-files', '--others', '--exclude-standard', '-z'),
    ]
    return [...new Set(lists.flatMap((list) => list.split('\0')).filter((path) => path !== ''))].sort()
  } catch (error) {
    throw new SetupProblem(`--changed asks git what has changed, and git failed: ${error.stderr || error.message}`)
  }
}

function hasMain(git) {
  try {
    git('rev-parse', '--verify', '--quiet', 'main')
    return true
  } catch {
    return false
  }
}
