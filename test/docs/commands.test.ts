// Every command has a place in the documentation, and says what it does with examples that its own usage lines know.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/cli-scene.ts'

const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))
const documentation = pages.map((name) => readFileSync(join('docs', name), 'utf8')).join('\n')

async function commandNames(): Promise<Set<string>> {
  const { stdout } = await runCommand(['help'])
  return new Set([...stdout.matchAll(/^ {2}posthorn ([a-z]+)/gm)].map(([, name = '']) => name))
}

test('every command that help lists is in the documentation', async () => {
  const missing = [...(await commandNames())].filter(
    (name) => !new RegExp(`posthorn ${name}\\b|^\\| .*\`${name}[\` ]`, 'm').test(documentation),
  )
  assert.deepEqual(missing, [])
})

test('the help of every command has examples, whose options its usage lines name', async () => {
  for (const name of await commandNames()) {
    const { stdout, code } = await runCommand([name, '--help'])
    assert.equal(code, 0)
    const [usage = '', examples = ''] = stdout.split('\nExamples:\n')
    assert.match(examples, new RegExp(`posthorn ${name}`), name)
    const known = new Set(usage.match(/--[a-z-]+/g))
    const used = [...examples.matchAll(/^.*posthorn [a-z]+.*$/gm)].flatMap(([line]) =>
      (line.split('#')[0]?.split(' | ')[0] ?? '').match(/--[a-z-]+/g),
    )
    assert.deepEqual(
      used.filter((option) => option !== null && !known.has(option)),
      [],
      name,
    )
  }
})
