// The contracts of a channel: one file a provider, and none without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SendingChannel } from '../../src/domain/messages/outbound-message.ts'
import { providers } from '../../src/providers/registry.ts'
import { contractIds, contractOf } from './contract-files.ts'
import { holdToContract } from './contract-tests.ts'

/** Those that speak SMTP or call no one: their tests are test/providers/smtp*.test.ts and platform-*.test.ts. */
const withoutHttp: ReadonlySet<string> = new Set([
  'nodemailer',
  'emailjs',
  'outlook365',
  'platform-email',
  'platform-sms',
])

export async function holdAllToContract(channel: SendingChannel): Promise<void> {
  // One alone, while it is being written.
  const only = process.env['CONTRACT']
  const found = await contractIds(channel)
  for (const id of found.filter((one) => only === undefined || only === one)) {
    const contract = await contractOf(channel, id)
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
