// The arguments of commands: what is read, and what is refused with what would be right.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'
import { countOf, durationOf, oneOf, readOptions, timestampOf } from './arguments.ts'

const withMessage = (words: RegExp) => (error: unknown) => error instanceof UsageError && words.test(error.message)
const command: Command = { name: 'ask', about: '', examples: [], usage: ['ask [SERVICE]'], run: async () => {} }
const now = new Date('2026-01-02T03:04:05Z')

test('every command that asks a service takes its address, a file with the key, and --json', () => {
  const { values, positionals } = readOptions(
    command,
    ['show', 'x', '--json', '--url', 'http://a', '--key-file', 'k'],
    {},
  )
  assert.deepEqual({ ...values }, { json: true, url: 'http://a', 'key-file': 'k' })
  assert.deepEqual(positionals, ['show', 'x'])
  assert.equal(readOptions(command, [], {}).values.json, false)
})

test('an option that is not known is refused', () => {
  assert.throws(() => readOptions(command, ['--colour'], {}), withMessage(/--colour/))
  assert.throws(() => readOptions(command, ['--url'], {}), withMessage(/--url/))
})

test('times are an amount and a unit', () => {
  assert.deepEqual(['500ms', '30s', '5m', '2h', '1d'].map(durationOf), [500, 30_000, 300_000, 7_200_000, 86_400_000])
  for (const text of ['', '5', 'm', '5 m', '-5m', '1.5h', '5w', '1234567s'])
    assert.equal(durationOf(text), undefined, text)
})

test('a time is a timestamp or an age', () => {
  assert.equal(timestampOf('--at', undefined, now), undefined)
  assert.equal(timestampOf('--at', '5m', now)?.toISOString(), '2026-01-02T02:59:05.000Z')
  assert.equal(timestampOf('--at', '2026-01-01', now)?.toISOString(), '2026-01-01T00:00:00.000Z')
  for (const text of ['yesterday', '2026-02-30', ''])
    assert.throws(() => timestampOf('--at', text, now), withMessage(/^--at must/), text)
})

test('counts have bounds', () => {
  assert.equal(countOf('--limit', undefined, 10), undefined)
  assert.equal(countOf('--limit', '10', 10), 10)
  for (const text of ['0', '11', '-1', '1e1', ''])
    assert.throws(() => countOf('--limit', text, 10), withMessage(/from 1 to 10/), text)
})

test('of a few words one is taken', () => {
  assert.equal(oneOf('--channel', 'email', ['email', 'sms']), 'email')
  assert.throws(
    () => oneOf('--channel', 'fax', ['email', 'sms']),
    withMessage(/--channel must be one of email, sms, not "fax"/),
  )
})
