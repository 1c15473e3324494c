// posthorn environments: lists, creates, renames and deletes environments.

import type { Environment } from '../domain/environment.ts'
import type { Store } from '../main/store.ts'
import { createEnvironment, deleteEnvironment, renameEnvironment } from '../manage/operate/environment-life.ts'
import { listDeletions } from '../store/operate/environment-deletions.ts'
import { listEnvironments } from '../store/operate/installation.ts'
import { listOrganizations } from '../store/operate/organizations.ts'
import { commandAuthor } from './author.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { parsed } from './terminal/arguments.ts'
import { visible } from './terminal/visible-text.ts'
import { environmentNamed, organizationNamed, withStore } from './with-store.ts'

export const environmentsCommand: Command = {
  name: 'environments',
  usage: [
    'environments list',
    'environments create NAME [--organization NAME]',
    'environments rename NAME NEW-NAME',
    'environments delete NAME [--confirm NAME]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, name, newName, ...more] = positionals
    const given = [name, newName].filter((one) => one !== undefined).length
    if (action === undefined || more.length > 0 || wanted[action] !== given) throw usage()
    await withStore(terminal, async (store) => {
      if (action === 'list') return list(terminal, store)
      if (action === 'create') return create(terminal, store, name ?? '', values.organization)
      const environment = await environmentNamed(store, name ?? '')
      if (action === 'rename') return rename(terminal, store, environment, newName ?? '')
      return remove(terminal, store, environment, values.confirm)
    })
  },
}

/** How many names each takes. */
const wanted: Readonly<Record<string, number>> = { list: 0, create: 1, rename: 2, delete: 1 }

const usage = () =>
  new UsageError(`Usage:\n${environmentsCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)

const options = { confirm: { type: 'string' }, organization: { type: 'string' } } as const

function readArguments(args: readonly string[]) {
  return parsed({ args: [...args], allowPositionals: true, options })
}

const call = () => ({ author: commandAuthor(), idempotency: undefined })

async function list({ print }: Terminal, { db }: Store): Promise<void> {
  const environments = await listEnvironments(db)
  const organizations = await listOrganizations(db)
  for (const { id, name, organizationId } of environments) {
    const organization = organizations.find((one) => one.id === organizationId)
    const isFirst = organization === undefined || organization === organizations[0]
    print(`${id}  ${visible(isFirst ? name : `${organization.name}/${name}`)}`)
  }
  const deletions = await Promise.all(organizations.map(({ id }) => listDeletions(db, { organizationId: id })))
  for (const deletion of deletions.flat()) {
    const rows = Object.values(deletion.removed).reduce((sum, count) => sum + count, 0)
    const state = deletion.completedAt === null ? `being erased (${deletion.phase})` : `erased ${deletion.completedAt}`
    print(`${deletion.environmentId}  ${visible(deletion.name)}  ${state}, ${rows} rows removed`)
  }
}

/** In the first organization, unless another is named. Its log is that of the oldest environment there. */
async function create({ print }: Terminal, store: Store, name: string, organization?: string): Promise<void> {
  const { db, world } = store
  const owner =
    organization === undefined ? (await listOrganizations(db))[0] : await organizationNamed(store, organization)
  const first = (await listEnvironments(db)).find(({ organizationId }) => organizationId === owner?.id)
  if (first === undefined)
    throw new UsageError('This organization has no environment left: delete it, and create another')
  if (!/^\S(.{0,98}\S)?$/u.test(name)) throw new UsageError('The name must have 1 to 100 characters')
  const { body } = await createEnvironment(db, world, first, { ...call(), name, parentId: undefined, color: undefined })
  print(body.apiKeys[0]?.key ?? '')
  print(`It opens ${visible(name)} (${body._id}), may do everything there, and is shown only this once.`)
}

async function rename(
  { print }: Terminal,
  { db, world }: Store,
  environment: Environment,
  name: string,
): Promise<void> {
  if (!/^\S(.{0,98}\S)?$/u.test(name)) throw new UsageError('The name must have 1 to 100 characters')
  await renameEnvironment(db, world, environment, { ...call(), id: environment.id, name, color: undefined })
  print(`${visible(environment.name)} is now called ${visible(name)}.`)
}

/** The name is typed again, by whoever sits there or with the command. */
async function remove(
  { print, ask }: Terminal,
  { db, world }: Store,
  environment: Environment,
  confirmed: string | undefined,
): Promise<void> {
  const question = `Everything in ${visible(environment.name)} is erased and cannot be brought back. Type its name to go on: `
  const confirm = confirmed ?? (await ask?.(question))?.trim()
  if (confirm !== environment.name) {
    throw new UsageError('Nothing was deleted: repeat the name of the environment, or give it with --confirm')
  }
  await deleteEnvironment(db, world, environment, { ...call(), id: environment.id, confirm })
  print(
    `${visible(environment.name)} is closed. A running service erases it; \`posthorn environments list\` shows how far it is.`,
  )
}
