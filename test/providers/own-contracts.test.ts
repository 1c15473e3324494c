// Providers of an operator's own, held to the same contract as ours: those of POSTHORN_PROVIDERS_DIR, or the example's.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadProvider } from '../../src/providers/own-providers.ts'
import { holdToContract } from '../support/contract-tests.ts'
import { projectRoot } from '../support/project-root.ts'
import type { ProviderContract } from '../support/provider-contract.ts'

const example = join(projectRoot, 'docs/examples/providers')
const directory = resolve(process.env['POSTHORN_PROVIDERS_DIR'] || example)
const files = (await readdir(directory)).filter((name) => name.endsWith('.contract.mjs')).sort()

test('there is a contract to be held to', () => {
  assert.notEqual(files.length, 0, `no *.contract.mjs in ${directory}`)
})
for (const file of files) {
  const name = file.replace(/\.contract\.mjs$/, '')
  const provider = await loadProvider(join(directory, `${name}.mjs`))
  const loaded = (await import(pathToFileURL(join(directory, file)).href)) as { contract: ProviderContract }
  holdToContract({ ...loaded.contract, provider }, pathToFileURL(join(directory, `${name}.golden.txt`)))
}
