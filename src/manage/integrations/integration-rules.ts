// What an integration must be before it is stored: a known provider, a complete account, a provider that agrees.

import type { Tx } from '../../db/sql.ts'
import { hiddenNames, unhidden } from '../../domain/delivery/hidden-secrets.ts'
import type {
  Channel,
  Configurations,
  CredentialKey,
  Credentials,
  Integration,
  IntegrationStatus,
} from '../../domain/delivery/integration.ts'
import {
  channelsWithPrimary,
  configurationsBytesMax,
  credentialsBytesMax,
  electPrimary,
  integrationsMax,
} from '../../domain/delivery/integration.ts'
import { platformWord } from '../../domain/delivery/vendor.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { badRequest, conflict, forbidden, invalid, invalidField, notFound } from '../../domain/problem.ts'
import { formMistakes, withoutSecrets } from '../../providers/form.ts'
import type { Provider } from '../../providers/provider.ts'
import { nearestProvider, providerOf } from '../../providers/registry.ts'
import { movePrimary } from '../../store/integrations/integrations.ts'
import type { World } from '../../world/world.ts'

/** A vendor's words are repeated to the caller up to here. */
const wordsMax = 500

export const unknownIntegration = (id: string) => notFound(`Entity with id ${id} not found`)
export const identifierTaken = () => conflict('Integration with identifier already exists')

export function refuseOtherEnvironment(principal: Principal, environmentId: string | undefined): void {
  if (environmentId !== undefined && environmentId.toLowerCase() !== principal.environment.id) {
    throw forbidden('This API key belongs to another environment than _environmentId')
  }
}

/** The provider the caller names, by either vendor's word for our own. */
export function providerFor(channel: Channel, givenId: string): Provider {
  const id = platformWord(givenId)
  const found = providerOf(id)
  if (found?.channel === channel) return found
  const near = nearestProvider(id, channel)
  const message =
    found === undefined
      ? `providerId is unknown${near === undefined ? '' : `; did you mean ${near.id} (channel ${channel})?`}`
      : `providerId is a provider of the channel ${found.channel}, not ${channel}: set channel to ${found.channel}`
  throw invalidField('providerId', message, givenId)
}

/** A stored integration always has a provider: ids are checked on input and providers are never removed. */
export function providerOfStored(integration: Integration): Provider {
  const found = providerOf(integration.providerId)
  if (found === undefined) throw new Error(`The provider ${integration.providerId} is missing`)
  return found
}

export function refuseOversize(sent: { credentials?: Credentials; configurations?: Configurations }): void {
  const errors: FieldErrors = {}
  const limits = { credentials: credentialsBytesMax, configurations: configurationsBytesMax }
  for (const name of ['credentials', 'configurations'] as const) {
    const bytes = Buffer.byteLength(JSON.stringify(sent[name] ?? {}))
    if (bytes > limits[name]) errors[name] = { messages: [`${name} must not be larger than ${limits[name]} bytes`] }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** There is nothing yet that could be kept, and the placeholder itself would be a publicly known secret. */
export function refuseHidden(given: { credentials?: Credentials; configurations?: Configurations }): void {
  const errors: FieldErrors = {}
  for (const part of ['credentials', 'configurations'] as const) {
    for (const name of hiddenNames(given[part] ?? {})) {
      errors[`${part}.${name}`] = { messages: [`${part}.${name} was read as a hidden value: give the actual value`] }
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** Where secrets are sent, and how well they are protected on the way. */
const directing: readonly CredentialKey[] = [
  ...(['host', 'port', 'baseUrl', 'AppIOBaseUrl', 'webhookUrl', 'redirectUrl', 'domain', 'region'] as const),
  ...(['instanceId', 'apiKeyRequestHeader', 'secretKeyRequestHeader', 'authenticationTokenKey'] as const),
  ...(['authenticateByToken', 'secure', 'requireTls', 'ignoreTls', 'tlsOptions'] as const),
]

/** Who may not read a secret does not send it to a place of their own either: with another place it is given again. */
export function refuseHiddenElsewhere(given: Credentials, stored: Credentials): void {
  if (hiddenNames(given).length === 0) return
  const after = unhidden(given, stored)
  const errors: FieldErrors = {}
  for (const key of directing) {
    if (asCompared(after[key]) === asCompared(stored[key])) continue
    const path = `credentials.${key}`
    errors[path] = {
      messages: [`${path} cannot be changed while secrets are hidden: give the secrets as well`],
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

const asCompared = (value: unknown): string => (value === undefined || value === '' ? '' : JSON.stringify(value))

export function refuseIncomplete(provider: Provider, credentials: Credentials): void {
  const errors = formMistakes(provider.form, credentials)
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** Asks the provider itself. Never within a transaction: the response may take many seconds. */
export async function askProvider(world: World, provider: Provider, credentials: Credentials): Promise<void> {
  refuseIncomplete(provider, credentials)
  const given = Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== '')) as Credentials
  const result = await provider.check?.(world, given)
  if (result === undefined || result.kind === 'good') return
  const words = withoutSecrets(provider.form, credentials, result.words).slice(0, wordsMax)
  throw invalid({ [result.field === undefined ? 'check' : `credentials.${result.field}`]: { messages: [words] } })
}

/** At most this many in total, and one of each built-in provider. */
export function refuseOneMore(integrationStatuses: readonly IntegrationStatus[], provider: Provider): void {
  if (integrationStatuses.length >= integrationsMax) {
    throw invalidField('providerId', `providerId: an environment can have at most ${integrationsMax} integrations`)
  }
  if (provider.channel === 'in_app' && integrationStatuses.some((status) => status.channel === 'in_app')) {
    throw badRequest('One environment can only have one In app provider')
  }
  const isOneOnly = provider.id === 'platform-email' || provider.id === 'platform-sms'
  if (isOneOnly && integrationStatuses.some((status) => status.providerId === provider.id)) {
    throw conflict(`Integration with provider ${provider.id} already exists in this environment`)
  }
}

/** Decides again which integration of a channel is primary, from the state after the change. */
export async function settlePrimary(
  tx: Tx,
  environment: Environment,
  change: {
    channel: Channel
    integrationStatuses: readonly IntegrationStatus[]
    newcomerId?: string | undefined
    now: Date
  },
): Promise<void> {
  if (!channelsWithPrimary.has(change.channel)) return
  const ofChannel = change.integrationStatuses.filter((status) => status.channel === change.channel)
  const to = electPrimary(ofChannel, change.newcomerId)
  await movePrimary(tx, environment, { channel: change.channel, to, now: change.now })
}
