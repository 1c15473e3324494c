// What every start makes sure of: one organization, its two environments, their built-in integrations and their keys.
import { auditAll } from '../../commit/audited.ts'
import type { Db, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { electPrimary } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import { hashOfApiKey, hintOfApiKey, newApiKey } from '../../domain/operate/api-key.ts'
import type { Author, Change } from '../../domain/operate/audit.ts'
import { recordOfApiKey } from '../../domain/operate/audit-records.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { formOf, UnsealError } from '../../domain/operate/sealed.ts'
import { platformEmail } from '../../providers/email/platform-email.ts'
import {
  listIntegrationStatuses,
  listIntegrations,
  lockIntegrations,
  movePrimary,
  updateIntegration,
} from '../../store/integrations/integrations.ts'
import {
  insertApiKey,
  listApiKeys,
  listConfiguredKeys,
  reinstateConfiguredKey,
  revokeConfiguredKeysBut,
  sealApiKey,
} from '../../store/operate/api-keys.ts'
import { ensureAuditKey } from '../../store/operate/audit-key.ts'
import { findEncryptionCheck, insertInstallation, listEnvironments } from '../../store/operate/installation.ts'
import { insertOrganization } from '../../store/operate/organizations.ts'
import type { World } from '../../world/world.ts'
import { earlierOf, integrationChange } from '../integrations/audit-integration.ts'
import { makeEnvironment } from './make-environment.ts'

export interface FirstStart {
  /** Set at the first start without POSTHORN_API_KEY: the only time the key is known. */
  readonly newKey: string | undefined
}

/** This node cannot work with this database; the message says what to fix. */
export class StartError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartError'
  }
}

/** Of the settings of a start: one key, or two while it is being changed. */
type GivenKeys = string | readonly string[] | undefined

/** Nodes that start at once take turns. */
const firstStartLock = 7_071_956
/** The content of the sealed check value, and the name it is sealed under. */
const checkText = 'posthorn'
const checkScope = 'installation'
const checkRecord = 'check'

/** What a command needs before it can work: the installation, sealed with a key of this node. No key is created. */
export async function ensureInstallation(db: Db, world: World): Promise<void> {
  await db.transaction((tx) => makeInstallation(tx, world))
}

export async function ensureFirstStart(
  db: Db,
  world: World,
  keys: { development: GivenKeys; production: GivenKeys },
  /** `mailIsReal`: the operator's mail server sends what the built-in e-mail would otherwise keep. */
  options: { mailIsReal: boolean } = { mailIsReal: false },
): Promise<FirstStart> {
  return db.transaction(async (tx) => {
    await makeInstallation(tx, world)
    const [development, production] = await listEnvironments(tx)
    if (development === undefined || production === undefined) throw new Error('The environments are missing')
    const ofMail = await fitBuiltInMail(tx, world, production, options.mailIsReal)
    const ofDevelopment = await fixKeys(tx, world, development, keys.development, 'POSTHORN_API_KEY')
    const ofProduction = await fixKeys(tx, world, production, keys.production, 'POSTHORN_API_KEY_2')
    const first = await addFirstKey(tx, world, development)
    await auditAll(tx, world, development, settingsAuthor, [...ofDevelopment, ...keyChanges([], first?.stored ?? [])])
    await auditAll(tx, world, production, settingsAuthor, [...ofMail, ...ofProduction])
    return { newKey: first?.key }
  })
}

/** Where no node is left that would write entries without a keyed hash: see the form of sealed values. */
async function keyAuditLogs(tx: Tx, world: World): Promise<void> {
  if (world.sealer.form() !== 2) return
  for (const environment of await listEnvironments(tx)) await ensureAuditKey(tx, world.sealer, environment)
}

/** Who changes what the settings of a start say otherwise. */
const settingsAuthor: Author = { keyId: 'start', keyName: 'Startup settings', address: '', requestId: null }

async function addFirstKey(
  tx: Tx,
  world: World,
  development: Environment,
): Promise<{ key: string; stored: ApiKey[] } | undefined> {
  // Revoked keys count: a start must not reopen what was closed on purpose.
  if ((await listApiKeys(tx, development, { offset: 0, limit: 1 })).length > 0) return undefined
  const key = newApiKey()
  const stored = await addKey(tx, world, development, key, { name: 'First key', configured: false })
  return { key, stored: stored === undefined ? [] : [stored] }
}

async function makeInstallation(tx: Tx, world: World): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${firstStartLock})`)
  const check = await findEncryptionCheck(tx)
  if (check === undefined) {
    world.sealer.sealIn(2)
    await createInstallation(tx, world)
  } else {
    refuseOtherKey(world, check)
    // No older node can open values in the second format: `posthorn reseal` reports when none in the first is left.
    world.sealer.sealIn(formOf(check) ?? 1)
  }
  await keyAuditLogs(tx, world)
}

async function createInstallation(tx: Tx, world: World): Promise<void> {
  const now = world.now()
  await insertInstallation(tx, sealedCheck(world), now)
  const organizationId = world.newId(now)
  await insertOrganization(tx, { id: organizationId, name: 'Posthorn', now })
  const development = { id: world.newId(now), organizationId, name: 'Development' }
  const production = { id: world.newId(now), organizationId, name: 'Production' }
  for (const environment of [development, production]) {
    await makeEnvironment(tx, world, environment, {
      parentId: environment === production ? development.id : null,
      captures: environment === development,
    })
  }
}

/**
 * In Production the built-in e-mail is on once it can really send. If it was switched off, it stays off; if it is on
 * without a mail server, a warning is logged, since what it captures reaches no one.
 */
async function fitBuiltInMail(tx: Tx, world: World, production: Environment, mailIsReal: boolean): Promise<Change[]> {
  await lockIntegrations(tx, production)
  const integrations = await listIntegrations(tx, world.sealer, production, { activeOnly: false })
  const mail = integrations.find(({ providerId }) => providerId === platformEmail.id)
  if (mail === undefined) return []
  if (mail.active && !mailIsReal) {
    world.log.warn(
      { environment: production.name, integration: mail.identifier },
      'E-mail of this integration is captured, not sent: POSTHORN_SMTP_URL is not set',
    )
  }
  const isUntouched = mail.createdAt === mail.updatedAt
  if (mail.active || !mailIsReal || !isUntouched) return []
  const before = await earlierOf(tx, production, mail)
  const now = world.now()
  await updateIntegration(tx, world.sealer, production, { ...mail, active: true }, now)
  const ofChannel = (await listIntegrationStatuses(tx, production)).filter(({ channel }) => channel === mail.channel)
  const primaryId = electPrimary(ofChannel)
  await movePrimary(tx, production, { channel: mail.channel, to: primaryId, now })
  const after = { ...mail, active: true, primary: primaryId === mail._id }
  return [await integrationChange(tx, production, { action: 'change', before, after })]
}

/** What the installation stores to verify that a node has the right key. */
export function sealedCheck(world: World): Buffer {
  return world.sealer.seal(checkScope, 'installation', checkRecord, checkText)
}

/** Whether one of the keys sealed the check value of an installation. */
export function opensCheck(sealer: Sealer, check: Buffer): boolean {
  try {
    sealer.open(checkScope, 'installation', checkRecord, check)
    return true
  } catch (error) {
    if (error instanceof UnsealError) return false
    throw error
  }
}

function refuseOtherKey(world: World, check: Buffer): void {
  if (!opensCheck(world.sealer, check)) {
    throw new StartError(
      'This database was encrypted with another key. Set POSTHORN_ENCRYPTION_KEY to the key of the first node ' +
        '(its file encryption.key, or the variable it was started with). While the key is being changed, ' +
        'POSTHORN_ENCRYPTION_KEY_PREVIOUS must contain the previous one.',
    )
  }
}

/** The configured keys are the environment's keys; those that were configured before stop working. */
async function fixKeys(
  tx: Tx,
  world: World,
  environment: Environment,
  given: GivenKeys,
  variable: string,
): Promise<Change[]> {
  const keys = [given ?? []].flat()
  if (keys.length === 0) return []
  const hashes = keys.map(hashOfApiKey)
  const before = await listConfiguredKeys(tx, environment, hashes)
  await revokeConfiguredKeysBut(tx, environment, hashes, world.now())
  for (const key of keys) {
    const hash = hashOfApiKey(key)
    const sealedKey = sealApiKey(world.sealer, environment, { key, hash })
    const isThere = await reinstateConfiguredKey(tx, environment, { hash, sealedKey })
    if (!isThere && !(await addKey(tx, world, environment, key, { name: variable, configured: true }))) {
      throw new StartError(
        `${variable} is a key that was revoked, or that belongs to another environment; choose another one`,
      )
    }
  }
  return keyChanges(before, await listConfiguredKeys(tx, environment, hashes))
}

function keyChanges(before: readonly ApiKey[], after: readonly ApiKey[]): Change[] {
  const known = new Map(before.map((key) => [key._id, key]))
  return after.map((key) => {
    const was = known.get(key._id)
    const isRevoked = was?.revokedAt === undefined && key.revokedAt !== undefined
    return {
      kind: 'api-key',
      id: key._id,
      name: key.name,
      action: was === undefined ? 'create' : isRevoked ? 'revoke' : 'change',
      // Giving an earlier key its copy changes nothing about its permissions.
      before: was && recordOfApiKey({ ...was, signing: key.signing }),
      after: recordOfApiKey(key),
    }
  })
}

async function addKey(
  tx: Tx,
  world: World,
  environment: Environment,
  key: string,
  how: { name: string; configured: boolean },
): Promise<ApiKey | undefined> {
  const now = world.now()
  const hash = hashOfApiKey(key)
  return insertApiKey(tx, environment, {
    ...how,
    id: world.newId(now),
    hash,
    // The first key and those of the settings are what code that signs is given.
    sealedKey: sealApiKey(world.sealer, environment, { key, hash }),
    hint: hintOfApiKey(key),
    scopes: ['full'],
    expiresAt: null,
    now,
  })
}
