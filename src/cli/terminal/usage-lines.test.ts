// Options and actions, as the usage lines have them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from '../command.ts'
import { commands } from '../commands.ts'
import { refuseForeign, usageLinesOf } from './usage-lines.ts'

const example: Command = {
  name: 'things',
  about: '',
  examples: [],
  usage: [
    'things [list] [--limit 20] [--json] [SERVICE]',
    'things show|drop ID [--yes]',
    'things eml ID [SERVICE] > FILE',
    'things [--text TEXT]',
  ],
  run: async () => {},
}
const refused = (...args: string[]): string => {
  const first = args.find((argument) => !argument.startsWith('--'))
  try {
    refuseForeign(example, args, first)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('actions are read from the second word, in brackets too, and several of them', () => {
  assert.deepEqual(
    usageLinesOf(example).map(({ actions, isDefault }) => [actions, isDefault]),
    [
      [['list'], true],
      [['show', 'drop'], false],
      [['eml'], false],
      [[], true],
    ],
  )
})

test('an option of another action is refused, with the action', () => {
  assert.equal(refused('list', '--limit', '3', '--url=http://a'), '')
  assert.equal(refused('--limit', '--text'), '')
  assert.equal(refused('show', '--yes'), '')
  assert.equal(refused('eml', '--key-file', 'x'), '')
  assert.equal(refused('drop', '--limit=3'), 'posthorn things drop does not accept --limit')
  assert.equal(refused('list', '--yes'), 'posthorn things list does not accept --yes')
  assert.equal(refused('--yes'), 'posthorn things does not accept --yes')
  assert.equal(refused('list', '--', '--yes'), '')
})

test('every command that has actions names each of them in a usage line of its own', () => {
  const actions = new Map(commands.map((one) => [one.name, usageLinesOf(one).flatMap((line) => line.actions)]))
  assert.deepEqual(actions.get('workflows'), ['push', 'pull', 'diff', 'new'])
  assert.deepEqual(actions.get('outbox'), ['list', 'show', 'eml', 'wait', 'clear'])
  assert.deepEqual(actions.get('redrive'), ['notification', 'event', 'list', 'show', 'stop'])
  assert.deepEqual(actions.get('completion'), ['bash', 'zsh', 'fish'])
})
