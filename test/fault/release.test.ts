// posthorn release with several organizations: a name that two of them have releases neither.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { sql } from '../../src/db/sql.ts'
import type { Ran } from '../support/cli-scene.ts'
import { runCommand } from '../support/cli-scene.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
let database: TestDatabase
let env: Record<string, string>
before(async () => {
  database = await createTestDatabase()
  env = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: await scene.directory(), POSTHORN_LOG_LEVEL: 'error' }
  for (const args of [['migrate'], ['organizations', 'create', 'Acme']]) {
    const ran = await runCommand(args, { env })
    assert.equal(ran.code, 0, ran.stderr)
  }
})
after(async () => {
  await scene.close()
  await database.drop()
})
beforeEach(async () => {
  await database.db.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select id, '2026-01-02', '2026-01-01' from environments on conflict (environment_id) do nothing`)
})

const release = (...args: readonly string[]): Promise<Ran> => runCommand(['release', '--yes', ...args], { env })

interface Held {
  readonly id: string
  readonly name: string
}

const held = (): Promise<Held[]> =>
  database.db.rows<Held>(sql`
    select e.id::text as id, o.name || '/' || e.name as name from sending_holds h
    join environments e on e.id = h.environment_id join organizations o on o.id = e.organization_id order by 2`)
const heldNames = async (): Promise<string[]> => (await held()).map(({ name }) => name)

test('a name that environments of several organizations have is refused with their whole names, and releases nothing', async () => {
  const before = await held()
  assert.equal(before.length, 4, JSON.stringify(before))
  const ran = await release('--environment', 'Production')
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /Several organizations have an environment "Production": .*Acme\/Production \(.{36}\)/)
  assert.match(ran.stderr, /--organization, or by its id\. Nothing was released\./)
  assert.deepEqual(await held(), before)
})

test('the organization, the whole name or the id names one', async () => {
  const { id } = (await held()).find(({ name }) => name === 'Acme/Production') ?? { id: '' }
  for (const which of [
    ['--environment', 'Production', '--organization', 'Acme'],
    ['--environment', 'Acme/Production'],
    ['--environment', id],
  ]) {
    const before = await heldNames()
    const ran = await release(...which)
    assert.equal(ran.code, 0, ran.stderr)
    assert.match(ran.stdout, /Acme\/Production is released\./)
    assert.deepEqual(
      await heldNames(),
      before.filter((name) => name !== 'Acme/Production'),
    )
    await database.db.run(
      sql`insert into sending_holds (environment_id, held_at, backup_at) select ${id}, '2026-01-02', '2026-01-01'`,
    )
  }
})

test('an organization alone releases all of its environments and no others', async () => {
  assert.equal((await release('--organization', 'Acme')).code, 0)
  const left = await heldNames()
  assert.equal(left.length, 2)
  assert.ok(left.every((name) => !name.startsWith('Acme/')))
  for (const args of [
    ['--organization', 'Acme'],
    ['--organization', 'Nowhere'],
    ['--environment', 'Nowhere'],
  ]) {
    const ran = await release(...args)
    assert.equal(ran.code, 2)
    assert.match(ran.stderr, /Sending is not held in /)
  }
})

test('without a name all are released', async () => {
  const ran = await release()
  assert.equal(ran.code, 0, ran.stderr)
  assert.deepEqual(await held(), [])
})

test('what a move holds is shown as that', async () => {
  await database.db.run(sql`update sending_holds set moved_at = held_at`)
  const ran = await release('--dry-run', '--organization', 'Acme')
  assert.match(ran.stdout, /by `posthorn move`\. Release it only if that move did not succeed/)
})

test('later steps that --cancel takes along are shown apart from those that stay', async () => {
  const { id } = (await held()).find(({ name }) => name === 'Acme/Production') ?? { id: '' }
  const [both, waiting] = [randomUUID(), randomUUID()]
  for (const event of [both, waiting]) {
    await database.db.run(sql`
      insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
      values (${id}, ${event}, ${event}, ${event}, ${event}, '{}', '{}', 0, 0, '2025-12-31')`)
  }
  for (const [event, dueAt] of [
    [both, '2026-01-01'],
    [both, '2999-01-01'],
    [waiting, '2999-01-01'],
    [waiting, '2999-01-02'],
  ] as const) {
    const job = randomUUID()
    await database.db.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                        claims, details, created_at, updated_at)
      values (${id}, ${job}, ${job}, ${event}, ${job}, ${job}, 0, 'delayed', 0, ${dueAt}, 0, '[]', '2025-12-31', now())`)
  }
  const { stdout } = await release('--dry-run', '--environment', 'Acme/Production')
  assert.match(
    stdout,
    /^ {2}1 steps that wait for a later time, of events that have something due; `--cancel` cancels/m,
  )
  assert.match(stdout, /^ {2}2 other steps that wait for a later time; they run then, released or cancelled$/m)
})

test('what goes wrong is said also where the installation is replaced while a command runs', async () => {
  const flag = join(await scene.directory(), '..', 'replaced')
  const refuseNew = `import { existsSync } from 'node:fs'
    export const resolve = (name, context, next) => {
      if (existsSync(${JSON.stringify(flag)}) && name.startsWith('.')) throw new Error('It was replaced')
      return next(name, context)
    }`
  // The settings are read when the command is loaded and about to begin.
  const script = `
    import { register } from 'node:module'
    import { writeFileSync } from 'node:fs'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(refuseNew)}))
    const { main } = await import(${JSON.stringify(pathToFileURL(resolve('dist/cli/posthorn.js')).href)})
    const host = { stdout: process.stdout, stderr: process.stderr, stdin: process.stdin, on: () => {}, off: () => {}, get env() {
      writeFileSync(${JSON.stringify(flag)}, '')
      return { PORT: 'none' }
    } }
    await main(['release', '--yes'], host)
    process.exit(host.exitCode)`
  const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]).catch(
    (error: { code: number; stderr: string }) => error,
  )
  assert.match(ran.stderr, /PORT/)
  assert.doesNotMatch(ran.stderr, /It was replaced/)
  assert.equal('code' in ran ? ran.code : 0, 1)
})
