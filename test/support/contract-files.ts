// The files that hold the providers' contracts: which there are, and what one of them says.
import { readdir } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { SendingChannel } from '../../src/domain/messages/outbound-message.ts'
import type { ProviderContract } from './provider-contract.ts'

/** As this file: .ts when a test is run manually, .js where the tests were compiled. */
const extension = extname(import.meta.filename)

const directoryOf = (channel: SendingChannel): URL => new URL(`../providers/contracts/${channel}/`, import.meta.url)

/** The ids that the files are named after, sorted. */
export async function contractIds(channel: SendingChannel): Promise<string[]> {
  const files = (await readdir(directoryOf(channel))).filter((file) => file.endsWith(extension))
  return files.map((file) => basename(file, extension)).sort()
}

export async function contractOf(channel: SendingChannel, id: string): Promise<ProviderContract> {
  const loaded = (await import(new URL(`${id}${extension}`, directoryOf(channel)).href)) as {
    contract: ProviderContract
  }
  return loaded.contract
}
