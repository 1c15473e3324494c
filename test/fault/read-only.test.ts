// A start on a data directory that cannot be written ends with a sentence and exit code 1, not with a stack.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { projectRoot } from '../support/project-root.ts'
import type { Ended } from '../support/service.ts'
import { ServiceScene } from '../support/service.ts'

/** Mounts in a namespace of their own end with it. */
const canMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
const skip = canMount
  ? false
  : 'only root on Linux can mount a read-only directory (with unshare of the package util-linux)'

const scene = new ServiceScene()
after(() => scene.close())

/** Starts the service after `mounts`, a line of shell in which $1 is the directory. */
function startOn(directory: string, mounts: string, variables: Record<string, string>): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env
  const command = `${mounts} && exec "$2" scripts/posthorn.mjs start`
  const child = spawn('unshare', ['--mount', 'sh', '-ec', command, 'sh', directory, process.execPath], {
    cwd: projectRoot,
    env: { PATH, HOME, PORT: '0', POSTHORN_DASHBOARD: 'off', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }))
  })
}

function assertSentence({ code, stderr }: Ended, expected: RegExp): void {
  assert.equal(code, 1, stderr)
  assert.match(stderr, expected)
  assert.doesNotMatch(stderr, /\n +at /, 'no stack')
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
}

/** The folder that scene.directory() lies in. */
const parentOf = (directory: string): string => directory.slice(0, directory.lastIndexOf('/'))
const readOnly = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'

test('a data directory that would have to be made on a read-only disk', { skip }, async () => {
  const directory = await scene.directory()
  const ended = await startOn(parentOf(directory), readOnly, { POSTHORN_DATA_DIR: directory })
  assertSentence(ended, /^The data directory .*\/data cannot be used: its file system is read-only .*POSTHORN_DATA_DIR/)
})

test('a database that was made before and lies on a read-only disk now', { skip }, async () => {
  const directory = await scene.directory()
  const service = await scene.start({ POSTHORN_DATA_DIR: directory })
  assert.equal((await service.stop()).code, 0)
  const ended = await startOn(parentOf(directory), readOnly, { POSTHORN_DATA_DIR: directory })
  assertSentence(ended, /^The data directory .*\/data cannot be used: its file system is read-only .*DATABASE_URL/)
  const again = await scene.start({ POSTHORN_DATA_DIR: directory })
  assert.equal((await again.stop()).code, 0, 'it is unharmed')
})

test('a key that cannot be kept beside a database on a server', { skip }, async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const directory = await scene.directory()
  const variables = { POSTHORN_DATA_DIR: directory, DATABASE_URL: database.url }
  const ended = await startOn(parentOf(directory), readOnly, variables)
  assertSentence(
    ended,
    /^The encryption key file .* cannot be created: its file system is read-only .*POSTHORN_ENCRYPTION_KEY/,
  )
})

test('a disk that is full', { skip }, async () => {
  const directory = await scene.directory()
  const full =
    'mount -t tmpfs -o size=64k,mode=711 tmpfs "$1" && (head -c 60000 /dev/zero > "$1/full") && mkdir "$1/data"'
  const mounts = `${full} && (cat /dev/zero > "$1/rest" 2> /dev/null || true)`
  const ended = await startOn(parentOf(directory), mounts, { POSTHORN_DATA_DIR: directory })
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, /disk is full|No space left on device/)
  assert.doesNotMatch(ended.stderr, /\n +at /, 'no stack')
})
