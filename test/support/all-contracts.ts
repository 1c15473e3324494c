// The contracts of a channel: one file a provider, and none without one.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { test } from 'node:test'
import type { SendingChannel } from '../../src/domain/outbound-message.ts'
import { providers } from '../../src/providers/registry.ts'
import { holdToContract } from './contract-tests.ts'
import type { ProviderContract } from './provider-contract.ts'

/** Those that speak SMTP or call nobody: their tests are test/providers/smtp*.test.ts and platform-*.test.ts. */
const withoutHttp: ReadonlySet<string> = new Set([
  'nodemailer',
  'emailjs',
  'outlook365',
  'platform-email',
  'platform-sms',
])

export async function holdAllToContract(channel: SendingChannel): Promise<void> {
  const directory = new URL(`../providers/contracts/${channel}/`, import.meta.url)
  // One alone, while it is being written.
  const only = process.env['CONTRACT']
  const found: string[] = []
  // Of the kind of this file: .ts when it is run by hand, .js where the tests were compiled.
  const extension = extname(import.meta.filename)
  const files = (await readdir(directory)).filter((file) => file.endsWith(extension))
  for (const file of files.sort()) {
    const id = basename(file, extension)
    found.push(id)
    if (only !== undefined && only !== id) continue
    const { contract } = (await import(new URL(file, directory).href)) as { contract: ProviderContract }
    test(`${id}: the file is the contract of the provider it is named after`, () => {
      assert.deepEqual([contract.provider.id, contract.provider.channel], [id, channel])
    })
    holdToContract(contract)
  }
  test(`every provider of ${channel} that speaks HTTP has a contract`, {
    skip: only !== undefined && 'one contract alone was asked for',
  }, () => {
    const expected = providers.filter((one) => one.channel === channel && !withoutHttp.has(one.id)).map(({ id }) => id)
    assert.deepEqual(found, expected.sort())
  })
}
