// No folder of src holds more files than a reader can take in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderFilesMax, fullFolders } from './rules/folders.ts'
import { readSources, reported, sample } from './rules/sources.ts'

test('a folder of src holds at most 25 files', () => {
  const sources = readSources(['src'], ['.ts'])
  assert.ok(sources.size > 50)
  assert.deepEqual(reported(fullFolders(sources)), [])
})

const filesIn = (folder: string, count: number, ending = '.ts'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file-${index}${ending}`, '']))

test('a folder of 26 files is refused, one of 25 is not', () => {
  assert.deepEqual(reported(fullFolders(sample(filesIn('src/store', folderFilesMax)))), [])
  assert.deepEqual(reported(fullFolders(sample(filesIn('src/store', folderFilesMax + 1)))), [
    'src/store:1 holds 26 files; 25 are allowed',
  ])
})

test('a sub-folder is counted by itself, and can be too full as well', () => {
  const files = { ...filesIn('src/store', folderFilesMax), ...filesIn('src/store/people', folderFilesMax) }
  assert.deepEqual(reported(fullFolders(sample(files))), [])
  assert.equal(fullFolders(sample({ ...files, 'src/store/people/more.ts': '' })).length, 1)
})

test('unit tests beside the code are not counted', () => {
  const files = { ...filesIn('src/store', folderFilesMax), ...filesIn('src/store', folderFilesMax, '.test.ts') }
  assert.deepEqual(reported(fullFolders(sample(files))), [])
})

test('the channels of providers may hold more; what providers share may not', () => {
  assert.deepEqual(reported(fullFolders(sample(filesIn('src/providers/sms', 60)))), [])
  assert.equal(fullFolders(sample(filesIn('src/providers', 60))).length, 1)
  assert.equal(fullFolders(sample(filesIn('src/providers/signing', 60))).length, 1)
})
