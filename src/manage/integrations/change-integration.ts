// Changing an integration: its settings, its being primary, its end.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import { arrangedFilter } from '../../domain/conditions/condition.ts'
import { unhidden } from '../../domain/delivery/hidden-secrets.ts'
import type { Integration, IntegrationStatus } from '../../domain/delivery/integration.ts'
import {
  canBePrimary,
  changedConfigurations,
  channelsWithPrimary,
  isCapturing,
  knownCredentials,
} from '../../domain/delivery/integration.ts'
import type { Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { badRequest, conflict } from '../../domain/problem.ts'
import {
  deleteIntegration,
  findIntegration,
  isIdentifierTaken,
  listIntegrationStatuses,
  listIntegrations,
  lockIntegrations,
  movePrimary,
  updateIntegration,
} from '../../store/integrations/integrations.ts'
import type { World } from '../../world/world.ts'
import { answeredBefore } from './answered-before.ts'
import { auditIntegration, auditIntegrationDeletion, earlierOf } from './audit-integration.ts'
import type { CreateIntegration } from './create-integration.ts'
import {
  askProvider,
  identifierTaken,
  providerOfStored,
  refuseHiddenElsewhere,
  refuseIncomplete,
  refuseOtherEnvironment,
  refuseOversize,
  settlePrimary,
  unknownIntegration,
} from './integration-rules.ts'

export type ChangeIntegration = Omit<CreateIntegration, 'providerId' | 'channel'>

interface Call {
  readonly id: string
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export async function changeIntegration(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { change: ChangeIntegration },
): Promise<Answer<Integration>> {
  const { environment } = principal
  refuseOtherEnvironment(principal, call.change._environmentId)
  refuseOversize(call.change)
  let checkedAt: string | undefined
  if (call.change.check === true) {
    const before = await answeredBefore<Integration>(db, world, environment, call.idempotency)
    if (before !== undefined) return before
    const stored = await findIntegration(db, world.sealer, environment, call.id)
    if (stored === undefined) throw unknownIntegration(call.id)
    await askProvider(world, providerOfStored(stored), changed(stored, call.change).credentials)
    checkedAt = stored.updatedAt
  }
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockIntegrations(tx, environment)
    const stored = await findIntegration(tx, world.sealer, environment, call.id)
    if (stored === undefined) throw unknownIntegration(call.id)
    // The provider was asked about the account as it was; what is stored must be what it approved.
    if (checkedAt !== undefined && checkedAt !== stored.updatedAt) throw changedMeanwhile(call.id)
    if (changesNothing(call.change)) return ok(stored)
    const after = changed(stored, call.change)
    if (after.active && !isCapturing(after)) refuseIncomplete(providerOfStored(after), after.credentials)
    await refuseTakenIdentifier(tx, principal, stored, after)
    const before = await earlierOf(tx, environment, stored)
    await updateIntegration(tx, world.sealer, environment, after, world.now())
    await settleAfterChange(tx, world, principal, stored, after)
    const saved = await mustFind(tx, world, principal, call.id)
    await auditIntegration(tx, world, environment, call.author, { action: 'change', before, after: saved })
    return ok(saved)
  })
}

const changedMeanwhile = (id: string) =>
  conflict(`Integration ${id} was changed while its credentials were being verified; please try again`)

/** Activates an integration and makes it its channel's primary, for every message. */
export async function makePrimary(
  db: Db,
  world: World,
  principal: Principal,
  call: Call,
): Promise<Answer<Integration>> {
  const { environment } = principal
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockIntegrations(tx, environment)
    const stored = await findIntegration(tx, world.sealer, environment, call.id)
    if (stored === undefined) throw unknownIntegration(call.id)
    if (!channelsWithPrimary.has(stored.channel)) {
      throw badRequest(`Channel ${stored.channel} does not support primary`)
    }
    if (stored.primary) return ok(stored)
    if (!isCapturing(stored)) refuseIncomplete(providerOfStored(stored), stored.credentials)
    const before = await earlierOf(tx, environment, stored)
    const now = world.now()
    await updateIntegration(tx, world.sealer, environment, { ...stored, active: true, conditions: [] }, now)
    await movePrimary(tx, environment, { channel: stored.channel, to: stored._id, now })
    const saved = await mustFind(tx, world, principal, call.id)
    await auditIntegration(tx, world, environment, call.author, { action: 'set-primary', before, after: saved })
    return ok(saved)
  })
}

/** Answers with the integrations that are left. */
export async function removeIntegration(
  db: Db,
  world: World,
  principal: Principal,
  call: Call,
): Promise<Answer<Integration[]>> {
  const { environment } = principal
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockIntegrations(tx, environment)
    const integrationStatuses = await listIntegrationStatuses(tx, environment)
    const removed = integrationStatuses.find((status) => status.id === call.id.toLowerCase())
    const stored = await findIntegration(tx, world.sealer, environment, call.id)
    if (removed === undefined || stored === undefined) throw unknownIntegration(call.id)
    const before = await earlierOf(tx, environment, stored)
    const now = world.now()
    await deleteIntegration(tx, environment, { id: removed.id, deletedBy: principal.keyId, now })
    const left = integrationStatuses.filter((status) => status !== removed)
    await settlePrimary(tx, environment, { channel: removed.channel, integrationStatuses: left, now })
    await auditIntegrationDeletion(tx, world, environment, call.author, stored, before)
    return ok(await listIntegrations(tx, world.sealer, environment, { activeOnly: false }))
  })
}

/** An empty name is no name: it is passed over, as if it had not been given. */
function changesNothing({
  name,
  identifier,
  active,
  credentials,
  conditions,
  configurations,
}: ChangeIntegration): boolean {
  const given = [name === '' ? undefined : name, identifier, active, credentials, conditions, configurations]
  return given.every((value) => value === undefined)
}

/** Credentials and conditions are replaced as a whole. */
function changed(stored: Integration, change: ChangeIntegration): Integration {
  refuseHiddenElsewhere(change.credentials ?? {}, stored.credentials)
  return {
    ...stored,
    name: change.name === undefined || change.name === '' ? stored.name : change.name,
    identifier: change.identifier ?? stored.identifier,
    active: change.active ?? stored.active,
    credentials:
      change.credentials === undefined
        ? stored.credentials
        : unhidden(knownCredentials(change.credentials), stored.credentials),
    conditions: change.conditions?.map(arrangedFilter) ?? stored.conditions,
    ...(change.configurations === undefined
      ? {}
      : {
          configurations: changedConfigurations(
            stored.configurations,
            unhidden(change.configurations, stored.configurations),
          ),
        }),
  }
}

async function refuseTakenIdentifier(
  tx: Tx,
  principal: Principal,
  stored: Integration,
  after: Integration,
): Promise<void> {
  const { identifier } = after
  if (identifier === stored.identifier) return
  if (await isIdentifierTaken(tx, principal.environment, { identifier, butFor: stored._id })) throw identifierTaken()
}

async function settleAfterChange(
  tx: Tx,
  world: World,
  { environment }: Principal,
  stored: Integration,
  after: Integration,
): Promise<void> {
  const wasFit = canBePrimary(statusOfIntegration(stored))
  const isFit = canBePrimary(statusOfIntegration(after))
  if (wasFit === isFit) return
  await settlePrimary(tx, environment, {
    channel: after.channel,
    integrationStatuses: await listIntegrationStatuses(tx, environment),
    newcomerId: isFit ? after._id : undefined,
    now: world.now(),
  })
}

function statusOfIntegration(integration: Integration): IntegrationStatus {
  return { ...integration, id: integration._id, hasConditions: integration.conditions.length > 0 }
}

async function mustFind(tx: Tx, world: World, { environment }: Principal, id: string): Promise<Integration> {
  const found = await findIntegration(tx, world.sealer, environment, id)
  if (found === undefined) throw new Error('The integration just changed is missing')
  return found
}
