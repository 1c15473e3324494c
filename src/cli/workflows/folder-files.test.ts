// Files below one folder, whatever names and links say.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { UsageError } from '../command.ts'
import { readBelow, readIfThere, writeFiles } from './folder-files.ts'

let top: string
let folder: string
before(async () => {
  top = await mkdtemp(join(tmpdir(), 'posthorn-folder-'))
  folder = join(top, 'flows')
  await mkdir(join(folder, 'own'), { recursive: true })
  await mkdir(join(top, 'other'))
  await writeFile(join(top, 'other', 'secret.txt'), 'secret')
  await writeFile(join(folder, 'own', 'text.txt'), 'text')
  await symlink(join(top, 'other'), join(folder, 'away'))
  await symlink(join(top, 'other', 'secret.txt'), join(folder, 'link.txt'))
  await symlink(join(top, 'nowhere.txt'), join(folder, 'dangling.txt'))
  await symlink('own/text.txt', join(folder, 'near.txt'))
})
after(() => rm(top, { recursive: true, force: true }))

const withMessage = (words: RegExp) => (error: unknown) => error instanceof UsageError && words.test(error.message)

test('a file of the folder is read, also through a link that stays in it', async () => {
  assert.equal(await readBelow(folder, 'own/text.txt'), 'text')
  assert.equal(await readBelow(folder, 'near.txt'), 'text')
  await symlink(folder, join(top, 'linked'))
  assert.equal(await readBelow(join(top, 'linked'), 'own/text.txt'), 'text')
})

test('nothing outside the folder is read, by a name or by a link', async () => {
  for (const name of [
    '../other/secret.txt',
    join(top, 'other', 'secret.txt'),
    'link.txt',
    'away/secret.txt',
    '.',
    '..',
  ])
    await assert.rejects(readBelow(folder, name, 'a.yaml'), withMessage(/^a\.yaml: .* is outside /), name)
  const links = [{ path: 'link.txt', text: '' }]
  await assert.rejects(readIfThere(folder, links), withMessage(/is outside/))
})

test('what is no file, too large or not there is reported before it is read', async () => {
  await assert.rejects(readBelow(folder, 'own'), withMessage(/^own is not a file/))
  await assert.rejects(readBelow(folder, 'none.txt'), withMessage(/none\.txt cannot be read \(ENOENT\)/))
  await assert.rejects(readBelow(folder, 'a\u0000b'), withMessage(/cannot be read/))
  await writeFile(join(folder, 'huge.txt'), '')
  // Sparse, and longer than any text can be: read first, it would fail otherwise.
  await truncate(join(folder, 'huge.txt'), 3 * 1024 ** 3)
  await assert.rejects(readBelow(folder, 'huge.txt'), withMessage(/^huge\.txt is larger than 2097152 bytes/))
})

test('what is not there is empty for a comparison', async () => {
  const files = await readIfThere(folder, [
    { path: 'own/text.txt', text: '' },
    { path: 'none.txt', text: 'x' },
  ])
  assert.deepEqual(files, [
    { path: 'own/text.txt', text: 'text' },
    { path: 'none.txt', text: '' },
  ])
})

test('files are written with their folders', async () => {
  await writeFiles(join(folder, 'new'), [{ path: 'deep/a.txt', text: 'a' }])
  assert.equal(await readFile(join(folder, 'new', 'deep', 'a.txt'), 'utf8'), 'a')
})

test('nothing outside the folder is written, by a name or by a link', async () => {
  for (const path of ['../out.txt', '../flows-too/out.txt', join(top, 'out.txt'), 'away/out.txt', '..', '.'])
    await assert.rejects(writeFiles(folder, [{ path, text: 'x' }]), withMessage(/is outside/), path)
  for (const path of ['link.txt', 'dangling.txt'])
    await assert.rejects(writeFiles(folder, [{ path, text: 'x' }]), withMessage(/is a link/), path)
  assert.deepEqual((await readdir(top)).sort(), ['flows', 'linked', 'other'])
  assert.deepEqual(await readdir(join(top, 'other')), ['secret.txt'])
  assert.equal(await readFile(join(top, 'other', 'secret.txt'), 'utf8'), 'secret')
})

test('what the system refuses is reported in a sentence', async () => {
  const path = `${'x'.repeat(300)}.txt`
  await assert.rejects(writeFiles(folder, [{ path, text: 'x' }]), withMessage(/cannot be written \(ENAMETOOLONG\)/))
})
