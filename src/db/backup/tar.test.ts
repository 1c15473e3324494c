// Archives are read as they were written, by us and by tar itself.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { TarEntry } from './tar.ts'
import { paddingAfter, readTar, TarError, tarEnd, tarHeader } from './tar.ts'

const modifiedAt = new Date('2026-01-02T03:04:05Z')
const file = (path: string, size: number): TarEntry => ({ path, kind: 'file', size, mode: 0o600, modifiedAt })
const directory = (path: string): TarEntry => ({ path, kind: 'directory', size: 0, mode: 0o700, modifiedAt })

const longPath = `${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(80)}`
const contents = new Map([
  ['base/1/empty', Buffer.alloc(0)],
  ['base/1/one', Buffer.from('x')],
  ['base/1/block', randomBytes(512)],
  ['base/1/more', randomBytes(8192 + 7)],
  [longPath, Buffer.from('long')],
])

function archive(): Buffer {
  const parts = [tarHeader(directory('base')), tarHeader(directory('base/1'))]
  for (const [path, content] of contents)
    parts.push(tarHeader(file(path, content.length)), content, paddingAfter(content.length))
  return Buffer.concat([...parts, tarEnd()])
}

async function read(bytes: Buffer, chunkBytes: number): Promise<Map<string, Buffer>> {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  const found = new Map<string, Buffer>()
  for await (const entry of readTar(Readable.from(chunks))) {
    if (entry.kind === 'directory') continue
    const parts: Buffer[] = []
    for await (const part of entry.content()) parts.push(part)
    found.set(entry.path, Buffer.concat(parts))
    assert.equal(entry.mode, 0o600)
    assert.deepEqual(entry.modifiedAt, modifiedAt)
  }
  return found
}

test('what was written is read, however the bytes arrive', async () => {
  for (const chunkBytes of [1, 100, 512, 1000, 1_000_000]) {
    assert.deepEqual(await read(archive(), chunkBytes), contents, `in chunks of ${chunkBytes}`)
  }
})

test('tar lists and extracts it', () => {
  const listed = execFileSync('tar', ['-tf', '-'], { input: archive() }).toString().trim().split('\n')
  assert.deepEqual(listed, ['base/', 'base/1/', ...contents.keys()])
  const one = execFileSync('tar', ['-xOf', '-', 'base/1/more'], { input: archive() })
  assert.deepEqual(one, contents.get('base/1/more'))
})

test('content that is not read is skipped', async () => {
  const paths: string[] = []
  for await (const { path } of readTar(Readable.from([archive()]))) paths.push(path)
  assert.deepEqual(paths, ['base', 'base/1', ...contents.keys()])
})

test('an archive that ends too soon is refused, wherever it ends', async () => {
  const whole = archive()
  for (const length of [0, 100, 512, 1024, 1600, whole.length - 1024]) {
    await assert.rejects(read(whole.subarray(0, length), 512), TarError, `${length} bytes`)
  }
})

test('a header that was changed is refused', async () => {
  const changed = archive()
  changed[3] = 0x41
  await assert.rejects(read(changed, 512), /damaged/)
})

test('names that lead out of the folder are neither written nor read', async () => {
  for (const path of ['../a', 'a/../b', '/etc/passwd', 'a//b', './a', 'a/.']) {
    assert.throws(() => tarHeader(file(path, 0)), TarError, path)
  }
  const harmless = tarHeader(file('aa/etc', 0))
  harmless.write('../etc', 0, 'latin1')
  // With its sum put right, as whoever means harm would.
  harmless.write('        ', 148, 'latin1')
  const sum = harmless.reduce((total, byte) => total + byte, 0)
  harmless.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  await assert.rejects(read(Buffer.concat([harmless, tarEnd()]), 512), /damaged/)
})

test('a path that cannot be divided is refused', () => {
  assert.throws(() => tarHeader(file('x'.repeat(101), 0)), /too long/)
})
