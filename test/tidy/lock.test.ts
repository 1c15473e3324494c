// The lock is whole, and every dependency runs on the oldest Node that package.json promises.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lock } from './rules/lock.ts'
import { admits, missing, refusing } from './rules/lock.ts'
import { readProjectFile } from './rules/sources.ts'

const promised = /^>=(\d+\.\d+)$/.exec(JSON.parse(readProjectFile('package.json')).engines.node)?.[1]
const lock = JSON.parse(readProjectFile('package-lock.json')) as Lock

test('every locked package admits the oldest promised Node and a current one of its line', () => {
  assert.equal(promised, '20.19')
  assert.ok(Object.keys(lock.packages).length > 50)
  assert.deepEqual(refusing(lock, '20.19.0'), [])
  assert.deepEqual(refusing(lock, '20.20.2'), [])
})

test('a package that wants a later Node is named', () => {
  const packages = {
    '': { engines: { node: '>=20.19' } },
    'node_modules/new': { engines: { node: '>=22' } },
    'node_modules/old': { engines: { node: '>= 0.4' } },
    'node_modules/any': {},
    'node_modules/list': { engines: ['node >= 0.2'] },
  }
  assert.deepEqual(refusing({ packages }, '20.19.0'), ['node_modules/new wants Node >=22'])
})

test('ranges are read as npm reads them', () => {
  const admitted = [
    '*',
    '',
    '>=20',
    '>= 20.19.0',
    '^20',
    '20',
    '20.x',
    '20.19.x',
    '~20.19.0',
    '>=18 <21',
    '<=20',
    '^18 || >=20',
    '14 - 20',
  ]
  const refused = [
    '>=21',
    '>20',
    '>20.19.0',
    '^22',
    '18',
    '^20.20.0',
    '~20.18.0',
    '<20',
    '>=22.12.0 || ^18',
    '14 - 18',
    'lts',
  ]
  for (const range of admitted) assert.equal(admits(range, '20.19.0'), true, range)
  for (const range of refused) assert.equal(admits(range, '20.19.0'), false, range)
})

test('everything a locked package asks for is locked, for all platforms', () => {
  assert.deepEqual(missing(lock), [])
})

test('what is missing from a lock is named', () => {
  const packages = {
    '': { dependencies: { a: '1' } },
    'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { 'a-darwin': '1' } },
    'node_modules/a/node_modules/b': { dependencies: { a: '1' } },
  }
  assert.deepEqual(missing({ packages }), ['node_modules/a asks for a-darwin, which is not in the lock'])
})
