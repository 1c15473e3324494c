// The header Posthorn-Warnings as sentences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerOf } from '../../http/warnings.ts'
import { warningNotes, warningWords } from './warnings.ts'

test('a header of the service is shown as sentences', () => {
  const header = headerOf([
    { code: 'unknown-member', path: 'overrides.emial', nearest: 'email' },
    { code: 'unknown-member', path: 'a "b", c;d\\e é%' },
    { code: 'unknown-parameter', name: 'limmit', nearest: 'limit' },
    { code: 'name-taken', name: 'welcome', used: 'welcome-2' },
    { code: 'repeated', path: 'events.0.transactionId' },
  ])
  assert.deepEqual(warningWords(`${header}, more;count=3, later;why="new"`), [
    'overrides.emial is not a known field and was ignored; did you mean email?',
    'a "b", c;d\\e é% is not a known field and was ignored.',
    'limmit is not a known parameter and was ignored; did you mean limit?',
    'The identifier welcome is taken: welcome-2 is used.',
    'events.0.transactionId is a repeat: nothing was done for it.',
    'There are 3 more warnings.',
    'later why=new',
  ])
})

test('the same sentence is noted once for a command, and control characters are not played', () => {
  const notes: string[] = []
  const warn = warningNotes({ note: (line) => notes.push(line) })
  const header = headerOf([{ code: 'unknown-member', path: 'x\u001b[2J' }])
  warn(header)
  warn(header)
  assert.equal(notes.length, 1)
  assert.ok(!(notes[0] ?? '').includes('\u001b'))
})
