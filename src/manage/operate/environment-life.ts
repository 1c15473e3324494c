// Environments come and go: create, rename, delete. The first two, which every installation has, stay as they are.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import { hashOfApiKey, hintOfApiKey, newApiKey } from '../../domain/operate/api-key.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import { recordOfApiKey } from '../../domain/operate/audit-records.ts'
import type { EnvironmentDeletion } from '../../domain/operate/environment-deletion.ts'
import { conflict, forbidden, invalidField, notFound } from '../../domain/problem.ts'
import type { Queue } from '../../queue/queue.ts'
import { insertApiKey, revokeAllApiKeys, sealApiKey } from '../../store/operate/api-keys.ts'
import { ensureAuditKey } from '../../store/operate/audit-key.ts'
import { insertDeletion } from '../../store/operate/environment-deletions.ts'
import type { EnvironmentEntry } from '../../store/operate/environment-entries.ts'
import { findEnvironmentEntry } from '../../store/operate/environment-entries.ts'
import {
  environmentsMax,
  holdsData,
  listEnvironments,
  lockEnvironment,
  lockOrganization,
  markEnvironmentDeleted,
  updateEnvironment,
} from '../../store/operate/installation.ts'
import type { World } from '../../world/world.ts'
import { makeEnvironment } from './make-environment.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** With its first key, which is shown this once. */
export type NewEnvironment = EnvironmentEntry & { readonly apiKeys: readonly { key: string; _userId: string }[] }

/** `environment` is that of the caller: the new one belongs to the same organization. */
export async function createEnvironment(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { name: string; parentId: string | undefined; color: string | undefined },
): Promise<Answer<NewEnvironment>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockOrganization(tx, environment)
    const all = await listEnvironments(tx)
    if (all.length >= environmentsMax) throw conflict(`There can be at most ${environmentsMax} environments`)
    const siblings = all.filter(({ organizationId }) => organizationId === environment.organizationId)
    if (siblings.some(({ name }) => name === call.name)) throw nameTaken(call.name)
    const { parentId } = call
    if (parentId !== undefined && !siblings.some(({ id }) => id === parentId)) {
      throw invalidField('parentId', `parentId: there is no environment ${parentId}`, parentId)
    }
    const now = world.now()
    const made = { id: world.newId(now), organizationId: environment.organizationId, name: call.name }
    await makeEnvironment(tx, world, made, { parentId: parentId ?? null, color: call.color, captures: true })
    if (world.sealer.form() === 2) await ensureAuditKey(tx, world.sealer, made)
    const key = await addFirstKey(tx, world, made, call.author)
    const after = recordOf({ name: call.name, color: call.color ?? null })
    await audit(tx, world, environment, call.author, { ...named(made), action: 'create', after })
    return created({ ...(await findEnvironmentEntry(tx, made)), apiKeys: [{ key, _userId: call.author.keyId }] })
  })
}

/** That may do everything in it; shown this once. */
export async function addFirstKey(tx: Tx, world: World, environment: Environment, author: Author): Promise<string> {
  const now = world.now()
  const key = newApiKey()
  const hash = hashOfApiKey(key)
  const stored = await insertApiKey(tx, environment, {
    id: world.newId(now),
    hash,
    sealedKey: sealApiKey(world.sealer, environment, { key, hash }),
    name: 'First key',
    hint: hintOfApiKey(key),
    scopes: ['full'],
    configured: false,
    expiresAt: null,
    now,
  })
  if (stored === undefined) throw new Error('A new API key has the hash of an existing one')
  const change = { kind: 'api-key', id: stored._id, name: stored.name, action: 'create' } as const
  await audit(tx, world, environment, author, { ...change, after: recordOfApiKey(stored) })
  return key
}

/** What is not given stays as it is. */
export async function renameEnvironment(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string; name: string | undefined; color: string | undefined },
): Promise<Answer<EnvironmentEntry>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockOrganization(tx, environment)
    const all = await listEnvironments(tx)
    throwIfNotOwn(all, environment, call.id)
    if (call.name !== undefined && call.name !== environment.name) {
      throwIfFirst(all, environment)
      const isTaken = all.some((one) => one.organizationId === environment.organizationId && one.name === call.name)
      if (isTaken) throw nameTaken(call.name)
    }
    const { before, after } = await updateEnvironment(tx, environment, call)
    const change = { ...named({ ...environment, name: after.name }), action: 'change' } as const
    await audit(tx, world, environment, call.author, { ...change, before: recordOf(before), after: recordOf(after) })
    return ok(await findEnvironmentEntry(tx, environment))
  })
}

/** From now on nothing opens it and nothing is sent; its rows go in the background. `confirm` is its name, typed again. */
export async function deleteEnvironment(
  db: Db,
  world: World,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  call: Call & { id: string; confirm: string | undefined },
): Promise<Answer<EnvironmentDeletion>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockOrganization(tx, environment)
    const all = await listEnvironments(tx)
    throwIfNotOwn(all, environment, call.id)
    throwIfFirst(all, environment)
    await lockEnvironment(tx, environment)
    // As it is called now: what the key was read with may be seconds old.
    const own = all.find(({ id }) => id === environment.id) ?? environment
    await throwIfNotConfirmed(tx, own, call.confirm)
    const now = world.now()
    if (!(await markEnvironmentDeleted(tx, environment, now))) throw notThere(call.id)
    await revokeAllApiKeys(tx, environment, now)
    const deletion = await insertDeletion(tx, own, { requestedBy: call.author.keyId, clock })
    const change = {
      ...named(own),
      action: 'delete',
      before: recordOf({ ...own, color: null }),
    } as const
    // In a log that can still be read over the API, and in its own, which is kept; the older log first, as everywhere.
    const oldest = all.find(({ organizationId }) => organizationId === environment.organizationId) ?? environment
    await audit(tx, world, oldest, call.author, change)
    await audit(tx, world, environment, call.author, change)
    return ok(deletion)
  })
}

async function throwIfNotConfirmed(tx: Tx, environment: Environment, confirm: string | undefined): Promise<void> {
  if (confirm === environment.name) return
  if (confirm !== undefined) throw invalidField('confirm', 'confirm must be the name of the environment', confirm)
  if (!(await holdsData(tx, environment))) return
  throw conflict(
    'This environment holds workflows, subscribers or events, all of which would be erased: repeat its name as `confirm`',
  )
}

/** A key opens one environment, and that is also the only one it can end. */
function throwIfNotOwn(all: readonly Environment[], own: Environment, id: string): void {
  const asked = all.find((one) => one.id === id)
  if (asked === undefined || asked.organizationId !== own.organizationId) throw notThere(id)
  if (id !== own.id) throw forbidden('An API key changes its own environment alone')
}

/** Settings of a start name these two by their order, and commands by their names. */
function throwIfFirst(all: readonly Environment[], { id, name }: Environment): void {
  if (all.slice(0, 2).some((one) => one.id === id)) {
    throw conflict(`Every installation has the environment ${name}: it keeps its name and cannot be deleted`)
  }
}

const notThere = (id: string) => notFound(`Environment with id ${id} not found`)
const nameTaken = (name: string) => conflict(`There is an environment "${name}" already`)
const named = ({ id, name }: Environment) => ({ kind: 'environment', id, name }) as const

function recordOf({ name, color }: { name: string; color: string | null }): Recorded {
  const members = { name, ...(color === null ? {} : { color }) }
  return { compared: members, shown: members }
}
