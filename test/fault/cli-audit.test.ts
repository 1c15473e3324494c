// posthorn audit: the log on a terminal and as JSON, the check of its chain, and what commands write to it.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { CliScene } from '../support/cli-scene.ts'

let scene: CliScene
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-audit-'))
  scene = await CliScene.start(join(folder, 'data'))
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => scene.run(args)

test('the log begins with what the start applied', async () => {
  const entry = JSON.parse((await run('audit', 'list', '--json')).stdout)
  assert.deepEqual([entry.seq, entry.keyId, entry.resourceKind], [1, 'start', 'api-key'])
  assert.equal((await run('audit', 'list', '--kind', 'workflow')).stdout, 'No matching entries.\n')
})

test('what a command changes is written under its key', async () => {
  const own = await scene.call('POST', '/v1/feeds', { name: 'Orders' })
  const lines = (await run('audit', 'list')).stdout.trim().split('\n')
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', /^2 {2}\S+ {2}create feed orders {2}by .+ \(.+, .+\)$/)
  assert.equal((await run('audit', 'list', '--action', 'create', '--resource', own._id)).stdout.trim(), lines[0])
  const production = await run('audit', 'list', '--environment', 'Production', '--kind', 'feed')
  assert.equal(production.stdout, 'No matching entries.\n')
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
      [2, 'create'],
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
  const pinned = await run('audit', 'verify', '--pin', pin)
  assert.match(pinned.stdout, /The pinned entry 2 is among them, unchanged/)
  const another = await run('audit', 'verify', '--pin', `2:${'0'.repeat(64)}`)
  assert.equal(another.code, 1)
  assert.match(another.stderr, /broken at entry 2: it is not the pinned entry/)
  await scene.database.db.run(sql`alter table audit_log disable trigger all`)
  await scene.database.db.run(sql`update audit_log set key_name = 'another' where seq = 1`)
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
  const notOne = await run('audit', 'verify', '--pin', 'x')
  assert.equal(notOne.code, 1)
  assert.match(notOne.stderr, /pin must be the number and the hash of an entry, as `seq:hash`/)
})

test('what is promoted and pushed is written to the log of the environment it comes to', async () => {
  const flows = join(folder, 'flows')
  assert.equal((await run('workflows', 'new', flows, '--name', 'Sent')).code, 0)
  assert.equal((await run('workflows', 'push', flows, '--yes')).code, 0)
  const promoted = await run('promote', '--yes')
  assert.equal(promoted.code, 0, promoted.stderr)
  for (const environment of ['Development', 'Production']) {
    const { stdout } = await run('audit', 'list', '--environment', environment, '--kind', 'workflow', '--json')
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      entries.map(({ action, resourceName }) => [action, resourceName]),
      [['create', 'sent']],
    )
    assert.match(entries[0].keyName, /POSTHORN_API_KEY/)
  }
})
