// Commands that are loaded alone are those that the help lists.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from './commands.ts'
import { loadedAlone } from './loaded-alone.ts'

test('each command that is loaded alone is the one of its name', async () => {
  for (const [name, load] of Object.entries(loadedAlone)) {
    assert.equal(
      await load(),
      commands.find((command) => command.name === name),
      name,
    )
  }
})

test('all are but the one that has to know the others', () => {
  const others = commands.filter(({ name }) => !Object.hasOwn(loadedAlone, name)).map(({ name }) => name)
  assert.deepEqual(others, ['completion'])
})
