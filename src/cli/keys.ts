// posthorn keys: makes, lists and revokes API keys.
import { parseArgs } from 'node:util'
import type { Environment, Scope } from '../domain/environment.ts'
import { scopes } from '../domain/environment.ts'
import type { ApiKey } from '../domain/operate/api-key.ts'
import { isUuid } from '../domain/uuid-v7.ts'
import type { Store } from '../main/store.ts'
import type { NewKey } from '../manage/operate/api-keys.ts'
import { createApiKey, removeApiKey } from '../manage/operate/api-keys.ts'
import { listApiKeys } from '../store/operate/api-keys.ts'
import { commandAuthor } from './author.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { visible } from './terminal/visible-text.ts'
import { environmentNamed, withStore } from './with-store.ts'

const keysListedMax = 1_000

export const keysCommand: Command = {
  name: 'keys',
  usage: [
    'keys create [--environment Development] [--name NAME] [--scope full|trigger|read]... [--expires-at TIMESTAMP] [--signing]',
    'keys list [--environment Development]',
    'keys revoke KEY-ID [--environment Development]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, id] = positionals
    if (action !== 'create' && action !== 'list' && action !== 'revoke') {
      throw new UsageError(`Usage:\n${keysCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)
    }
    if (action === 'revoke' && (id === undefined || !isUuid(id))) {
      throw new UsageError('posthorn keys revoke needs the id of the key; `posthorn keys list` shows it')
    }
    const key = newKeyOf(values)
    await withStore(terminal, async (store) => {
      const environment = await environmentNamed(store, values.environment)
      if (action === 'create') await create(terminal, store, environment, key)
      else if (action === 'list') await list(terminal, store, environment)
      else await revoke(terminal, store, environment, id ?? '')
    })
  },
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        environment: { type: 'string', default: 'Development' },
        name: { type: 'string' },
        scope: { type: 'string', multiple: true },
        'expires-at': { type: 'string' },
        signing: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function newKeyOf(values: { name?: string; scope?: string[]; 'expires-at'?: string; signing?: boolean }): NewKey {
  const unknown = values.scope?.find((scope) => !scopes.includes(scope as Scope))
  if (unknown !== undefined) throw new UsageError(`Unknown scope "${unknown}"; the scopes are ${scopes.join(', ')}`)
  const expiresAt = values['expires-at']
  if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt))) {
    throw new UsageError(`--expires-at must be a timestamp such as 2027-01-31T00:00:00Z, not "${expiresAt}"`)
  }
  return {
    ...(values.name === undefined ? {} : { name: values.name }),
    ...(values.scope === undefined ? {} : { scopes: values.scope as Scope[] }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(values.signing === undefined ? {} : { signing: values.signing }),
  }
}

async function create({ print }: Terminal, { db, world }: Store, environment: Environment, key: NewKey): Promise<void> {
  const { body } = await createApiKey(db, world, environment, { key, author: commandAuthor(), idempotency: undefined })
  print(`${body.key}`)
  print(`Environment: ${environment.name}. Id: ${body._id}. The key is shown only once.`)
}

async function list({ print }: Terminal, { db, world }: Store, environment: Environment): Promise<void> {
  for (const key of await listApiKeys(db, environment, { offset: 0, limit: keysListedMax })) {
    print(
      `${key._id}  …${key.hint}  ${key.scopes.join(',')}${key.signing ? ',signing' : ''}  ${stateOf(key, world.now())}  ${visible(key.name)}`,
    )
  }
}

function stateOf(key: ApiKey, now: Date): string {
  if (key.revokedAt !== undefined) return `revoked ${key.revokedAt}`
  if (key.expiresAt === undefined) return 'valid'
  return `${new Date(key.expiresAt) <= now ? 'expired' : 'expires'} ${key.expiresAt}`
}

async function revoke({ print }: Terminal, { db, world }: Store, environment: Environment, id: string): Promise<void> {
  await removeApiKey(db, world, environment, { id, author: commandAuthor(), idempotency: undefined })
  print(`The key ${id} is revoked.`)
}
