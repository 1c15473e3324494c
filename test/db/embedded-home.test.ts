// The embedded PostgreSQL finds a home its user can enter, under a name short enough for a socket, and never loses one it had.
import assert from 'node:assert/strict'
import { chmod, chown, lchown, lstat, mkdir, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { chooseHome, shortNameOf, stateDirectories } from '../../src/db/embedded/embedded-home.ts'
import { EmbeddedPostgresError } from '../../src/db/embedded/embedded-postgres.ts'
import {
  copyOfPackage,
  eventually,
  isRoot,
  nobodyUid,
  openScene,
  postmasterPid,
  query,
  type Scene,
} from '../support/embedded-scene.ts'

const needsRoot = { skip: isRoot ? false : 'only root starts PostgreSQL as a user who cannot enter' }

/** A directory only root can enter, as /root is. */
async function closedHome(scene: Scene): Promise<string> {
  const home = join(scene.root, 'closed-home')
  await mkdir(home, { mode: 0o700 })
  return home
}

// They wait more than they work, so they share the time.
describe('a home', { concurrency: 3 }, () => {
  test(
    'below a closed home data and programs move to the state directory, said once, and are found again',
    needsRoot,
    async (t) => {
      const scene = await openScene(t)
      const home = await closedHome(scene)
      const packageRoot = await copyOfPackage(join(home, 'project', 'node_modules', 'package'))
      const dataDirectory = join(home, 'project', '.posthorn')
      const first = await scene.start({ dataDirectory, packageRoot })
      const state = join(scene.root, 'state', 'posthorn')
      assert.equal(dirname(first.dataDirectory), state)
      assert.match(basename(first.dataDirectory), /^project-[0-9a-f]{12}$/)
      assert.equal(first.initialised, true)
      const reported = scene.said.filter(({ message }) => message.includes('cannot use the directories of the project'))
      assert.deepEqual(
        reported.map(({ level }) => level),
        ['info'],
      )
      await query(first, 'create table kept as select 7 as number')
      const [programs, ...others] = await readdir(join(state, 'binaries'))
      assert.match(programs ?? '', /^\w+-\w+-18\.4\.0/)
      assert.deepEqual(others, [])
      const copiedAt = (await stat(join(state, 'binaries', programs ?? ''))).mtimeMs
      await first.stop()

      const second = await scene.start({ dataDirectory, packageRoot })
      assert.equal(second.dataDirectory, first.dataDirectory)
      assert.equal(second.initialised, false)
      assert.deepEqual(await query(second, 'select number from kept'), [{ number: 7 }])
      assert.equal((await stat(join(state, 'binaries', programs ?? ''))).mtimeMs, copiedAt)
      assert.equal((await stat(home)).mode & 0o777, 0o700, 'a directory we did not make keeps its permissions')
      await second.stop()

      // Opened later, the project must not silently begin an empty database.
      await chmod(home, 0o711)
      const third = await scene.start({ dataDirectory, packageRoot })
      assert.equal(third.dataDirectory, first.dataDirectory)
    },
  )

  test('data whose way was closed later is refused, not replaced by an empty database', needsRoot, async (t) => {
    const scene = await openScene(t)
    const place = join(scene.root, 'place')
    const dataDirectory = join(place, 'data')
    await mkdir(join(dataDirectory, 'postgres'), { recursive: true })
    await writeFile(join(dataDirectory, 'postgres', 'PG_VERSION'), '18\n')
    await chown(join(dataDirectory, 'postgres'), nobodyUid, nobodyUid)
    await chmod(place, 0o700)
    await assert.rejects(scene.start({ dataDirectory }), /cannot be reached by user 65534/)
    await assert.rejects(stat(join(scene.root, 'state')), { code: 'ENOENT' })
  })

  test(
    'two projects never share a home, and the first state directory that can be entered is taken',
    needsRoot,
    async (t) => {
      const scene = await openScene(t)
      const home = await closedHome(scene)
      const open = join(scene.root, 'open')
      const places = [join(home, 'state'), open]
      const one = await chooseHome(join(home, 'one', '.posthorn'), undefined, places)
      const two = await chooseHome(join(home, 'two', '.posthorn'), undefined, places)
      const again = await chooseHome(join(home, 'one', 'x', '..', '.posthorn'), undefined, places)
      assert.equal(dirname(one.dataDirectory), open)
      assert.equal(one.moved, true)
      assert.notEqual(one.dataDirectory, two.dataDirectory)
      assert.equal(one.dataDirectory, again.dataDirectory)
      await assert.rejects(chooseHome(join(home, 'one'), undefined, [join(home, 'state')]), EmbeddedPostgresError)
    },
  )

  test('the state directory is $XDG_STATE_HOME first, then /var/lib', () => {
    assert.deepEqual(stateDirectories(undefined), ['/var/lib/posthorn'])
    assert.deepEqual(stateDirectories('/home/me/.local/state'), ['/home/me/.local/state/posthorn', '/var/lib/posthorn'])
  })

  test('a directory that holds something else is not touched', async (t) => {
    const scene = await openScene(t)
    await mkdir(join(scene.dataDirectory, 'postgres'), { recursive: true })
    await writeFile(join(scene.dataDirectory, 'postgres', 'letter.txt'), 'dear')
    await assert.rejects(scene.start(), /is not empty and holds no PostgreSQL data/)
    assert.deepEqual(await readdir(join(scene.dataDirectory, 'postgres')), ['letter.txt'])
  })

  test('a path too long for a socket is served under a short name, which is put back when a cleaner takes it', async (t) => {
    const scene = await openScene(t)
    const dataDirectory = join(scene.root, 'a-rather-long-directory-name'.repeat(5), '.posthorn')
    await scene.furnish(dataDirectory)
    const postgres = await scene.start({ dataDirectory })
    const { host } = postgres.connection
    assert.ok(Buffer.byteLength(join(dataDirectory, 'socket', '.s.PGSQL.5432')) > 107)
    assert.ok(Buffer.byteLength(join(host, '.s.PGSQL.5432')) <= 103)
    assert.equal(await readlink(host), join(dataDirectory, 'socket'))
    assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }])
    await rm(host)
    await eventually(async () => {
      const answer = await query(postgres, 'select 2 as two').catch(() => undefined)
      return answer?.[0]?.['two'] === 2
    })
    await postgres.stop()
    await assert.rejects(lstat(host), { code: 'ENOENT' })
  })

  test('after kill -9 a server under a short name is adopted too, and held against a second start', async (t) => {
    const scene = await openScene(t)
    const options = {
      dataDirectory: join(scene.root, 'a-rather-long-directory-name'.repeat(5), '.posthorn'),
      settings: { fsync: 'off' },
    }
    await scene.furnish(options.dataDirectory)
    const child = await scene.child({ options })
    const report = await child.go()
    assert.ok('started' in report)
    await assert.rejects(scene.start(options), new RegExp(`process ${child.pid} holds it`))
    const pid = await postmasterPid(join(options.dataDirectory, 'postgres'))
    await child.kill()
    await rm(report.started.connection.host)
    const postgres = await scene.start(options)
    assert.equal(postgres.adopted, true)
    assert.equal(await postmasterPid(join(options.dataDirectory, 'postgres')), pid)
  })

  test('a short name that someone else took is not used', needsRoot, async (t) => {
    const scene = await openScene(t)
    const directory = join(scene.root, 'long'.repeat(30), 'socket')
    const honest = await shortNameOf(directory)
    t.after(() => rm(honest, { force: true }))
    await rm(honest)
    await symlink('/somewhere/else', honest)
    await lchown(honest, nobodyUid, nobodyUid)
    const other = await shortNameOf(directory)
    t.after(() => rm(other, { force: true }))
    assert.notEqual(other, honest)
    assert.equal(await readlink(other), directory)
    assert.equal(await readlink(honest), '/somewhere/else')
  })

  test('a path with a comma, which PostgreSQL would read as two, is served too', async (t) => {
    const scene = await openScene(t)
    const dataDirectory = join(scene.root, 'ham, eggs', 'data')
    await scene.furnish(dataDirectory)
    const postgres = await scene.start({ dataDirectory })
    assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }])
  })
})
