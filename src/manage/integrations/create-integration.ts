// Creating an integration.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { StepFilter } from '../../domain/conditions/condition.ts'
import { arrangedFilter } from '../../domain/conditions/condition.ts'
import type {
  Channel,
  Configurations,
  Credentials,
  Integration,
  IntegrationStatus,
} from '../../domain/delivery/integration.ts'
import {
  canBePrimary,
  isCapturing,
  knownConfigurations,
  knownCredentials,
  slugOf,
} from '../../domain/delivery/integration.ts'
import type { Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Provider } from '../../providers/provider.ts'
import type { NewIntegration } from '../../store/integrations/integrations.ts'
import {
  findIntegration,
  insertIntegration,
  listIntegrationStatuses,
  lockIntegrations,
} from '../../store/integrations/integrations.ts'
import type { World } from '../../world/world.ts'
import { answeredBefore } from './answered-before.ts'
import type { Earlier } from './audit-integration.ts'
import { auditIntegration } from './audit-integration.ts'
import {
  askProvider,
  identifierTaken,
  providerFor,
  refuseHidden,
  refuseIncomplete,
  refuseOneMore,
  refuseOtherEnvironment,
  refuseOversize,
  settlePrimary,
} from './integration-rules.ts'

export interface CreateIntegration {
  readonly providerId: string
  readonly channel: Channel
  readonly name?: string
  readonly identifier?: string
  readonly _environmentId?: string
  readonly credentials?: Credentials
  readonly active?: boolean
  readonly check?: boolean
  readonly conditions?: readonly StepFilter[]
  readonly configurations?: Configurations
}

export async function createIntegration(
  db: Db,
  world: World,
  principal: Principal,
  call: { integration: CreateIntegration; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<Integration>> {
  const { integration: given, idempotency } = call
  refuseOtherEnvironment(principal, given._environmentId)
  refuseOversize(given)
  const provider = providerFor(given.channel, given.providerId)
  refuseHidden(given)
  const credentials = knownCredentials(given.credentials ?? {})
  // An integration that calls no provider needs no account there.
  if (given.active === true && !isCapturing(given)) refuseIncomplete(provider, credentials)
  if (given.check === true) {
    const before = await answeredBefore<Integration>(db, world, principal.environment, idempotency)
    if (before !== undefined) return before
    await askProvider(world, provider, credentials)
  }
  return once(db, world, principal.environment, idempotency, async (tx) => {
    const integration = newIntegration(world, provider, { ...given, credentials })
    const stored = await addIntegration(tx, world, principal, provider, integration)
    const change = { action: 'create', before: nothing, after: stored } as const
    await auditIntegration(tx, world, principal.environment, call.author, change)
    return created(stored)
  })
}

const nothing: Earlier = { integration: undefined, primaryId: undefined }

function newIntegration(
  world: World,
  provider: Provider,
  given: CreateIntegration & { credentials: Credentials },
): NewIntegration {
  const now = world.now()
  const id = world.newId(now)
  const name = given.name === undefined || given.name === '' ? provider.name : given.name
  // The end of an id is random, and short enough to be read out.
  const generated = `${slugOf(name) || provider.id}-${id.slice(-8)}`
  return {
    id,
    name,
    identifier: given.identifier ?? generated,
    providerId: provider.id,
    channel: provider.channel,
    credentials: given.credentials,
    ...(given.configurations === undefined ? {} : { configurations: knownConfigurations(given.configurations) }),
    conditions: (given.conditions ?? []).map(arrangedFilter),
    active: given.active ?? false,
    primary: false,
    now,
  }
}

async function addIntegration(
  tx: Tx,
  world: World,
  { environment }: Principal,
  provider: Provider,
  integration: NewIntegration,
): Promise<Integration> {
  await lockIntegrations(tx, environment)
  const integrationStatuses = await listIntegrationStatuses(tx, environment)
  refuseOneMore(integrationStatuses, provider)
  if (!(await insertIntegration(tx, world.sealer, environment, integration))) throw identifierTaken()
  const added: IntegrationStatus = { ...integration, hasConditions: integration.conditions.length > 0 }
  await settlePrimary(tx, environment, {
    channel: integration.channel,
    integrationStatuses: [...integrationStatuses, added],
    newcomerId: canBePrimary(added) ? added.id : undefined,
    now: integration.now,
  })
  const stored = await findIntegration(tx, world.sealer, environment, integration.id)
  if (stored === undefined) throw new Error('The integration just created is missing')
  return stored
}
