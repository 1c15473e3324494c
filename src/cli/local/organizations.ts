// posthorn organizations: lists, creates, renames and deletes organizations.
import type { Store } from '../../main/store.ts'
import { createOrganization, deleteOrganization, renameOrganization } from '../../manage/operate/organizations.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import { listOrganizations } from '../../store/operate/organizations.ts'
import type { Command, Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { parsed } from '../terminal/arguments.ts'
import { visible } from '../terminal/visible-text.ts'
import { commandAuthor } from './author.ts'
import { organizationNamed, withStore } from './with-store.ts'

export const organizationsCommand: Command = {
  name: 'organizations',
  about:
    'Lists, creates, renames and deletes organizations. Local: an API key belongs to one organization, and opens no other.',
  examples: ['posthorn organizations create Acme', 'posthorn organizations list'],
  usage: [
    'organizations list',
    'organizations create NAME',
    'organizations rename NAME NEW-NAME',
    'organizations delete NAME',
  ],
  run: async (terminal, args) => {
    const [action, name = '', newName = '', ...more] = readNames(args)
    const given = [name, newName].filter((one) => one !== '').length
    if (action === undefined || more.length > 0 || wanted[action] !== given) throw usage()
    await withStore(terminal, async (store) => {
      if (action === 'list') return list(terminal, store)
      if (action === 'create') return create(terminal, store, name)
      const organization = await organizationNamed(store, name)
      if (action === 'rename') {
        await renameOrganization(store.db, organization, goodName(newName))
        return terminal.print(`${visible(name)} is now called ${visible(newName)}.`)
      }
      await deleteOrganization(store.db, organization, store.world.now())
      return terminal.print(`${visible(name)} is deleted.`)
    })
  },
}

/** How many names each takes. */
const wanted: Readonly<Record<string, number>> = { list: 0, create: 1, rename: 2, delete: 1 }

const usage = () =>
  new UsageError(`Usage:\n${organizationsCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)

const readNames = (args: readonly string[]): string[] =>
  parsed({ args: [...args], allowPositionals: true, options: {} }).positionals

/** A slash separates it from the name of an environment, in other commands. */
function goodName(name: string): string {
  if (/^[^\s/]([^/]{0,98}[^\s/])?$/u.test(name)) return name
  throw new UsageError('The name must have 1 to 100 characters, and no slash')
}

async function list({ print }: Terminal, { db }: Store): Promise<void> {
  const environments = await listEnvironments(db)
  for (const { id, name } of await listOrganizations(db)) {
    const own = environments.filter(({ organizationId }) => organizationId === id)
    print(`${id}  ${visible(name)}  ${own.map((one) => visible(one.name)).join(', ')}`)
  }
}

async function create({ print }: Terminal, { db, world }: Store, name: string): Promise<void> {
  const made = await createOrganization(db, world, { name: goodName(name), author: commandAuthor() })
  for (const { environment, key } of made.environments) {
    print(`${key}  opens ${visible(`${name}/${environment.name}`)}`)
  }
  print('Each may do everything in its environment, and is shown only this once.')
}
