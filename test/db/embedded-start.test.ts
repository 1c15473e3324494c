// The embedded PostgreSQL starts, serves only its own user, stops cleanly and starts again.
import assert from 'node:assert/strict'
import { chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { chooseHome, makeHome } from '../../src/db/embedded/embedded-home.ts'
import { boundLogFile } from '../../src/db/embedded/embedded-log-file.ts'
import { EmbeddedPostgresError } from '../../src/db/embedded/embedded-postgres.ts'
import { inspectProcess } from '../../src/db/embedded/embedded-process.ts'
import {
  asUser,
  eventually,
  isRoot,
  nobodyUid,
  openScene,
  postmasterPid,
  query,
  reachablePackage,
  startedOf,
} from '../support/embedded-scene.ts'

const needsRoot = { skip: isRoot ? false : 'only root can lend PostgreSQL another user' }

/** initdb wants a user who has a name. */
const daemonUid = 1

async function ownerAndMode(path: string): Promise<[number, number]> {
  const { uid, mode } = await stat(path)
  return [uid, mode & 0o777]
}

test(
  'a first start as root runs PostgreSQL as no one, on private directories and a unix socket only',
  needsRoot,
  async (t) => {
    const scene = await openScene(t)
    const postgres = await scene.start({ settings: {} })
    assert.equal(postgres.initialised, true)
    assert.equal(postgres.adopted, false)
    assert.equal(postgres.dataDirectory, scene.dataDirectory)
    const cluster = join(scene.dataDirectory, 'postgres')
    assert.deepEqual(await ownerAndMode(cluster), [nobodyUid, 0o700])
    assert.deepEqual(await ownerAndMode(join(scene.dataDirectory, 'socket')), [nobodyUid, 0o700])
    assert.equal((await ownerAndMode(join(cluster, 'PG_VERSION')))[0], nobodyUid)
    assert.equal((await stat(`/proc/${await postmasterPid(cluster)}`)).uid, nobodyUid)

    assert.equal(postgres.connection.host, join(scene.dataDirectory, 'socket'))
    const [facts] = await query(
      postgres,
      `select current_database() as database, current_user as "user", current_setting('listen_addresses') as addresses,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('data_checksums') as checksums, current_setting('server_encoding') as encoding`,
    )
    assert.deepEqual(facts, {
      database: 'posthorn',
      user: 'posthorn',
      addresses: '',
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      encoding: 'UTF8',
    })
  },
)

test('a stop is clean, may be repeated, leaves no process, and the next start needs no recovery', async (t) => {
  const scene = await openScene(t)
  await scene.furnish()
  const cluster = join(scene.dataDirectory, 'postgres')
  const first = await scene.start()
  const pid = await postmasterPid(cluster)
  await query(first, 'create table kept as select 42 as answer')
  const endless = query(first, 'select pg_sleep(600)').catch((error: { code: string }) => error.code)
  await eventually(
    async () =>
      (await query(first, `select 1 from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()`))
        .length > 0,
  )
  await Promise.all([first.stop(), first.stop()])
  assert.equal(await endless, '57P01')
  await first.stop()
  assert.equal((await inspectProcess(pid)).alive, false)
  await assert.rejects(readFile(join(cluster, 'postmaster.pid')), { code: 'ENOENT' })

  const second = await scene.start()
  assert.equal(second.initialised, false)
  assert.equal(second.adopted, false)
  assert.deepEqual(await query(second, 'select answer from kept'), [{ answer: 42 }])
  const log = await readFile(join(cluster, 'server.log'), 'utf8')
  assert.match(log, /database system was shut down at/)
  assert.doesNotMatch(log, /not properly shut down|interrupted/)
})

test('settings given by the caller hold, but none of them opens the network', async (t) => {
  const scene = await openScene(t)
  await scene.furnish()
  const unknown = { fsync: 'off', no_such_setting: '1' }
  await assert.rejects(scene.start({ settings: unknown }), (error: Error) => {
    assert.ok(error instanceof EmbeddedPostgresError)
    assert.match(error.message, /no_such_setting/, "PostgreSQL's own words")
    return true
  })
  const settings = { fsync: 'off', work_mem: '7MB', listen_addresses: '*', port: '6000' }
  const postgres = await scene.start({ settings })
  const [facts] = await query(
    postgres,
    `select current_setting('work_mem') as memory, current_setting('listen_addresses') as addresses`,
  )
  assert.deepEqual(facts, { memory: '7MB', addresses: '' })

  // Order by code point: an ordinary index serves LIKE; and yet upper() knows more letters than ASCII.
  await query(postgres, 'create table words (word text primary key)')
  await query(postgres, `insert into words select 'word' || n from generate_series(1, 5000) n; analyze words`)
  const plan = await query(postgres, `explain select * from words where word like 'word4242%'`)
  assert.match(JSON.stringify(plan), /Index Cond/)
  assert.deepEqual(await query(postgres, `select upper('é') as letter`), [{ letter: 'É' }])
})

test('without root PostgreSQL runs as the caller, in a data directory it makes itself', async (t) => {
  const scene = await openScene(t)
  const place = join(scene.root, 'own')
  await mkdir(place)
  if (isRoot) await chown(place, nobodyUid, nobodyUid)
  const us = isRoot ? nobodyUid : (process.geteuid?.() ?? 0)
  const dataDirectory = join(place, 'project', '.posthorn')
  const packageRoot = await reachablePackage(scene)
  const child = await scene.child({
    ...(isRoot ? { becomeUid: nobodyUid } : {}),
    options: { dataDirectory, packageRoot, settings: { fsync: 'off' } },
  })
  const started = startedOf(await child.go())
  assert.equal(started.dataDirectory, dataDirectory)
  assert.deepEqual(await ownerAndMode(dataDirectory), [us, 0o700])
  assert.deepEqual(await ownerAndMode(join(dataDirectory, 'postgres')), [us, 0o700])
  assert.deepEqual(await query(started, 'select 1 as one'), [{ one: 1 }])
  await child.stop()
  await assert.rejects(stat(join(dataDirectory, 'postgres', 'postmaster.pid')), { code: 'ENOENT' })
})

test('root serves existing data as the user who owns it, and refuses to serve it as another', needsRoot, async (t) => {
  const scene = await openScene(t)
  await scene.furnish()
  const cluster = join(scene.dataDirectory, 'postgres')
  for (const name of ['', ...(await readdir(cluster, { recursive: true }))])
    await chown(join(cluster, name), daemonUid, daemonUid)
  const postgres = await scene.start()
  assert.equal((await stat(`/proc/${await postmasterPid(cluster)}`)).uid, daemonUid)
  assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }])
  await postgres.stop()
  const runAs = { uid: nobodyUid, gid: nobodyUid }
  await assert.rejects(scene.start({ runAs }), /belongs to user 1, but PostgreSQL would run as user 65534/)
  await asUser(nobodyUid, () =>
    assert.rejects(
      chooseHome(scene.dataDirectory, undefined, []),
      /belongs to user 1, but Posthorn runs as user 65534/,
    ),
  )
})

test("a caller's umask does not lock PostgreSQL out of its own data directory", needsRoot, async (t) => {
  const scene = await openScene(t)
  const home = await chooseHome(join(scene.root, 'deep', 'deeper', 'data'), undefined, [])
  const before = process.umask(0o077)
  await makeHome(home).finally(() => process.umask(before))
  for (const made of ['deep', 'deep/deeper', 'deep/deeper/data']) {
    assert.deepEqual(await ownerAndMode(join(scene.root, made)), [0, 0o711])
  }
})

test("PostgreSQL's log is cut to its end when it grows past its bound", async (t) => {
  const scene = await openScene(t)
  await writeFile(join(scene.root, 'server.log'), Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join(''))
  await boundLogFile(scene.root, 20_000, 2000)
  assert.equal((await readFile(join(scene.root, 'server.log'), 'utf8')).split('\n').length, 1001)
  await boundLogFile(scene.root, 5000, 2000)
  const kept = await readFile(join(scene.root, 'server.log'), 'utf8')
  assert.ok(kept.length <= 2000 && kept.startsWith('line ') && kept.endsWith('line 999\n'))
})
