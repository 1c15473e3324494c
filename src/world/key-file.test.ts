// The encryption key's file: whole or not at all, one for all who make it at once, and never replaced.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KeyFileError, makeKeyFile, readKeyFile } from './key-file.ts'

async function keyFile(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-key-'))
  t.after(() => rm(directory, { recursive: true }))
  return join(directory, 'data', 'encryption.key')
}

test('where there is no file there is no key, and none is made by reading', async (t) => {
  const file = await keyFile(t)
  assert.equal(await readKeyFile(file), undefined)
  await assert.rejects(stat(dirname(file)), { code: 'ENOENT' })
})

test('of ten that make it at once all get one key, in one file that only its owner can read', async (t) => {
  const file = await keyFile(t)
  const keys = await Promise.all(Array.from({ length: 10 }, () => makeKeyFile(file)))
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1)
  assert.equal(keys[0]?.length, 32)
  assert.deepEqual(await readKeyFile(file), keys[0])
  assert.deepEqual(await readdir(dirname(file)), ['encryption.key'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a file without a whole key is refused and left as it is, not replaced', async (t) => {
  const file = await keyFile(t)
  await makeKeyFile(file)
  for (const content of ['', 'c2hvcnQ=\n']) {
    await writeFile(file, content)
    await assert.rejects(readKeyFile(file), KeyFileError)
    await assert.rejects(makeKeyFile(file), /does not hold an encryption key/)
    assert.equal((await stat(file)).size, content.length)
  }
})
