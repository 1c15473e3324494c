// The npm package: what is in it, and that a folder with nothing else starts it, sends a message and reads it with the client.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'
import { compilePrograms, run, startInstalled } from './installed.ts'

/** The largest is the bundle of the service; a source map of it would be twice that. */
const fileBytesMax = 5_000_000
const packageBytesMax = 4_000_000
const startMsMax = 15_000
/** What npm says when there is neither a registry nor a copy in its cache. */
const unreachable = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E40[13]|E50\d/

let folder = ''
let archive = ''
before(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'posthorn-package-')))
  // As root PostgreSQL runs as another user, who must be able to enter.
  chmodSync(folder, 0o711)
  const { code, output } = await run('npm', ['pack', '--pack-destination', folder], projectRoot)
  assert.equal(code, 0, output)
  archive = join(folder, output.trim().split('\n').at(-1) ?? '')
})
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))

test('the package holds what a start needs, and nothing of how it is made', async () => {
  const { output } = await run('tar', ['-tvzf', archive], folder)
  const files = new Map(
    output
      .trim()
      .split('\n')
      .map((line) => {
        const columns = line.split(/\s+/)
        return [(columns.at(-1) ?? '').replace(/^package\//, ''), Number(columns[2])]
      }),
  )
  const paths = [...files.keys()]
  for (const path of [
    ...['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'scripts/posthorn.mjs', 'scripts/launch.mjs'],
    ...['dist/cli/posthorn.js', 'dist/render/render-thread.js', 'dist/inbox/client.js', 'dist/inbox/inbox.js'],
    ...['dist/db/migrations/0001-foundation.sql', 'dashboard/dist/index.html'],
    ...['lib/client/index.js', 'lib/client/index.d.ts', 'lib/client/generated/api.d.ts', 'lib/inbox/client/index.d.ts'],
  ]) {
    assert.ok(files.has(path), `${path} is missing`)
  }
  const wrong =
    /\.test\.|^(?:src|test|bench|soak|fuzz|docs|client|inbox)\/|(?<!\.d)\.tsx?$|\.map$|\/\.|^\.|node_modules|\.env|\.key$/
  assert.deepEqual(
    paths.filter((path) => wrong.test(path)),
    [],
  )
  assert.deepEqual(
    paths.filter((path) => (files.get(path) ?? 0) > fileBytesMax),
    [],
  )
  assert.ok(statSync(archive).size < packageBytesMax, `${statSync(archive).size} bytes`)
})

test('in an empty folder it installs, starts, sends a message that the typed client reads, and stops', async (t) => {
  const home = join(folder, 'home')
  mkdirSync(home, { mode: 0o711 })
  const install = ['install', archive, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=warn']
  const installed = await run('npm', install, home)
  if (installed.code !== 0 && unreachable.test(installed.output)) {
    return t.skip(`NOT TESTED: npm could not fetch the dependencies of the package.\n${installed.output}`)
  }
  assert.equal(installed.code, 0, installed.output)
  assert.doesNotMatch(installed.output, /EBADENGINE|deprecated/)
  const tools = JSON.parse(readProjectFile('package.json')).devDependencies
  const present = new Set(readdirSync(join(home, 'node_modules')))
  assert.deepEqual(
    ['@biomejs', 'esbuild', 'oidc-provider', 'tsx', 'typescript'].filter((name) => name in tools && present.has(name)),
    [],
  )
  // Together with the start: neither waits for the other.
  const [compiled, service] = await Promise.all([compilePrograms(home), startInstalled(home)])
  try {
    assert.equal(compiled.code, 0, compiled.output)
    assert.ok(service.workMs < startMsMax, `the start took ${service.workMs} ms of the processor`)
    const sent = await run(process.execPath, ['first.mjs', service.url, service.key], home)
    assert.equal(sent.code, 0, sent.output)
    assert.match(sent.output, /Order 7 is on its way/)
    const page = await fetch(`${service.url}/`, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /<div id=/)
  } finally {
    assert.equal(await service.stop(), 0)
  }
})
