// posthorn environments: lists, creates, renames and deletes environments of a running service.

import { createEnvironment } from '../manage/operate/environment-life.ts'
import { listEnvironments } from '../store/operate/installation.ts'
import type { ApiClient, ServiceValues } from './api-client.ts'
import { ApiError, clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { commandAuthor } from './local/author.ts'
import { organizationNamed, withStore } from './local/with-store.ts'
import { renameInProfiles, saveProfile } from './profiles.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'

export const environmentsCommand: Command = {
  name: 'environments',
  about:
    'Lists, creates, renames and deletes environments. Renaming and deleting need a key of the environment itself, with ' +
    'the scope full. --organization creates one in another organization, on the machine of the database.',
  examples: [
    'posthorn environments create Staging --save      # and log in to it: later commands can use --environment Staging',
    'posthorn environments rename Staging Preview',
    'posthorn environments delete Preview',
  ],
  usage: [
    `environments list ${serviceUsage}`,
    `environments create NAME [--save] ${serviceUsage}`,
    'environments create NAME --organization NAME',
    `environments rename NAME NEW-NAME ${serviceUsage}`,
    `environments delete NAME [--confirm NAME] ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(environmentsCommand, args, {
      confirm: { type: 'string' },
      organization: { type: 'string' },
      save: { type: 'boolean', default: false },
    })
    const [action = '', name = '', newName = ''] = positionals
    if (wanted[action] !== positionals.length - 1) throw wrongCall(environmentsCommand)
    if (action === 'create' && values.organization !== undefined) {
      refuseServiceOptions(values)
      return createIn(terminal, goodName(name), values.organization)
    }
    if (action === 'list') return list(terminal, await clientFor(terminal, values), values.json)
    if (action === 'create') return create(terminal, await clientFor(terminal, values), goodName(name), values)
    const own = await ownClient(terminal, values, name)
    if (action === 'rename') return rename(terminal, own, goodName(newName), values.json)
    return remove(terminal, own, values)
  },
}

/** The database itself is asked, and what it prints is no JSON: given in vain they would mislead. */
function refuseServiceOptions(values: ServiceValues & { readonly save: boolean; readonly json: boolean }): void {
  const { save, json, url, key, 'key-file': file, profile, environment } = values
  const all = { save, json, url, key, 'key-file': file, profile, environment }
  const given = Object.entries(all).find(([, value]) => value !== undefined && value !== false)
  if (given === undefined) return
  throw new UsageError(`posthorn environments create --organization does not accept --${given[0]}`)
}

/** How many names each takes. */
const wanted: Readonly<Record<string, number>> = { list: 0, create: 1, rename: 2, delete: 1 }

interface ListedEnvironment {
  readonly _id: string
  readonly name: string
}

interface Deletion {
  readonly environmentId: string
  readonly name: string
  readonly phase: string
  readonly removed: Readonly<Record<string, number>>
  readonly completedAt: string | null
}

function goodName(name: string): string {
  if (/^\S(.{0,98}\S)?$/u.test(name)) return name
  throw new UsageError('The name must have 1 to 100 characters')
}

async function list({ print }: Terminal, client: ApiClient, json: boolean): Promise<void> {
  const { body: environments } = await client.call<ListedEnvironment[]>('GET', '/v1/environments')
  if (json) return print(visibleJson(environments))
  for (const { _id, name } of environments) print(`${_id}  ${visible(name)}`)
  for (const deletion of await deletions(client)) {
    const rows = Object.values(deletion.removed).reduce((sum, count) => sum + count, 0)
    const state = deletion.completedAt === null ? `being erased (${deletion.phase})` : `erased ${deletion.completedAt}`
    print(`${deletion.environmentId}  ${visible(deletion.name)}  ${state}, ${rows} rows removed`)
  }
}

/** Only a full key sees them; the list of environments is for others as well. */
async function deletions(client: ApiClient): Promise<readonly Deletion[]> {
  try {
    return (await client.call<Deletion[]>('GET', '/v1/environments/deletions')).body
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return []
    throw error
  }
}

interface NewEnvironment extends ListedEnvironment {
  readonly apiKeys: readonly { readonly key: string }[]
}

async function create(
  terminal: Terminal,
  client: ApiClient,
  name: string,
  { save, json }: { readonly save: boolean; readonly json: boolean },
): Promise<void> {
  const { body } = await client.call<NewEnvironment>('POST', '/v1/environments', { body: { name } })
  if (json) terminal.print(visibleJson(body))
  else printNew(terminal, body)
  if (!save) return
  const key = body.apiKeys[0]?.key ?? ''
  await saveProfile(terminal.config, { name, url: client.url, key, environment: name })
  terminal.note(visible(`Saved as profile ${name}: commands use it from now on, until another login.`))
}

function printNew({ print }: Terminal, { _id, name, apiKeys }: NewEnvironment): void {
  print(apiKeys[0]?.key ?? '')
  print(`It opens ${visible(name)} (${_id}), may do everything there, and is shown only this once.`)
}

/** A key belongs to one organization: for another one the database itself is asked. */
async function createIn(terminal: Terminal, name: string, organization: string): Promise<void> {
  await withStore(terminal, async (store) => {
    const owner = await organizationNamed(store, organization)
    const first = (await listEnvironments(store.db)).find(({ organizationId }) => organizationId === owner.id)
    if (first === undefined)
      throw new UsageError('This organization has no environment left: delete it, and create another')
    const call = { author: commandAuthor(), idempotency: undefined, name, parentId: undefined, color: undefined }
    const { body } = await createEnvironment(store.db, store.world, first, call)
    printNew(terminal, body)
  })
}

interface OwnEnvironment {
  readonly client: ApiClient
  readonly id: string
  readonly name: string
}

/** By a key of the environment that is meant. */
async function ownClient(terminal: Terminal, values: ServiceValues, name: string): Promise<OwnEnvironment> {
  const client = await clientFor(terminal, { ...values, environment: name })
  const { body } = await client.call<ListedEnvironment>('GET', '/v1/environments/me?secrets=false')
  return { client, id: body._id, name: body.name }
}

async function rename(
  { config, print }: Terminal,
  { client, id, name }: OwnEnvironment,
  newName: string,
  json: boolean,
): Promise<void> {
  const { body } = await client.call<ListedEnvironment>('PUT', `/v1/environments/${id}`, { body: { name: newName } })
  await renameInProfiles(config, { url: client.url, from: name, to: newName })
  print(json ? visibleJson(body) : `${visible(name)} is now called ${visible(newName)}.`)
}

/** The name is typed again, by whoever sits there or with the command. */
async function remove(
  { print, ask }: Terminal,
  { client, id, name }: OwnEnvironment,
  { confirm: confirmed, json }: { readonly confirm?: string | undefined; readonly json: boolean },
): Promise<void> {
  const question = `Everything in ${visible(name)} is erased and cannot be brought back. Type its name to go on: `
  const confirm = confirmed ?? (await ask?.(question))?.trim()
  if (confirm !== name) {
    throw new UsageError('Nothing was deleted: repeat the name of the environment, or give it with --confirm')
  }
  const { body } = await client.call('DELETE', `/v1/environments/${id}`, { query: { confirm } })
  const words = `${visible(name)} is closed. The service erases it; \`posthorn environments list\` shows how far it is.`
  print(json ? visibleJson(body ?? { _id: id, name }) : words)
}
