// The operator's own providers: one `.mjs` file each, in a folder that a setting names.
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { channels, knownCredentials } from '../domain/delivery/integration.ts'
import { joinChannelProviders } from '../domain/people/channel-settings.ts'
import { providerKit } from './kit.ts'
import type { Provider } from './provider.ts'
import { addProvider, providerOf } from './registry.ts'

/** What is wrong with a file: reported to whoever starts the service. */
export class BadProviderFile extends Error {
  constructor(file: string, why: string) {
    super(`The provider file ${file} cannot be used: ${why}`)
    this.name = 'BadProviderFile'
  }
}

/** A contract beside a provider is its test, not a provider. */
const providerFile = /^(?!.*\.contract\.mjs$).*\.mjs$/

/** Loads every provider of a folder, and returns their ids. An invalid one prevents the start: its messages would be lost. */
export async function loadOwnProviders(directory: string): Promise<string[]> {
  const ids: string[] = []
  for (const file of await filesIn(directory)) {
    const made = await loadProvider(file)
    if (providerOf(made.id) !== undefined) throw new BadProviderFile(file, `the provider ${made.id} already exists`)
    addProvider(made)
    if (made.channel === 'chat' || made.channel === 'push') joinChannelProviders(made.id, made.channel)
    ids.push(made.id)
  }
  return ids
}

/** In the order of their names. */
async function filesIn(directory: string): Promise<string[]> {
  const place = resolve(directory)
  try {
    return (await readdir(place))
      .filter((name) => providerFile.test(name))
      .sort()
      .map((name) => join(place, name))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new BadProviderFile(place, `the folder cannot be read (${code ?? message})`)
  }
}

/** The file exports a function `provider`, which is given the kit and returns what `httpProvider` or `provider` made. */
export async function loadProvider(file: string): Promise<Provider> {
  let made: unknown
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { provider?: unknown }
    if (typeof loaded.provider !== 'function') throw new Error('it does not export a function named provider')
    made = loaded.provider(providerKit)
  } catch (error) {
    throw new BadProviderFile(file, (error as Error).message)
  }
  const mistake = mistakeOf(made as Partial<Provider>)
  if (mistake !== undefined) throw new BadProviderFile(file, mistake)
  return made as Provider
}

function mistakeOf(made: Partial<Provider> | null | undefined): string | undefined {
  if (typeof made !== 'object' || made === null) return 'its function does not return a provider'
  const { id, channel, name, docsUrl, form, send, evidence } = made
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) {
    return 'its id must consist of at most 64 lowercase letters, digits and dashes'
  }
  if (id === 'platform' || id.startsWith('platform-') || id.startsWith('novu')) return 'ids of this kind are reserved'
  if (channel === undefined || channel === 'in_app' || !channels.includes(channel)) {
    return 'its channel must be email, sms, push or chat'
  }
  if (typeof name !== 'string' || name === '' || typeof docsUrl !== 'string') return 'it must have a name and a docsUrl'
  if (typeof form !== 'object' || form === null) return 'it must have a form'
  const strange = Object.keys(form).find((key) => !(key in knownCredentials({ [key]: '' })))
  if (strange !== undefined) return `its form uses the credential ${strange}, which integrations do not have`
  if (typeof send !== 'function') return 'it must be created with httpProvider, or have a send function'
  return evidence === undefined ? "it must state the source of its facts: evidence: { source: 'vendor' }" : undefined
}
