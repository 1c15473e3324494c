// Whatever is killed, and whenever, the next start of the embedded PostgreSQL finds its way and loses nothing.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { findPackage, prepareBinaries } from '../../src/db/embedded/embedded-binaries.ts'
import { chooseHome } from '../../src/db/embedded/embedded-home.ts'
import { stopPostmaster } from '../../src/db/embedded/embedded-postmaster.ts'
import { inspectProcess } from '../../src/db/embedded/embedded-process.ts'
import {
  eventually,
  isRoot,
  nobodyUid,
  openScene,
  platform,
  postmasterPid,
  query,
  type Scene,
  startedOf,
} from '../support/embedded-scene.ts'

const asPostgres = isRoot ? { uid: nobodyUid, gid: nobodyUid } : {}

function clusterOf(scene: Scene): string {
  return join(scene.dataDirectory, 'postgres')
}

/** Runs a shell as PostgreSQL's user, whose processes PostgreSQL itself would take for a server; ends it after the test. */
function shell(t: TestContext, script: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', script], { ...asPostgres, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/** A pid file as a server that was killed leaves it. */
async function leavePidFile(scene: Scene, pid: number): Promise<void> {
  const socket = join(scene.dataDirectory, 'socket')
  const lines = [pid, clusterOf(scene), 1700000000, 5432, socket, '', '  1234567  0', 'ready   ', '']
  await writeFile(join(clusterOf(scene), 'postmaster.pid'), lines.join('\n'))
}

// They wait more than they work, so they share the time.
describe('a crash', { concurrency: 3 }, () => {
  test('after kill -9 of the service PostgreSQL works on, and the next start adopts it with everything committed', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const child = await scene.child()
    const started = startedOf(await child.go())
    const pid = await postmasterPid(clusterOf(scene))
    await query(started, 'create table kept as select generate_series(1, 1000) as number')
    // A session of its own: Ctrl-C at the terminal of the service is not for the server.
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')
    assert.equal(Number(fields?.[3]), pid)
    await child.kill()
    assert.deepEqual(await query(started, 'select count(*)::int as count from kept'), [{ count: 1000 }])

    const adopted = await scene.start()
    assert.equal(adopted.adopted, true)
    assert.equal(adopted.initialised, false)
    assert.equal(await postmasterPid(clusterOf(scene)), pid)
    assert.deepEqual(await query(adopted, 'select count(*)::int as count from kept'), [{ count: 1000 }])
    await adopted.stop()
    assert.equal((await inspectProcess(pid)).alive, false)
  })

  test('a server left with other settings is not adopted but started again', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const child = await scene.child()
    await child.go()
    const pid = await postmasterPid(clusterOf(scene))
    await child.kill()
    const restarted = await scene.start({ settings: { fsync: 'off', work_mem: '9MB' } })
    assert.equal(restarted.adopted, false)
    assert.equal((await inspectProcess(pid)).alive, false)
    assert.deepEqual(await query(restarted, 'show work_mem'), [{ work_mem: '9MB' }])
  })

  test('a pid file that names a living process of another kind is stale, and that process is left alone', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const bystander = shell(t, 'exec sleep 300')
    await leavePidFile(scene, bystander.pid ?? 0)
    const postgres = await scene.start()
    assert.equal(postgres.adopted, false)
    assert.notEqual(await postmasterPid(clusterOf(scene)), bystander.pid)
    await postgres.stop()
    assert.equal((await inspectProcess(bystander.pid ?? 0)).alive, true)
  })

  test('a pid file that names a zombie is stale at once', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    // The shell becomes a sleep, which never asks after the child it inherited; the child must outlast the shell, who would.
    const parent = shell(t, 'sleep 0.2 & echo $!; exec sleep 300')
    assert.ok(parent.stdout)
    const line = await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next()
    const zombie = Number(line.value)
    await eventually(async () => / Z /.test(await readFile(`/proc/${zombie}/stat`, 'utf8')))
    assert.equal(process.kill(zombie, 0), true, 'to a signal it looks alive')
    await leavePidFile(scene, zombie)
    const postgres = await scene.start()
    assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }])
  })

  test('an empty or torn pid file is stale', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    await writeFile(join(clusterOf(scene), 'postmaster.pid'), '')
    await (await scene.start()).stop()
    await writeFile(join(clusterOf(scene), 'postmaster.pid'), 'x\n')
    await scene.start()
  })

  test('after kill -9 of service and server, with sessions still open, the next start replays and loses nothing', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const child = await scene.child()
    const started = startedOf(await child.go())
    await query(started, 'create table kept as select generate_series(1, 1000) as number')
    const busy = query(started, 'select sum(n) from generate_series(1, 3000000) n').catch(() => undefined)
    const pid = await postmasterPid(clusterOf(scene))
    await child.kill()
    process.kill(pid, 'SIGKILL')
    const postgres = await scene.start()
    assert.equal(postgres.adopted, false)
    assert.deepEqual(await query(postgres, 'select count(*)::int as count from kept'), [{ count: 1000 }])
    await busy
  })

  test('a server that dies under the service is started again, and said so', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const postgres = await scene.start()
    await query(postgres, 'create table kept as select 5 as number')
    const pid = await postmasterPid(clusterOf(scene))
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const rows = await query(postgres, 'select number from kept').catch(() => [])
      return rows[0]?.['number'] === 5 && (await postmasterPid(clusterOf(scene))) !== pid
    })
    await eventually(async () => scene.said.some(({ message }) => message === 'PostgreSQL started again'))
    assert.ok(scene.said.some(({ level, message }) => level === 'error' && message.includes('ended unexpectedly')))
    const revived = await postmasterPid(clusterOf(scene))
    await postgres.stop()
    assert.equal((await inspectProcess(revived)).alive, false)
  })

  test('a server that answers although its pid is not to be seen, as from another container, is refused and unharmed', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const child = await scene.child()
    const started = startedOf(await child.go())
    const pid = await postmasterPid(clusterOf(scene))
    await child.kill()
    const text = await readFile(join(clusterOf(scene), 'postmaster.pid'), 'utf8')
    const past = spawn('true')
    await new Promise((resolve) => past.once('exit', resolve))
    await writeFile(join(clusterOf(scene), 'postmaster.pid'), text.replace(/^\d+/, String(past.pid)))
    await assert.rejects(scene.start(), /did not start serves .*another container/)
    assert.deepEqual(await query(started, 'select 1 as one'), [{ one: 1 }])
    await writeFile(join(clusterOf(scene), 'postmaster.pid'), text)
    assert.equal((await scene.start()).adopted, true)
    assert.equal(await postmasterPid(clusterOf(scene)), pid)
  })

  test('a start killed in the middle of initdb leaves nothing the next one trips over', async (t) => {
    const scene = await openScene(t)
    const child = await scene.child()
    void child.go().catch(() => undefined)
    const unfinished = async () =>
      (await readdir(scene.dataDirectory).catch(() => [])).find((name) => name.startsWith('postgres.new-'))
    await eventually(async () => {
      const name = await unfinished()
      return (
        name !== undefined &&
        (await stat(join(scene.dataDirectory, name, 'global')).then(
          () => true,
          () => false,
        ))
      )
    })
    await child.kill()
    await assert.rejects(stat(clusterOf(scene)), { code: 'ENOENT' })
    const postgres = await scene.start()
    assert.equal(postgres.initialised, true)
    assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }])
    await postgres.stop()
    await (await scene.start()).stop()
    assert.equal(await unfinished(), undefined)
  })

  test('a start killed between initdb and the making of the database is finished by the next one', async (t) => {
    const scene = await openScene(t)
    await scene.furnish()
    const first = await scene.start()
    await query({ connection: { ...first.connection, database: 'postgres' } }, 'drop database posthorn')
    await first.stop()
    assert.deepEqual(await query(await scene.start(), 'select current_database() as name'), [{ name: 'posthorn' }])
  })

  test('a server that ignores a fast stop is stopped at once, in bounded time', async (t) => {
    const scene = await openScene(t)
    await mkdir(clusterOf(scene), { recursive: true })
    const place = join(scene.root, 'bin')
    await mkdir(place)
    await writeFile(
      join(place, 'postgres'),
      `#!/bin/sh\ntrap '' INT\ntrap 'exit 0' QUIT\necho up\nwhile :; do sleep 0.05; done\n`,
      { mode: 0o755 },
    )
    const deaf = shell(t, `exec ${join(place, 'postgres')} -D ${clusterOf(scene)} `)
    await new Promise((resolve) => deaf.stdout?.once('data', resolve))
    await leavePidFile(scene, deaf.pid ?? 0)
    const home = await chooseHome(join(scene.root, 'none'), undefined, [])
    const binaries = await prepareBinaries(await findPackage(platform, undefined), home.identity, [
      join(scene.root, 'state'),
    ])
    const server = {
      home: { ...home, cluster: clusterOf(scene) },
      binaries,
      socketName: home.socketDirectory,
      settings: {},
    }
    await stopPostmaster(server, deaf.pid ?? 0, { fastMs: 300, immediateMs: 20_000 })
    assert.equal((await inspectProcess(deaf.pid ?? 0)).alive, false)
  })
})
