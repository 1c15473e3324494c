// Backup under load, restore, and the hold after it: nothing acknowledged is missing, and nothing is sent again in silence.
import assert from 'node:assert/strict'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Running } from '../../src/main.ts'
import { BackupScene, call, well } from '../support/backup-scene.ts'
import { runCommand } from '../support/cli-scene.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/embedded-scene.ts'
import { createRandom } from '../support/random.ts'
import { email } from '../support/workflow-scene.ts'

const seed = Number(process.env['POSTHORN_BACKUP_SEED'] ?? Date.now() % 1_000_000)
const writers = 2
/** Of each writer: enough for the backup to begin and read on meanwhile, and no more of the machine. */
const turnsMax = 150

let scene: BackupScene
let original: string
let file: string
/** The restored one. */
let service: Running
/** Transactions whose acceptance was answered before the backup began. */
const acknowledged = new Set<string>()
before(async () => {
  scene = await BackupScene.open()
  original = await scene.place('original')
  file = join(scene.root, 'backup.tar.gz')
})
after(() => scene.close())

const delay = { template: { type: 'delay' }, metadata: { type: 'regular', amount: 2, unit: 'hours' } }

async function trigger(service: Running, name: string, transactionId: string, to: unknown = 'ada'): Promise<void> {
  await well(service, 'POST', '/v1/events/trigger', { name, to, transactionId, payload: { text: 'x'.repeat(500) } })
}

/** For the one delayed step: its time has come. */
const twoHoursPass = (dataDirectory: string) =>
  scene.rows(
    dataDirectory,
    `update jobs set due_at = now() where lease is null and due_at > now() + interval '1 hour' and event_id =
       (select id from events where transaction_id = 'sent-after-the-backup') returning 1`,
  )

/** Events, changed people and deleted topics, at random, until it is stopped. */
async function load(service: Running, number: number, until: AbortSignal, hasBegun: () => boolean): Promise<void> {
  const random = createRandom(seed + number)
  for (let turn = 0; turn < turnsMax && !until.aborted; turn += 1) {
    const subscriberId = `person-${random.integer(50)}`
    const transactionId = `load-${number}-${turn}`
    if (random.chance(0.1)) {
      await well(service, 'PATCH', `/v2/subscribers/${subscriberId}-0`, { firstName: `Name ${turn}` }).catch(() => {})
      continue
    }
    const people = Array.from({ length: 1 + random.integer(5) }, (_, more) => ({
      subscriberId: `${subscriberId}-${more}`,
      email: `${subscriberId}@example.com`,
    }))
    await trigger(service, 'mail', transactionId, people)
    if (!hasBegun()) acknowledged.add(transactionId)
  }
}

test('a backup under load holds every event that was acknowledged before it began', async (t) => {
  t.diagnostic(`POSTHORN_BACKUP_SEED=${seed}`)
  const service = await scene.start(original)
  const people = { email: 'ada@example.com', subscriberId: 'ada' }
  await well(service, 'POST', '/v2/subscribers', people)
  await well(service, 'POST', '/v1/workflows', { name: 'Mail', active: true, steps: [email('Now')] })
  await well(service, 'POST', '/v1/workflows', { name: 'Later', active: true, steps: [delay, email('Later')] })
  const stopping = new AbortController()
  let hasBegun = false
  const loads = Array.from({ length: writers }, (_, number) => load(service, number, stopping.signal, () => hasBegun))
  await eventually(async () => acknowledged.size > 20)
  await trigger(service, 'later', 'sent-after-the-backup')
  const waiting = () => scene.rows(original, `select 1 from jobs where due_at > now() + interval '1 hour'`)
  await eventually(async () => (await waiting()).length === 1)
  hasBegun = true
  const ran = await scene.run(original, 'backup', file)
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stderr, /Read 100 %/)
  stopping.abort()
  await Promise.all(loads)
  // What the backup has as waiting is sent after it.
  await trigger(service, 'mail', 'accepted-after-the-backup')
  await twoHoursPass(original)
  const sent = await well(service, 'GET', '/v1/outbox/wait?transactionId=sent-after-the-backup&timeout=30s')
  assert.equal(sent.data.length, 1)
  await service.stop()
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const again = await scene.run(original, 'backup', file)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /exists already/)
})

test('the encryption key must be there and fit; nothing is touched otherwise', async () => {
  const empty = await scene.place('no-key')
  const without = await scene.run(empty, 'restore', file)
  assert.equal(without.code, 1)
  assert.match(without.stderr, /does not contain the encryption key/)
  await writeFile(join(empty, 'encryption.key'), Buffer.alloc(32, 7).toString('base64'))
  const wrong = await scene.run(empty, 'restore', file)
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /not the one of this backup/)
  assert.deepEqual(await readdir(empty), ['encryption.key'])
})

test('a file that was changed, or is no backup, leaves the present database as it is', async () => {
  const bytes = await readFile(file)
  const changed = Buffer.from(bytes)
  changed[Math.floor(bytes.length * 0.6)] = (changed[Math.floor(bytes.length * 0.6)] ?? 0) ^ 0xff
  // Every other place: src/db/backup/archive.test.ts.
  const broken = { changed, text: Buffer.from('Not a backup'), empty: Buffer.alloc(0) }
  const control = join(original, 'postgres', 'global', 'pg_control')
  const before = await readFile(control)
  for (const [name, content] of Object.entries(broken)) {
    const path = join(scene.root, `${name}.tar.gz`)
    await writeFile(path, content)
    const ran = await scene.run(original, 'restore', '--replace', path)
    assert.equal(ran.code, 1, name)
    assert.match(ran.stderr, /damaged|not complete|no backup|empty/, name)
  }
  assert.deepEqual(await readFile(control), before)
  assert.deepEqual((await readdir(original)).sort(), ['encryption.key', 'postgres', 'socket'])
})

test('a database that is there is refused without --replace, and moved aside with it', async () => {
  const refused = await scene.run(original, 'restore', file)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /already, and it stays as it is.*--replace/)
  const ran = await scene.run(original, 'restore', '--replace', file)
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stdout, /previous database is in .*postgres\.replaced-/)
  assert.match(ran.stdout, /Sending is held/)
  const names = (await readdir(original)).map((name) => name.replace(/replaced-.*/, 'replaced')).sort()
  assert.deepEqual(names, ['encryption.key', 'postgres', 'postgres.replaced', 'socket'])
})

test('a restored service is whole, accepts events and sends nothing until what is due was seen and cancelled', async () => {
  // Killed between its last two renames: the next start does the second.
  await rename(join(original, 'postgres'), join(original, 'postgres.restored'))
  service = await scene.start(original)
  assert.deepEqual(service.held, ['Development', 'Production'])
  const rows = (statement: string) => scene.rows(original, statement)
  const found = new Set((await rows('select transaction_id as id from events')).map(({ id }) => id))
  assert.deepEqual(
    [...acknowledged].filter((id) => !found.has(id)),
    [],
    `seed ${seed}`,
  )
  assert.ok(!found.has('accepted-after-the-backup'))
  for (const table of ['notifications', 'jobs', 'messages']) {
    const alone = await rows(
      `select 1 from ${table} x left join events e on e.id = x.event_id where e.id is null limit 1`,
    )
    assert.deepEqual(alone, [], `${table} without an event`)
  }

  assert.equal((await twoHoursPass(original)).length, 1)
  await trigger(service, 'mail', 'accepted-while-held')
  // Two heartbeats: the worker has looked for work several times.
  await eventually(async () => Number((await rows('select max(beat) as beat from node_heartbeats'))[0]?.['beat']) >= 1)
  const jobs = await rows(`select j.status, j.lease from jobs j join events e on e.id = j.event_id
    where e.transaction_id in ('accepted-while-held', 'sent-after-the-backup') and j.due_at is not null`)
  assert.equal(jobs.length, 2)
  assert.ok(jobs.every(({ lease }) => lease === null))
  assert.equal((await call(service, 'GET', '/ready')).body.sending, 'held')

  const hold = await well(service, 'GET', '/v1/environments/me/hold')
  assert.equal(hold.held, true)
  assert.ok(hold.examples.some((one: { transactionId: string }) => one.transactionId === 'sent-after-the-backup'))
  assert.equal(hold.acceptedSince, 1)
  const listed = await scene.run(original, 'release', '--dry-run')
  assert.match(listed.stdout, /sent-after-the-backup {2}later to ada/)
  const unasked = await scene.run(original, 'release')
  assert.equal(unasked.code, 2)
  assert.match(unasked.stderr, /Nothing was released/)
  assert.equal((await well(service, 'GET', '/v1/environments/me/hold')).held, true)

  const released = await well(service, 'POST', '/v1/environments/me/hold/release', { cancel: true })
  assert.ok(released.canceledEvents >= 1)
  const sent = await well(service, 'GET', '/v1/outbox/wait?transactionId=accepted-while-held&timeout=30s')
  assert.equal(sent.data.length, 1)
  const canceled = () =>
    rows(`select j.status from jobs j join events e on e.id = j.event_id
    where e.transaction_id = 'sent-after-the-backup'`)
  await eventually(async () =>
    (await canceled()).every(({ status }) => ['canceled', 'completed'].includes(String(status))),
  )
  const again = await well(service, 'GET', '/v1/outbox?transactionId=sent-after-the-backup')
  assert.deepEqual(again.data, [])
  assert.equal((await call(service, 'POST', '/v1/environments/me/hold/release', {})).status, 409)
  const audited = await rows(`select key_name as name from audit_log where after->'sending'->>'held' = 'false'`)
  assert.equal(audited.length, 1)
  assert.equal((await call(service, 'GET', '/ready')).body.sending, 'held', 'the other environment is')
  const other = await scene.run(original, 'release', '--environment', 'Production', '--yes')
  assert.match(other.stdout, /Nothing is due that was accepted before the restore\.\nProduction is released\./)
  await eventually(async () => (await call(service, 'GET', '/ready')).body.sending === undefined)
})

test('the command that releases without cancelling lets what is due be sent, also while the service runs', async () => {
  await scene.rows(
    original,
    `insert into sending_holds (environment_id, held_at, backup_at) select id, now(), now() from environments where name = 'Development'`,
  )
  await eventually(async () => (await call(service, 'GET', '/ready')).body.sending === 'held')
  await trigger(service, 'mail', 'released-as-it-is')
  const running = await scene.run(original, 'restore', '--replace', file)
  assert.equal(running.code, 1)
  assert.match(running.stderr, /Posthorn is already running on/)
  const ran = await scene.run(original, 'release', '--yes')
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stdout, /Development is released\./)
  const sent = await well(service, 'GET', '/v1/outbox/wait?transactionId=released-as-it-is&timeout=30s')
  assert.equal(sent.data.length, 1)
  await service.stop()
})

test('everything moves to a server by one command, with the same counts, and the embedded database sends nothing more', async () => {
  const [target, foreign] = [await createTestDatabase({ empty: true }), await createTestDatabase({ empty: true })]
  try {
    await foreign.db.run(sql`create table theirs ()`)
    const refused = await scene.run(original, 'move', '--to', foreign.url)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /has tables that are not Posthorn's/)
    const ran = await scene.run(original, 'move', '--to', target.url)
    assert.equal(ran.code, 0, ran.stderr)
    assert.match(ran.stdout, /Moved \d+ rows of \d+ tables; the counts are the same\./)
    assert.match(ran.stderr, /events: \d+ rows/)
    const again = await scene.run(original, 'move', '--to', target.url)
    assert.equal(again.code, 0, again.stderr)
    assert.match(again.stdout, /was moved to that database already/)

    const elsewhere = await scene.place('elsewhere', original)
    const service = await scene.start(elsewhere, { DATABASE_URL: target.url })
    const found = new Set(
      (await target.db.rows<{ id: string }>(sql`select transaction_id as id from events`)).map(({ id }) => id),
    )
    assert.deepEqual(
      [...acknowledged].filter((id) => !found.has(id)),
      [],
    )
    assert.deepEqual(
      await target.db.rows(sql`select 1 from only events_default limit 1`),
      [],
      'in the partition of its month',
    )
    await trigger(service, 'mail', 'after-the-move')
    const sent = await well(service, 'GET', '/v1/outbox/wait?transactionId=after-the-move&timeout=30s')
    assert.equal(sent.data.length, 1)
    const seqs = await target.db.row<{ ordered: boolean }>(sql`
      select (select seq from events where transaction_id = 'after-the-move') >
        (select max(seq) from events where transaction_id <> 'after-the-move') as ordered`)
    assert.equal(seqs?.ordered, true)
    await service.stop()
  } finally {
    await target.drop()
    await foreign.drop()
  }
})

test('a file must be named, and a server is for other tools', async () => {
  const busy = await scene.run(original, 'backup')
  assert.equal(busy.code, 2)
  for (const command of [
    ['backup', join(scene.root, 'other.tar.gz')],
    ['restore', file],
  ]) {
    const ran = await runCommand(command, { env: { DATABASE_URL: 'postgres://posthorn@127.0.0.1:9/none' } })
    assert.equal(ran.code, 2)
    assert.match(ran.stderr, /The database is a server \(DATABASE_URL\): use pg_/)
  }
})
