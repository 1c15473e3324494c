// Backup and restore against kill -9: of the service, of the commands, and of the service that was restored.
//
// POSTHORN_BACKUP_SEED repeats a run, POSTHORN_BACKUP_ROUNDS kills more often.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../support/embedded-scene.ts'
import { quickFolder } from '../support/quick-folder.ts'
import { createRandom } from '../support/random.ts'
import type { Service } from '../support/service.ts'
import { eventually, ServiceScene } from '../support/service.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

const seed = Number(process.env['POSTHORN_BACKUP_SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['POSTHORN_BACKUP_ROUNDS'] ?? 1)
const random = createRandom(seed)
const key = 'test-key-of-development'
const services = new ServiceScene()
/** When each transaction was acknowledged. */
const acknowledged = new Map<string, number>()

let original: string
let restored: string
let file: string
let service: Service
/** Until when the backup has everything. */
let completeTo = 0
before(async () => {
  original = await services.directory(await quickFolder())
  file = join(dirname(original), 'backup.tar.gz')
  service = await start(original)
})
after(() => services.close())

const env = (dataDirectory: string): Record<string, string> => ({
  POSTHORN_DATA_DIR: dataDirectory,
  POSTHORN_API_KEY: key,
  POSTHORN_RATE_LIMIT: 'off',
  POSTHORN_LOG_LEVEL: 'error',
})

const start = (dataDirectory: string, more: Record<string, string> = {}): Promise<Service> =>
  services.start({ ...env(dataDirectory), ...more })

const rows = (dataDirectory: string, statement: string): Promise<Record<string, unknown>[]> =>
  query(
    { connection: { host: join(dataDirectory, 'socket'), port: 5432, user: 'posthorn', database: 'posthorn' } },
    statement,
  )

async function post(on: Service, path: string, body: object): Promise<void> {
  const reply = await on.call('POST', path, key, body)
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
}

async function trigger(on: Service, name: string, transactionId: string): Promise<void> {
  await post(on, '/v1/events/trigger', { name, to: 'ada', transactionId })
  acknowledged.set(transactionId, Date.now())
}

/** Until the service is killed. */
async function load(on: Service, prefix: string): Promise<void> {
  try {
    for (let turn = 0; ; turn += 1) await trigger(on, 'mail', `${prefix}-${turn}`)
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
  }
}

async function kill(on: Service): Promise<void> {
  on.signal('SIGKILL')
  await on.ended
}

const readyOf = async (on: Service) => (await on.call('GET', '/ready', key)).body

test('a backup that is killed leaves no file of its name, and the server lets go of its log', async (t) => {
  t.diagnostic(`POSTHORN_BACKUP_SEED=${seed}`)
  await post(service, '/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  await post(service, '/v1/workflows', { name: 'Mail', active: true, steps: [inApp('Now'), email('Now')] })
  await post(service, '/v1/workflows', { name: 'Later', active: true, steps: [delay(), email('Later')] })
  for (let round = 0; round < rounds; round += 1) {
    const tenth = 1 + random.integer(9)
    const backup = services.begin(['backup', file], env(original))
    await eventually(async () => backup.output().includes(`Read ${tenth}0 %`))
    backup.kill()
    await backup.ended
    assert.equal(existsSync(file), false, `seed ${seed}, killed at ${tenth}0 %`)
    await eventually(async () => (await rows(original, 'select 1 from pg_replication_slots')).length === 0)
  }
})

test('repeated, it outlives kill -9 of the service, and has all that was acknowledged until its time', async () => {
  for (const number of [1, 2, 3]) await trigger(service, 'later', `sent-since-${number}`)
  const loads = Promise.all([load(service, 'load-a'), load(service, 'load-b')])
  await eventually(async () => acknowledged.size > 20)
  const backup = services.begin(['backup', file], env(original))
  await eventually(async () => /Read \d+ %/.test(backup.output()))
  await sleep(random.integer(100))
  await kill(service)
  await loads
  const { code, stdout, stderr } = await backup.ended
  assert.equal(code, 0, stderr)
  completeTo = Date.parse(/acknowledged until (\S+Z)/.exec(stdout)?.[1] ?? '')
  assert.ok(completeTo > Math.min(...acknowledged.values()), stdout)
})

test('a restore that is killed can be repeated, and until then nothing starts there', async () => {
  restored = await services.directory(await quickFolder())
  await mkdir(restored, { mode: 0o711 })
  await copyFile(join(original, 'encryption.key'), join(restored, 'encryption.key'))
  let isThere = false
  for (let round = 0; round < rounds && !isThere; round += 1) {
    const restore = services.begin(['restore', file], env(restored))
    const tenth = 1 + random.integer(10)
    const waitMs = random.integer(400)
    let isOver = false
    void restore.ended.then(() => {
      isOver = true
    })
    await eventually(async () => isOver || restore.output().includes(`Unpacked ${tenth}0 %`))
    await sleep(waitMs)
    restore.kill()
    await restore.ended
    const names = await readdir(restored)
    isThere = names.some((name) => name === 'postgres' || name === 'postgres.restored')
    if (isThere) continue
    const started = await services.run(['start'], { PORT: '0', ...env(restored) })
    const where = `seed ${seed}, killed ${waitMs} ms after ${tenth}0 %: ${names}`
    assert.equal(started.code, 1, where)
    assert.match(started.stderr, /A restore into .* was interrupted.*`posthorn restore` again/, where)
  }
  const again = await services.run(['restore', file], env(restored))
  if (isThere) assert.match(again.stderr, /There is a database in .* already/)
  else assert.equal(again.code, 0, again.stderr)
})

test('a restore over a database that is killed leaves one of the two, whole, and what is left of it goes with the next start', async () => {
  const restore = services.begin(['restore', '--replace', file], env(restored))
  await eventually(async () => /Unpacked 100 %/.test(restore.output()))
  const waitMs = random.integer(1_000)
  await sleep(waitMs)
  restore.kill()
  await restore.ended
  service = await start(restored)
  assert.equal((await readyOf(service)).sending, 'held', `seed ${seed}, killed after ${waitMs} ms`)
  const left = (await readdir(restored)).filter((name) => name.startsWith('restore.new-'))
  assert.deepEqual(left, [])
  const found = new Set((await rows(restored, 'select transaction_id as id from events')).map(({ id }) => id))
  const missing = [...acknowledged].filter(([id, at]) => at < completeTo && !found.has(id))
  assert.deepEqual(missing, [], `seed ${seed}`)
  for (const table of ['notifications', 'jobs', 'messages']) {
    const statement = `select 1 from ${table} x left join events e on e.id = x.event_id where e.id is null limit 1`
    assert.deepEqual(await rows(restored, statement), [], `${table} without an event`)
  }
})

test('a held service that is killed and started again stays held, and so does a second one on its database', async () => {
  const encryptionKey = (await readFile(join(restored, 'encryption.key'), 'utf8')).trim()
  const url = `postgres://posthorn@localhost/posthorn?host=${encodeURIComponent(join(restored, 'socket'))}`
  const elsewhere = await services.directory(await quickFolder())
  const second = await start(elsewhere, { DATABASE_URL: url, POSTHORN_ENCRYPTION_KEY: encryptionKey })
  await rows(
    restored,
    `update jobs set due_at = now() where due_at > now() + interval '1 hour' and event_id in
       (select id from events where transaction_id like 'sent-since-%')`,
  )
  for (let round = 0; round < rounds; round += 1) {
    await trigger(service, 'mail', `while-held-first-${round}`)
    await trigger(second, 'mail', `while-held-second-${round}`)
    await sleep(random.integer(200))
    await kill(service)
    service = await start(restored)
    for (const one of [service, second]) assert.equal((await readyOf(one)).sending, 'held', `seed ${seed}`)
  }
  // A heartbeat of each: both have looked for work more than once.
  const beats = (): Promise<Record<string, unknown>[]> =>
    rows(restored, 'select sum(beat)::int as sum from node_heartbeats')
  const before = Number((await beats())[0]?.['sum'])
  await eventually(async () => Number((await beats())[0]?.['sum']) >= before + 2)
  const touched = await rows(
    restored,
    `select j.status from jobs j join events e on e.id = j.event_id
     where (e.transaction_id like 'while-held-%' or e.transaction_id like 'sent-since-%') and j.due_at <= now() + interval '2 minutes'
       and (j.lease is not null or j.status not in ('queued', 'delayed'))`,
  )
  assert.deepEqual(touched, [], `seed ${seed}`)
  await second.stop()
})

test('a release that is killed is repeated; what it cancels is never sent, what was accepted meanwhile is sent, nothing twice', async () => {
  const release = services.begin(['release', '--cancel', '--yes'], env(restored))
  await sleep(random.integer(1_000))
  release.kill()
  await release.ended
  const again = await services.run(['release', '--cancel', '--yes'], env(restored))
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /Development is released\.|Nothing is held/)
  for (let round = 0; round < rounds; round += 1) {
    await sleep(random.integer(300))
    await kill(service)
    service = await start(restored)
  }
  const open = (): Promise<Record<string, unknown>[]> =>
    rows(restored, `select 1 from jobs where due_at is not null union all select 1 from tasks where due_at is not null`)
  await eventually(async () => (await open()).length === 0)
  const sent = await rows(
    restored,
    `select e.transaction_id as id, count(m.id)::int as messages, count(distinct m.step)::int as steps
     from events e left join messages m on m.event_id = e.id and m.status = 'sent' group by 1`,
  )
  for (const { id, messages, steps } of sent) {
    assert.equal(messages, steps, `${id} was sent twice, seed ${seed}`)
    if (String(id).startsWith('while-held-')) assert.equal(messages, 2, `${id}, seed ${seed}`)
    if (String(id).startsWith('sent-since-')) assert.equal(messages, 0, `${id}, seed ${seed}`)
  }
  assert.ok(sent.some(({ id }) => String(id).startsWith('while-held-second-')))
})

test('a backup fails, and leaves nothing, if the service is stopped in order', async () => {
  const other = join(dirname(restored), 'stopped.tar.gz')
  const backup = services.begin(['backup', other], env(restored))
  await eventually(async () => /Read 10 %/.test(backup.output()))
  await service.stop()
  const { code, stderr } = await backup.ended
  // A small database may have been read by then.
  if (code === 0) return
  assert.equal(code, 1)
  assert.doesNotMatch(stderr, /\n +at /, 'a sentence, and no stack')
  const left = (await readdir(dirname(restored))).filter((name) => name.startsWith('stopped'))
  assert.deepEqual(left, [])
})
