// An integration: an account at a provider, in one environment; and which of a channel's is the primary one.
import type { StepFilter } from '../conditions/condition.ts'

export const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const
export type Channel = (typeof channels)[number]

export const isChannel = (type: string): type is Channel => (channels as readonly string[]).includes(type)

/** The channels of which one integration is the default choice. */
export const channelsWithPrimary: ReadonlySet<Channel> = new Set<Channel>(['email', 'sms'])

/** An environment holds no more than this, so that a list of all of them is a safe answer. */
export const integrationsMax = 500
/** Sealed and opened with every read; a chain of certificates fits well within. */
export const credentialsBytesMax = 64 * 1024
export const configurationsBytesMax = 16 * 1024

export const credentialTexts = [
  'apiKey',
  'user',
  'secretKey',
  'domain',
  'password',
  'host',
  'port',
  'region',
  'accountSid',
  'messageProfileId',
  'token',
  'from',
  'senderName',
  'projectName',
  'applicationId',
  'clientId',
  'baseUrl',
  'webhookUrl',
  'redirectUrl',
  'serviceAccount',
  'ipPoolName',
  'apiKeyRequestHeader',
  'secretKeyRequestHeader',
  'idPath',
  'datePath',
  'apiToken',
  'authenticationTokenKey',
  'instanceId',
  'alertUid',
  'title',
  'imageUrl',
  'state',
  'externalLink',
  'channelId',
  'phoneNumberIdentification',
  'accessKey',
  'appSid',
  'senderId',
  'AppIOBaseUrl',
] as const
export const credentialFlags = ['secure', 'requireTls', 'ignoreTls', 'hmac', 'authenticateByToken'] as const
export const credentialObjects = ['tlsOptions'] as const

export type Credentials = { readonly [Key in (typeof credentialTexts)[number]]?: string } & {
  readonly [Key in (typeof credentialFlags)[number]]?: boolean
} & { readonly [Key in (typeof credentialObjects)[number]]?: Readonly<Record<string, unknown>> }

export type CredentialKey = keyof Credentials

const credentialKeys: ReadonlySet<string> = new Set([...credentialTexts, ...credentialFlags, ...credentialObjects])

/** What happens to a message that may have been sent, if the provider cannot recognise a repeat. */
const unsurePolicies = ['retry', 'skip'] as const
export type UnsurePolicy = (typeof unsurePolicies)[number]

export interface Configurations {
  readonly inboundWebhookEnabled?: boolean
  readonly inboundWebhookSigningKey?: string
  /** Where replies to its e-mails are received: addresses below it identify single messages. */
  readonly inboundParseDomain?: string
  /** What would be sent is captured in the outbox instead: no provider is called, and no credentials are needed. */
  readonly capture?: boolean
  /** Whether a message that may have been sent is sent again, if the provider cannot recognise a repeat. */
  readonly whenUnsure?: UnsurePolicy | null
  /** Messages a second that all nodes together send through it. */
  readonly maxPerSecond?: number | null
  /** Chat: hosts that the `webhookUrl` of a payload may name. Without any, no payload chooses where a message goes. */
  readonly payloadWebhookHosts?: readonly string[] | null
  readonly [name: string]: unknown
}

/** Members that the interface does not have: a client that does not know them leaves them out, and they stay. */
const ownConfigurations: ReadonlySet<string> = new Set([
  'inboundParseDomain',
  'retry',
  'capture',
  'whenUnsure',
  'maxPerSecond',
  'payloadWebhookHosts',
])

const configurationKeys: ReadonlySet<string> = new Set([
  'inboundWebhookEnabled',
  'inboundWebhookSigningKey',
  ...ownConfigurations,
])

export interface Integration {
  readonly _id: string
  readonly _environmentId: string
  readonly _organizationId: string
  readonly name: string
  readonly identifier: string
  readonly providerId: string
  readonly channel: Channel
  readonly credentials: Credentials
  readonly configurations?: Configurations
  readonly active: boolean
  readonly deleted: boolean
  readonly deletedAt?: string
  readonly deletedBy?: string
  readonly primary: boolean
  readonly conditions: readonly StepFilter[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** The members the interface knows; others are ignored. */
export function knownCredentials(given: Credentials): Credentials {
  return Object.fromEntries(Object.entries(given).filter(([key]) => credentialKeys.has(key)))
}

/** The members we know; null clears one. */
export function knownConfigurations(given: Configurations): Configurations {
  return Object.fromEntries(
    Object.entries(given).filter(([key, value]) => configurationKeys.has(key) && value !== null),
  )
}

/** Replaced as a whole, except for fields that are ours and were not given. */
export function changedConfigurations(stored: Configurations | undefined, given: Configurations): Configurations {
  const kept = Object.entries(stored ?? {}).filter(([key]) => ownConfigurations.has(key) && !Object.hasOwn(given, key))
  return { ...Object.fromEntries(kept), ...knownConfigurations(given) }
}

/** Our own providers: the in-app feed, and e-mail and SMS that are kept instead of sent. */
export function isBuiltIn(providerId: string): boolean {
  return providerId === 'platform' || providerId.startsWith('platform-')
}

/** Whether it was switched to keep what it would send. */
export function isCapturing({ configurations }: { readonly configurations?: Configurations }): boolean {
  return configurations?.capture === true
}

/** What decides who is primary. */
export interface IntegrationStatus {
  readonly id: string
  readonly providerId: string
  readonly channel: Channel
  readonly active: boolean
  readonly primary: boolean
  readonly hasConditions: boolean
}

/** Whether it can be the default choice: active, and for every message. */
export function canBePrimary(status: IntegrationStatus): boolean {
  return channelsWithPrimary.has(status.channel) && status.active && !status.hasConditions
}

/**
 * Which integration of one channel is primary. `integrationStatuses` are oldest first; `newcomerId` is the one that has
 * just become eligible. A built-in one is replaced only by the first real provider: one that was chosen manually next
 * to real ones stays.
 */
export function electPrimary(
  integrationStatuses: readonly IntegrationStatus[],
  newcomerId?: string,
): string | undefined {
  const fit = integrationStatuses.filter(canBePrimary)
  const [firstReal, ...furtherReal] = fit.filter((status) => !isBuiltIn(status.providerId))
  const current = fit.find((status) => status.primary)
  if (current === undefined) return firstReal?.id ?? fit[0]?.id
  const isFirstReal = newcomerId !== undefined && firstReal?.id === newcomerId && furtherReal.length === 0
  return isBuiltIn(current.providerId) && isFirstReal ? newcomerId : current.id
}

const slugLengthMax = 100

/** A name as part of an identifier: `Größe 1` is `grosse-1`, `Ärger` is `arger`. Empty when nothing of it is left. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, slugLengthMax)
    .replaceAll(/^-+|-+$/g, '')
}
