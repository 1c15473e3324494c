// What an operator reads when a disk refuses something.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskTroubleAt, diskTroubleOf } from './disk-trouble.ts'

const refused = (code: string) =>
  Object.assign(new Error(`${code}: refused, open '/data/encryption.key'`), { code, syscall: 'open' })

test('a disk that refuses to be written is named with its reason, and the file that was meant', () => {
  const words: Readonly<Record<string, RegExp>> = {
    EROFS: /^its file system is read-only \(/,
    EACCES: /^user \d+ may not write there \(/,
    EPERM: /^the system does not let user \d+ change it \(/,
    ENOSPC: /^its disk is full \(/,
    EDQUOT: /^the disk quota of user \d+ is used up \(/,
    EIO: /^its disk reports an input\/output error \(/,
  }
  for (const [code, expected] of Object.entries(words)) {
    assert.match(diskTroubleOf(refused(code)) ?? '', expected)
    assert.match(diskTroubleOf(refused(code)) ?? '', /'\/data\/encryption\.key'\)$/)
  }
})

test('every other error is left alone', () => {
  for (const error of [
    refused('ENOENT'),
    refused('ECONNRESET'),
    new Error('EROFS'),
    'EROFS',
    { code: 30 },
    undefined,
    null,
  ])
    assert.equal(diskTroubleOf(error), undefined)
})

test('something that is missing where all is writable is no trouble of the disk', async () => {
  assert.equal(await diskTroubleAt(join(tmpdir(), 'posthorn-no-such', 'folder'), refused('ENOENT')), undefined)
  assert.match((await diskTroubleAt('/data', refused('EROFS'))) ?? '', /^its file system is read-only/)
})
