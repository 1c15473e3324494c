// posthorn keys: makes, lists, rotates and revokes API keys.

import type { Environment, Scope } from '../../domain/environment.ts'
import { scopes } from '../../domain/environment.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Store } from '../../main/store.ts'
import type { NewKey } from '../../manage/operate/api-keys.ts'
import { createApiKey, removeApiKey, rotateApiKey } from '../../manage/operate/api-keys.ts'
import { listApiKeys } from '../../store/operate/api-keys.ts'
import type { Command, Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { parsed, wrongCall } from '../terminal/arguments.ts'
import { refuseForeign } from '../terminal/usage-lines.ts'
import { visible } from '../terminal/visible-text.ts'
import { commandAuthor } from './author.ts'
import { environmentNamed, withStore } from './with-store.ts'

const keysListedMax = 1_000

export const keysCommand: Command = {
  name: 'keys',
  about:
    'Creates, lists, rotates and revokes API keys, also while the service runs. Local: it needs the database, and no key.',
  examples: [
    'posthorn keys create                                        # may do everything in Development',
    'posthorn keys create --name CI --scope workflows:write --scope read',
    'posthorn keys create --environment Production | posthorn login',
    'posthorn keys rotate KEY-ID --overlap 7d',
  ],
  usage: [
    'keys create [--environment Development] [--name NAME] [--scope SCOPE]... [--allow ADDRESS]... [--rate TOKENS-PER-SECOND] [--expires-at TIMESTAMP] [--signing]',
    'keys list [--environment Development]',
    'keys rotate KEY-ID [--environment Development] [--overlap 24h] [--expires-at TIMESTAMP]',
    'keys revoke KEY-ID [--environment Development]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, id, ...more] = positionals
    refuseForeign(keysCommand, args, action)
    const isOfOne = action === 'rotate' || action === 'revoke'
    if (!isAction(action) || more.length > 0 || (!isOfOne && id !== undefined)) throw wrongCall(keysCommand)
    if (isOfOne && (id === undefined || !isUuid(id))) {
      throw new UsageError(`posthorn keys ${action} needs the id of the key; \`posthorn keys list\` shows it`)
    }
    const key = newKeyOf(values)
    const overlapSeconds = secondsOf(values.overlap)
    await withStore(terminal, async (store) => {
      const environment = await environmentNamed(store, values.environment)
      if (action === 'create') await create(terminal, store, environment, key)
      else if (action === 'list') await list(terminal, store, environment)
      else if (action === 'rotate') await rotate(terminal, store, environment, { id: id ?? '', overlapSeconds, key })
      else await revoke(terminal, store, environment, id ?? '')
    })
  },
}

const actions = ['create', 'list', 'rotate', 'revoke'] as const
type Action = (typeof actions)[number]

const isAction = (text: string | undefined): text is Action => actions.some((action) => action === text)

function readArguments(args: readonly string[]) {
  return parsed({
    args: [...args],
    allowPositionals: true,
    options: {
      environment: { type: 'string', default: 'Development' },
      name: { type: 'string' },
      scope: { type: 'string', multiple: true },
      'expires-at': { type: 'string' },
      signing: { type: 'boolean' },
      allow: { type: 'string', multiple: true },
      rate: { type: 'string' },
      overlap: { type: 'string', default: '24h' },
    },
  })
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
/** As the API has it. */
const overlapSecondsMax = 90 * 86_400

function secondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,8})([smhd])?$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? 0)
  if (count === undefined || seconds > overlapSecondsMax) {
    throw new UsageError(`--overlap must be a time such as 30m, 24h or 7d, at most 90d, not "${text}"`)
  }
  return seconds
}

function rateOf(text: string): number {
  const rate = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (rate < 1 || rate > 1_000_000) throw new UsageError(`--rate must be a number from 1 to 1000000, not "${text}"`)
  return rate
}

interface Values {
  readonly name?: string
  readonly scope?: string[]
  readonly 'expires-at'?: string
  readonly signing?: boolean
  readonly allow?: string[]
  readonly rate?: string
}

function newKeyOf(values: Values): NewKey {
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
    ...(values.allow === undefined ? {} : { allowedAddresses: values.allow }),
    ...(values.rate === undefined ? {} : { ratePerSecond: rateOf(values.rate) }),
  }
}

async function create({ print }: Terminal, { db, world }: Store, environment: Environment, key: NewKey): Promise<void> {
  const { body } = await createApiKey(db, world, environment, { key, author: commandAuthor(), idempotency: undefined })
  print(`${body.key}`)
  print(`Environment: ${environment.name}. Id: ${body._id}. The key is shown only once.`)
}

async function list({ print }: Terminal, { db, world }: Store, environment: Environment): Promise<void> {
  for (const key of await listApiKeys(db, environment, { offset: 0, limit: keysListedMax })) {
    const { allowedAddresses: allowed, ratePerSecond: rate, lastUsedAt } = key
    const may = `${key.scopes.join(',')}${key.signing ? ',signing' : ''}`
    const limits = `${allowed === undefined ? '' : `  from ${allowed.join(',')}`}${rate === undefined ? '' : `  ${rate}/s`}`
    const used = lastUsedAt === undefined ? 'never used' : `used ${lastUsedAt}`
    print(`${key._id}  …${key.hint}  ${may}${limits}  ${stateOf(key, world.now())}  ${used}  ${visible(key.name)}`)
  }
}

function stateOf(key: ApiKey, now: Date): string {
  if (key.revokedAt !== undefined) return `revoked ${key.revokedAt}`
  if (key.expiresAt === undefined) return 'valid'
  return `${new Date(key.expiresAt) <= now ? 'expired' : 'expires'} ${key.expiresAt}`
}

async function rotate(
  { print }: Terminal,
  { db, world }: Store,
  environment: Environment,
  { id, overlapSeconds, key }: { id: string; overlapSeconds: number; key: NewKey },
): Promise<void> {
  const call = { id, overlapSeconds, expiresAt: key.expiresAt, author: commandAuthor(), idempotency: undefined }
  const { body } = await rotateApiKey(db, world, environment, call)
  const until = new Date(world.now().getTime() + overlapSeconds * 1000).toISOString()
  print(`${body.key}`)
  print(`Environment: ${environment.name}. Id: ${body._id}. It replaces ${id}. The key is shown only once.`)
  print(overlapSeconds === 0 ? 'The old key is revoked.' : `The old key works until ${until} at the latest.`)
}

async function revoke({ print }: Terminal, { db, world }: Store, environment: Environment, id: string): Promise<void> {
  await removeApiKey(db, world, environment, { id, author: commandAuthor(), idempotency: undefined })
  print(`The key ${id} is revoked.`)
}
