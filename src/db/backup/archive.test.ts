// A backup file that was cut short or changed, at any place: it is refused, or what it holds is as it was written.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createRandom } from '../../../test/support/random.ts'
import { createSealer } from '../../domain/operate/sealed.ts'
import type { BackupHeader, BackupSeal } from './archive.ts'
import { BackupError, readBackupHeader, unpackBackup, writeBackup } from './archive.ts'

const seed = Date.now() % 1_000_000
const random = createRandom(seed)
/** Every so many bytes are tried, from another one each time. */
const stride = 7

const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, switches: false }
const header: BackupHeader = {
  format: 1,
  createdAt: '2026-01-02T03:04:05.000Z',
  schema: '0001-foundation.sql',
  postgresMajor: 18,
  keyCheck: Buffer.alloc(16, 3).toString('base64'),
}
const contents = new Map([
  ['PG_VERSION', Buffer.from('18\n')],
  ['base/1', Buffer.alloc(700, 'rows of a table ')],
])
const sealOf = (byte: number): BackupSeal => {
  const sealer = createSealer([Buffer.alloc(32, byte)])
  return {
    seal: (text) => sealer.seal('installation', 'backup', 'manifest', text),
    open: (sealed) => {
      try {
        return sealer.open('installation', 'backup', 'manifest', sealed)
      } catch {
        throw new BackupError('The backup was changed after it was made.')
      }
    },
  }
}

let root: string
let file: string
let bytes: Buffer
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'posthorn-archive-'))
  await chmod(root, 0o700)
  file = join(root, 'backup.tar.gz')
  await writeBackup(
    file,
    async (sink) => {
      await sink.directory('base')
      for (const [path, content] of contents) {
        await sink.file(
          path,
          content.length,
          (async function* () {
            yield content
          })(),
        )
      }
    },
    { header, seal: sealOf(1), progress: () => {} },
  )
  bytes = await readFile(file)
})
after(() => rm(root, { recursive: true, force: true }))

/** What is in a file of these bytes, as a restore unpacks it. */
async function unpacked(content: Buffer, seal = sealOf(1)): Promise<Map<string, Buffer>> {
  const changed = join(root, 'changed.tar.gz')
  const cluster = join(root, 'cluster')
  await writeFile(changed, content)
  await rm(cluster, { recursive: true, force: true })
  await mkdir(cluster)
  assert.equal((await readBackupHeader(changed)).format, 1)
  await unpackBackup(changed, cluster, { identity, seal, progress: () => {} })
  const names = (await readdir(cluster, { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
  const found = new Map<string, Buffer>()
  for (const { parentPath, name } of names) {
    const path = join(parentPath, name)
    found.set(path.slice(cluster.length + 1), await readFile(path))
  }
  return found
}

const sorted = (files: ReadonlyMap<string, Buffer>) => [...files].sort(([one], [other]) => (one < other ? -1 : 1))

/** True if it was refused, in words for the operator. */
async function isRefused(content: Buffer, place: string): Promise<boolean> {
  try {
    assert.deepEqual(sorted(await unpacked(content)), sorted(contents), place)
    return false
  } catch (error) {
    assert.ok(error instanceof BackupError, `${place}: ${(error as Error).stack}`)
    return true
  }
}

test('a file is unpacked as it was packed', async () => {
  assert.deepEqual(sorted(await unpacked(bytes)), sorted(contents))
})

test('a file that ends too soon is refused, wherever it was cut', async () => {
  let accepted = 0
  for (let length = random.integer(stride); length < bytes.length; length += stride) {
    if (!(await isRefused(bytes.subarray(0, length), `cut after ${length} bytes`))) accepted += 1
  }
  // Without the end of the compression everything may have been read, and its seal.
  assert.ok(accepted <= 16, `${accepted} were accepted`)
})

test('a changed byte is refused, wherever it is, or changes nothing of what is unpacked', async (t) => {
  t.diagnostic(`seed ${seed}`)
  let accepted = 0
  for (let place = random.integer(stride); place < bytes.length; place += stride) {
    const changed = Buffer.from(bytes)
    const bit = random.integer(8)
    changed[place] = (changed[place] ?? 0) ^ (1 << bit)
    if (!(await isRefused(changed, `bit ${bit} of byte ${place}, seed ${seed}`))) accepted += 1
  }
  // Some bytes mean nothing: a time and a system where the compression begins, its own checksum behind the end.
  assert.ok(accepted < bytes.length / stride / 5, `${accepted} of ${bytes.length / stride} were accepted`)
})

test('a file that was made with another key is refused, though it is whole', async () => {
  await assert.rejects(unpacked(bytes, sealOf(2)), /was changed after it was made/)
})
