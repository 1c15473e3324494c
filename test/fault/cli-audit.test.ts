// posthorn audit: the log on a terminal and as JSON, the check of its chain, and what commands write to it.
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import type { Host } from '../../src/cli/posthorn.ts'
import { main } from '../../src/cli/posthorn.ts'
import { sql } from '../../src/db/sql.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
let database: TestDatabase
let env: Record<string, string>
before(async () => {
  database = await createTestDatabase({ empty: true })
  env = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: await scene.directory() }
})
after(async () => {
  await scene.close()
  await database.drop()
})

async function run(...args: string[]) {
  const texts = { stdout: '', stderr: '' }
  const streamTo = (name: keyof typeof texts) =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk)
        done()
      },
    })
  const host: Host = { env, stdout: streamTo('stdout'), stderr: streamTo('stderr') }
  await main(args, host)
  return { code: host.exitCode ?? 0, ...texts }
}

test('a log that is empty is whole', async () => {
  assert.equal((await run('audit', 'verify')).stdout, 'The audit log is empty.\n')
  assert.equal((await run('audit', 'list')).stdout, 'No matching entries.\n')
})

test('what a command changes is written under the user and the machine', async () => {
  await run('keys', 'create', '--name', 'Shop', '--scope', 'trigger')
  const { stdout } = await run('audit', 'list', '--json')
  const entry = JSON.parse(stdout)
  assert.equal(entry.keyId, 'cli')
  assert.ok(entry.keyName.length > 0)
  assert.equal(entry.address, hostname())
  assert.equal(entry.requestId, null)
  assert.deepEqual([entry.action, entry.resourceKind, entry.resourceName], ['create', 'api-key', 'Shop'])
  await run('keys', 'revoke', entry.resourceId)
  const lines = (await run('audit', 'list')).stdout.trim().split('\n')
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', /^2 {2}\S+ {2}revoke api-key Shop {2}by .+ \(cli, .+\)$/)
  assert.equal((await run('audit', 'list', '--action', 'revoke')).stdout.trim(), lines[0])
  assert.equal((await run('audit', 'list', '--environment', 'Production')).stdout, 'No matching entries.\n')
})

test('an export is one entry per line, in the order of the chain, and continues after a given entry', async () => {
  const whole = await run('audit', 'export')
  const entries = whole.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ seq, action }) => [seq, action]),
    [
      [1, 'create'],
      [2, 'revoke'],
    ],
  )
  assert.ok(entries.every(({ environmentId, hash }) => environmentId !== undefined && hash !== undefined))
  const rest = await run('audit', 'export', '--after', '1')
  assert.equal(rest.stdout, `${JSON.stringify(entries[1])}\n`)
  assert.equal((await run('audit', 'export', '--after', 'x')).code, 2)
})

test('a check reports the head, and fails where the log was changed', async () => {
  const { stdout, code } = await run('audit', 'verify')
  assert.equal(code, 0)
  const [pin = ''] = /2:[0-9a-f]{64}/.exec(stdout) ?? []
  assert.equal(stdout, `All 2 entries are valid. The head to pin is ${pin}\n`)
  assert.equal((await run('audit', 'verify', '--pin', pin)).code, 0)
  await database.db.run(sql`alter table audit_log disable trigger all`)
  await database.db.run(sql`update audit_log set key_name = 'another' where seq = 1`)
  const broken = await run('audit', 'verify')
  assert.equal(broken.code, 1)
  assert.equal(broken.stderr, 'The audit log of Development is broken at entry 1: it was changed\n')
  const json = await run('audit', 'verify', '--json')
  assert.equal(json.code, 1)
  assert.deepEqual(JSON.parse(json.stdout).broken, { seq: 1, reason: 'hash' })
})

test('a wrong call is reported', async () => {
  for (const args of [
    [],
    ['show'],
    ['list', 'more'],
    ['list', '--limit', '0'],
    ['list', '--kind', 'x'],
    ['list', '--x'],
  ]) {
    assert.equal((await run('audit', ...args)).code, 2, args.join(' '))
  }
  assert.equal((await run('audit', 'verify', '--pin', 'x')).code, 1)
})

test('what is promoted and pushed is written to the log of the environment it comes to', async () => {
  const folder = await scene.directory()
  assert.equal((await run('workflows', 'new', folder, '--name', 'Told')).code, 0)
  assert.equal((await run('workflows', 'push', folder, '--yes')).code, 0)
  assert.equal((await run('promote', '--yes')).code, 0)
  const of = async (environment: string) => {
    const { stdout } = await run('audit', 'list', '--environment', environment, '--kind', 'workflow', '--json')
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  for (const environment of ['Development', 'Production']) {
    const entries = await of(environment)
    assert.deepEqual(
      entries.map(({ action, keyId, resourceName }) => [action, keyId, resourceName]),
      [['create', 'cli', 'told']],
    )
  }
})
