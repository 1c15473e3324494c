// Providers of an operator's own: what is loaded, and what stops a start.
// Runs in a process of its own: others would see the providers that it loads.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { channelOfEntry, channelProviderIds } from '../../src/domain/people/channel-settings.ts'
import { loadOwnProviders } from '../../src/providers/own-providers.ts'
import { providerOf } from '../../src/providers/registry.ts'
import { projectRoot } from '../support/project-root.ts'

const definition = (members: string): string => `
  export function provider({ httpProvider, outcome }) {
    return httpProvider({
      id: 'own-one', channel: 'push', name: 'Own', docsUrl: '', evidence: { source: 'vendor' }, form: {},
      request: () => ({ url: 'https://own.example', method: 'POST', headers: {} }),
      outcome: () => outcome.sent('1'),
      ${members}
    })
  }`

async function load(files: Record<string, string>): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-providers-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
    return await loadOwnProviders(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('every .mjs file of the folder is a provider from then on; contracts and other files are none', async () => {
  const ids = await load({
    'b.mjs': definition("id: 'own-push',"),
    'a.mjs': definition("id: 'own-sms', channel: 'sms',"),
    'a.contract.mjs': 'throw new Error("a contract is not loaded")',
    'README.md': '',
  })
  assert.deepEqual(ids, ['own-sms', 'own-push'])
  assert.equal(providerOf('own-sms')?.channel, 'sms')
  assert.deepEqual(
    [channelProviderIds.includes('own-push'), channelOfEntry({ providerId: 'own-push' })],
    [true, 'push'],
  )
  assert.equal(channelProviderIds.includes('own-sms'), false)
})

test('the example of the documentation loads', async () => {
  const directory = join(projectRoot, 'docs/examples/providers')
  assert.deepEqual(await loadOwnProviders(directory), ['acme-sms'])
})

const mistakes: [what: string, text: string, words: RegExp][] = [
  ['no function', 'export const nothing = 1', /does not export a function named provider/],
  ['not even JavaScript', 'export function {', /cannot be used/],
  ['a function that returns nothing', 'export function provider() {}', /does not return a provider/],
  ['an id that cannot stand in an address', definition("id: 'Own/1',"), /lowercase letters/],
  ['an id of our own kind', definition("id: 'platform-own',"), /reserved/],
  ['an id that is taken', definition("id: 'sendgrid',"), /the provider sendgrid already exists/],
  ['a channel there is not', definition("channel: 'pigeon',"), /email, sms, push or chat/],
  ['the feed', definition("channel: 'in_app',"), /email, sms, push or chat/],
  ['a credential there is not', definition("form: { wand: { kind: 'string', label: 'Wand' } },"), /credential wand/],
  ['no name', definition("name: '',"), /name and a docsUrl/],
  ['no word on its facts', definition('evidence: undefined,'), /evidence/],
]
for (const [what, text, words] of mistakes) {
  test(`a file with ${what} stops the start with a sentence that names it`, async () => {
    await assert.rejects(load({ 'bad.mjs': text }), (error: Error) => {
      assert.match(error.message, /bad\.mjs/)
      assert.match(error.message, words)
      return true
    })
  })
}

test('a folder that is not there stops the start too', async () => {
  await assert.rejects(loadOwnProviders(join(tmpdir(), 'posthorn-no-such-folder')), /cannot be read \(ENOENT\)/)
})
