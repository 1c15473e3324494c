// The posthorn command: keys, migrate, help, and its exit codes; on a server, and beside a running service.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import type { Host } from '../../src/cli/posthorn.ts'
import { main } from '../../src/cli/posthorn.ts'
import { sql } from '../../src/db/sql.ts'
import { runCommand } from '../support/cli-scene.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { postgresPid, ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
let database: TestDatabase
let variables: Record<string, string>
before(async () => {
  database = await createTestDatabase({ empty: true })
  variables = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: await scene.directory() }
})
after(async () => {
  await scene.close()
  await database.drop()
})

/** A command in this process: what it answers, what it logs, and its exit code. */
async function run(args: readonly string[], env: Record<string, string>) {
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

const keyPattern = /^ph_[0-9A-Za-z]{43}$/

test('help, and no command at all, print the usage; an unknown command is 2', async () => {
  const [help, nothing, unknown, mistyped, real] = await Promise.all([
    run(['help'], {}),
    run([], {}),
    run(['strat'], {}),
    run(['start', '--port', '80'], {}),
    scene.run(['strat'], {}),
  ])
  assert.equal(help.code, 0)
  for (const command of ['start', 'migrate', 'keys create', 'keys list', 'keys revoke', 'reseal']) {
    assert.match(help.stdout, new RegExp(`^ {2}posthorn ${command}`, 'm'))
  }
  assert.equal(nothing.code, 0)
  assert.equal(nothing.stdout, help.stdout)
  assert.equal(unknown.code, 2)
  assert.equal(unknown.stdout, '')
  assert.match(unknown.stderr, /^Unknown command "strat"\.\n\nUsage:/m)
  assert.deepEqual(real, unknown, 'as a process of its own it says and does the same')
  assert.equal(mistyped.code, 2)
  assert.match(mistyped.stderr, /posthorn start accepts only --role api\|worker\|all/)
})

test('migrate says what it applied, and the second time that there was nothing to do', async () => {
  const first = await run(['migrate'], variables)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^Applied 0001-foundation\.sql/)
  const second = await run(['migrate'], variables)
  assert.equal(second.stdout, 'The database is up to date.\n')
})

test('a key is made, listed and revoked; the answer stands alone on stdout', async () => {
  const made = await run(['keys', 'create', '--name', 'Deploy', '--scope', 'trigger'], variables)
  assert.equal(made.code, 0, made.stderr)
  const [key = '', sentence = ''] = made.stdout.split('\n')
  assert.match(key, keyPattern)
  const id = /Id: (\S+)\./.exec(sentence)?.[1] ?? ''
  const full = await run(['keys', 'create', '--signing'], variables)
  assert.match(full.stdout.split('\n')[0] ?? '', keyPattern)
  const list = await run(['keys', 'list'], variables)
  const lines = list.stdout.trimEnd().split('\n')
  assert.equal(lines.length, 2, 'a command makes no key of its own accord')
  assert.match(lines[0] ?? '', / full,signing {2}valid /)
  assert.equal(lines[1], `${id}  …${key.slice(-4)}  trigger  valid  never used  Deploy`)
  assert.ok(!list.stdout.includes(key))
  const revoked = await run(['keys', 'revoke', id], variables)
  assert.equal(revoked.code, 0, revoked.stderr)
  const rows = await database.db.rows(sql`select from api_keys where id = ${id} and revoked_at is not null`)
  assert.equal(rows.length, 1)
  assert.equal((await run(['keys', 'list', '--environment', 'Production'], variables)).stdout, '')
})

test('keys called wrongly is 2 with what to do, and what cannot be done is 1', async () => {
  const wrong: [string[], RegExp][] = [
    [['keys'], /Usage:\n {2}posthorn keys create/],
    [['keys', 'make'], /Usage:/],
    [['keys', 'create', '--colour', 'red'], /colour/],
    [['keys', 'create', '--scope', 'everything'], /Unknown scope "everything"; the scopes are full, trigger, read/],
    [['keys', 'create', '--expires-at', 'soon'], /--expires-at must be a timestamp/],
    [['keys', 'revoke'], /needs the id of the key/],
    [
      ['keys', 'list', '--environment', 'Staging'],
      /Unknown environment "Staging"; the environments are Development, Production/,
    ],
  ]
  const ended = await Promise.all(wrong.map(([args]) => run(args, variables)))
  for (const [index, { code, stderr, stdout }] of ended.entries()) {
    assert.equal(code, 2, stderr)
    assert.match(stderr, wrong[index]?.[1] ?? /never/)
    assert.equal(stdout, '')
  }
  const unknown = await run(['keys', 'revoke', '01900000-0000-7000-8000-000000000000'], variables)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /not found/)
})

test('a local command pointed at a place without an installation refuses, and creates nothing there', async () => {
  const directory = await scene.directory()
  for (const args of [['keys', 'create'], ['reseal'], ['retention'], ['organizations', 'list']]) {
    const refused = await run(args, { POSTHORN_DATA_DIR: directory })
    assert.equal(refused.code, 1, args.join(' '))
    assert.match(refused.stderr, /contains no Posthorn installation, .*Set POSTHORN_DATA_DIR or DATABASE_URL/)
    await assert.rejects(readdir(directory), /ENOENT/)
  }
  const other = await createTestDatabase({ empty: true })
  try {
    const refused = await run(['keys', 'create'], { DATABASE_URL: other.url, POSTHORN_DATA_DIR: directory })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^The database \S+ at \S+ contains no Posthorn installation/m)
    assert.deepEqual(await other.db.rows(sql`select 1 from pg_tables where schemaname = 'public'`), [])
    await assert.rejects(readdir(directory), /ENOENT/)
  } finally {
    await other.drop()
  }
})

test('every command says what it does, with examples, and shells complete it', async () => {
  const help = await run(['help'], {})
  const names = [...new Set([...help.stdout.matchAll(/^ {2}posthorn (\S+)/gm)].map(([, name]) => name ?? ''))]
  assert.ok(names.length > 15)
  for (const name of names) {
    const { code, stdout } = await run([name, '--help'], {})
    assert.equal(code, 0, name)
    assert.match(stdout, /^[A-Z].{20,}[\s\S]*\nUsage:\n {2}posthorn [\s\S]*\nExamples:\n {2}\S/, name)
  }
  const scripts = await Promise.all(['bash', 'zsh', 'fish'].map((shell) => run(['completion', shell], {})))
  for (const { code, stdout } of scripts) {
    assert.equal(code, 0)
    for (const name of names) assert.ok(stdout.includes(name), name)
    assert.match(stdout, /dry-run/)
  }
  assert.equal((await run(['completion', 'tcsh'], {})).code, 2)
  const script = scripts[0]?.stdout ?? ''
  const completed = spawnSync(
    'bash',
    ['-c', `${script}\nCOMP_WORDS=(posthorn workflows p) COMP_CWORD=2\n_posthorn\necho "\${COMPREPLY[@]}"`],
    { encoding: 'utf8' },
  )
  assert.equal(completed.stdout, 'push pull\n', completed.stderr)
})

test('a database that stays away is 1 after the wait, with a sentence that hides the password', async () => {
  const ended = await run(['migrate'], {
    DATABASE_URL: 'postgres://someone:hushhush@127.0.0.1:9/x',
    POSTHORN_DATABASE_WAIT_MS: '300',
  })
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, /^The database x at 127\.0\.0\.1:9 did not respond within 0\.3 s .*ECONNREFUSED/m)
  assert.match(ended.stderr, /does not respond yet/)
  assert.ok(!ended.stderr.includes('hushhush'))
})

test('organizations are created and named by commands', async () => {
  const made = await run(['organizations', 'create', 'Acme'], variables)
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^ph_\S+ {2}opens Acme\/Development\nph_\S+ {2}opens Acme\/Production\n/)
  const key = await run(['keys', 'create', '--environment', 'Acme/Production', '--name', 'Orders'], variables)
  assert.equal(key.code, 0, key.stderr)
  for (const vain of [['--save'], ['--json'], ['--url', 'http://localhost:1'], ['--key', 'a-key-of-sixteen-or-more']]) {
    const refused = await run(['environments', 'create', 'Staging', '--organization', 'Acme', ...vain], variables)
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(refused.stderr, new RegExp(`does not accept ${vain[0]}`))
  }
  const added = await run(['environments', 'create', 'Staging', '--organization', 'Acme'], variables)
  assert.equal(added.code, 0, added.stderr)
  assert.match(
    (await run(['organizations', 'list'], variables)).stdout,
    / {2}Acme {2}Development, Production, Staging\n/,
  )
  assert.equal((await run(['organizations', 'create', 'A/B'], variables)).code, 2)
  assert.notEqual((await run(['organizations', 'delete', 'Acme'], variables)).code, 0)
})

test('reseal moves everything to the new key and says so; then the old key alone is refused', async () => {
  const oldKey = (await readFile(join(variables['POSTHORN_DATA_DIR'] ?? '', 'encryption.key'), 'utf8')).trim()
  const newKey = Buffer.alloc(32, 3).toString('hex')
  const without = await run(['reseal'], { ...variables, POSTHORN_ENCRYPTION_KEY: newKey })
  assert.equal(without.code, 1)
  assert.match(without.stderr, /encrypted with another key/)
  const both = { ...variables, POSTHORN_ENCRYPTION_KEY: newKey, POSTHORN_ENCRYPTION_KEY_PREVIOUS: oldKey }
  const done = await run(['reseal'], both)
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, /^Development: 3 integrations re-encrypted$/m)
  assert.match(done.stdout, /^Done: 29 values were re-encrypted/m)
  assert.equal((await run(['keys', 'list'], { ...variables, POSTHORN_ENCRYPTION_KEY: newKey })).code, 0)
  assert.equal((await run(['keys', 'list'], variables)).code, 1)
})

test('a command starts the embedded database and stops it again, and joins it when a service runs on it', async () => {
  const directory = await scene.directory()
  const settings = { POSTHORN_DATA_DIR: directory }
  assert.equal((await run(['migrate'], settings)).code, 0)
  const alone = await run(['keys', 'create'], settings)
  assert.equal(alone.code, 0, alone.stderr)
  assert.equal(await postgresPid(directory), undefined)
  const service = await scene.start(settings)
  assert.doesNotMatch(service.stdout(), /API key/, 'there is one already')
  const beside = await run(['keys', 'create'], settings)
  assert.equal(beside.code, 0, beside.stderr)
  for (const { stdout } of [alone, beside]) {
    const key = stdout.split('\n')[0] ?? ''
    assert.match(key, keyPattern)
    assert.equal((await service.call('GET', '/v1/tenants', key)).status, 200)
  }
  assert.notEqual(await postgresPid(directory), undefined, 'the command left the service its database')
  assert.equal((await service.stop()).code, 0)
})

test('an option that belongs to another action is refused before anything is done', async () => {
  for (const [args, words] of [
    [['workflows', 'pull', 'flows', '--delete'], 'workflows pull does not accept --delete'],
    [['workflows', 'new', 'flows', '--environment', 'Production'], 'workflows new does not accept --environment'],
    [['audit', 'export', '--kind', 'workflow'], 'audit export does not accept --kind'],
    [['promote', '--environment', 'Staging'], 'promote does not accept --environment'],
    [['keys', 'create', '--overlap', '1h'], 'keys create does not accept --overlap'],
    [['users', 'list', '--role', 'owner'], 'users list does not accept --role'],
    [['logout', '--all', '--url', 'http://localhost:1'], 'logout does not accept --url'],
  ] as const) {
    const ran = await runCommand(args)
    assert.deepEqual([ran.code, ran.stderr], [2, `posthorn ${words}\n`])
  }
})
