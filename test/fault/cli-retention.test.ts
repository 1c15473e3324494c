// posthorn retention: a dry run that changes nothing, the run that does what it said, and its mistakes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import type { Host } from '../../src/cli/posthorn.ts'
import { main } from '../../src/cli/posthorn.ts'
import { sql } from '../../src/db/sql.ts'
import { firstIdAt } from '../../src/domain/derived-id.ts'
import { monthName } from '../../src/domain/operate/retention.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { ServiceScene } from '../support/service.ts'

const scene = new ServiceScene()
let database: TestDatabase
let variables: Record<string, string>
/** A year ago, and so long ago that every month after it is old as well. */
const old = new Date(Date.now() - 365 * 24 * 60 * 60_000)
before(async () => {
  database = await createTestDatabase()
  variables = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: await scene.directory() }
  await database.db.rows(sql`select make_partitions(${old}, 3)`)
})
after(async () => {
  await scene.close()
  await database.drop()
})

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const texts = { stdout: '', stderr: '' }
  const streamTo = (name: keyof typeof texts) =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk)
        done()
      },
    })
  const host: Host = { env: { ...variables, ...env }, stdout: streamTo('stdout'), stderr: streamTo('stderr') }
  await main(['retention', ...args], host)
  return { code: host.exitCode ?? 0, ...texts }
}

test('an option that is none is reported, and nothing is done', async () => {
  for (const args of [['--dryrun'], ['now'], ['--dry-run=yes']]) {
    const refused = await run(args)
    assert.equal(refused.code, 2, args.join())
    assert.match(refused.stderr, /posthorn retention accepts only --dry-run and --json/)
  }
  const wrong = await run(['--dry-run'], { POSTHORN_RETENTION_DAYS: '0' })
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /POSTHORN_RETENTION_DAYS must be a whole number from 1 to 36500.*`off` switches it off/)
})

test('without a limit everything is kept, and the command says so', async () => {
  const off = await run(['--dry-run'], { POSTHORN_RETENTION_DAYS: 'off' })
  assert.equal(off.stdout, 'POSTHORN_RETENTION_DAYS is off: everything is kept.\n')
})

test('a dry run reports partitions, rows and bytes; the run then drops just those, once', async () => {
  const [organization, environment] = [randomUUID(), randomUUID()]
  await database.db.run(sql`insert into organizations (id, name, created_at) values (${organization}, 'Own', ${old})`)
  await database.db.run(sql`
    insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
    values (${environment}, ${organization}, 'Own', 'own', '', ${old})`)
  await database.db.run(sql`
    insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
    values (${environment}, ${firstIdAt(old)}, 'old', ${organization}, ${organization}, '{}', '{}', 0, 0, ${old})`)
  const dry = await run(['--dry-run', '--json'])
  const plan = JSON.parse(dry.stdout)
  assert.equal(plan.months.length, 3)
  const [first] = plan.months
  assert.deepEqual([first.month, first.keptBy, first.rows.events], [monthName(old), null, 1])
  assert.equal(first.partitions.length, 4)
  assert.ok(first.bytes > 0)
  assert.match((await run(['--dry-run'])).stdout, new RegExp(`^${monthName(old)} would be dropped: 1 events,`, 'm'))
  const done = await run([])
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, new RegExp(`^${monthName(old)} was dropped: 4 partitions, \\d+ bytes`, 'm'))
  assert.match(done.stdout, /^Done: 3 months dropped, 0 old months kept/m)
  const again = JSON.parse((await run(['--json'])).stdout)
  assert.deepEqual([again.dropped, again.kept, again.busy], [[], [], []])
})
