// The chat and push entries of a subscriber: each belongs to one integration, and only that one can send to it.
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { Fields } from '../domain/merged.ts'
import { merged } from '../domain/merged.ts'
import type { ChannelSettings } from '../domain/people/channel-settings.ts'
import { channelOfEntry } from '../domain/people/channel-settings.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { ownMembers } from './channel-overrides.ts'
import type { OverrideFields } from './override-fields.ts'
import type { ActiveIntegration, StepInput } from './step.ts'

export interface Entry {
  readonly credentials: ChannelSettings['credentials']
  readonly integration: ActiveIntegration
}

export interface FoundEntries {
  /** Those whose integration can send. */
  readonly usable: readonly Entry[]
  /** One a further entry: its integration is gone or inactive. */
  readonly details: readonly StoredDetail[]
}

/** Where the trigger names an integration, only of that one. */
export function entriesOf(
  { channels, integrations, now }: StepInput,
  channel: 'chat' | 'push',
  bucket: OverrideFields,
): FoundEntries {
  const usable: Entry[] = []
  const details: StoredDetail[] = []
  for (const entry of channels) {
    const { providerId, integrationIdentifier, credentials, _integrationId } = entry
    if (channelOfEntry(entry) !== channel) continue
    if (!isRequested(bucket, integrationIdentifier)) continue
    const integration = integrations.find((one) => one._id === _integrationId)
    if (integration !== undefined) usable.push({ credentials, integration })
    else details.push(detail(now, 'noIntegration', { providerId, raw: { integrationIdentifier } }))
  }
  return { usable, details }
}

/** Whether the trigger names this integration, or none. */
export function isRequested(bucket: OverrideFields, identifier: string | undefined): boolean {
  const requested = bucket.value('integrationIdentifier')
  return typeof requested !== 'string' || requested === '' || requested === identifier
}

const own = new Set(ownMembers)

/** All of the bucket is for the provider, but for what is for us. */
export function bucketData(bucket: OverrideFields): Fields | undefined {
  const data = merged(bucket.object('customData') ?? {}, bucket.without(own))
  return Object.keys(data).length === 0 ? undefined : data
}

/** Stored with each message of a job, of which there may be a hundred; push services accept 4 KB in total. */
const overridesBytesMax = 32 * 1024

/** Throws a RenderError if the trigger adds too much. */
export function bounded<Envelope extends WithProviderOverrides>(envelope: Envelope): Envelope {
  const { customData, forProviders } = envelope
  if (customData === undefined && forProviders === undefined) return envelope
  const bytes = Buffer.byteLength(JSON.stringify([customData, forProviders]))
  if (bytes <= overridesBytesMax) return envelope
  throw new RenderError('overrides', `add ${bytes} bytes to each message; at most ${overridesBytesMax} are allowed`)
}

interface WithProviderOverrides {
  readonly customData?: Fields
  readonly forProviders?: object
}
