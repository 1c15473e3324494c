// What a subscriber can be reached by at one provider, and how new credentials join the ones already there.

const chatProviderIds = [
  'slack',
  'discord',
  'msteams',
  'mattermost',
  'ryver',
  'zulip',
  'grafana-on-call',
  'getstream',
  'rocket-chat',
  'whatsapp-business',
  'chat-webhook',
  'platform-slack',
  'telegram',
]
const pushProviderIds = new Set([
  'fcm',
  'apns',
  'expo',
  'one-signal',
  'pushpad',
  'push-webhook',
  'pusher-beams',
  'appio',
  'web-push',
])

/**
 * Whose entries a subscriber may hold; `novu-slack` is another word for `platform-slack`. Providers of the operator's own
 * join before the service starts.
 */
export const channelProviderIds: string[] = [...chatProviderIds, ...pushProviderIds, 'novu-slack']

export function joinChannelProviders(id: string, channel: 'chat' | 'push'): void {
  if (channelProviderIds.includes(id)) return
  channelProviderIds.push(id)
  if (channel === 'push') pushProviderIds.add(id)
}

/** An entry is for chat or for push; its provider determines which. */
export const channelOfEntry = ({ providerId }: { providerId: string }): 'chat' | 'push' =>
  pushProviderIds.has(providerId) ? 'push' : 'chat'

export interface ChannelCredentials {
  readonly webhookUrl?: string
  readonly channel?: string
  readonly deviceTokens?: readonly string[]
  readonly alertUid?: string
  readonly title?: string
  readonly imageUrl?: string
  readonly state?: string
  readonly externalUrl?: string
}

export interface ChannelSettings {
  readonly providerId: string
  readonly integrationIdentifier?: string
  readonly credentials: ChannelCredentials
  /** Empty until an integration of the provider exists. */
  readonly _integrationId: string
}

/** More devices than a person has; the oldest are the likeliest to be gone. */
export const deviceTokensMax = 100

const members = ['webhookUrl', 'channel', 'alertUid', 'title', 'imageUrl', 'state', 'externalUrl'] as const

/** Device tokens are appended, each once, the newest kept; other given fields are replaced, omitted ones unchanged. */
export function mergeChannelCredentials(before: ChannelCredentials, given: ChannelCredentials): ChannelCredentials {
  const merged: Record<string, unknown> = {}
  for (const member of members) {
    const value = given[member] ?? before[member]
    if (value !== undefined) merged[member] = value
  }
  if (before.deviceTokens !== undefined || given.deviceTokens !== undefined) {
    const tokens = new Set([...(before.deviceTokens ?? []), ...(given.deviceTokens ?? [])])
    merged['deviceTokens'] = [...tokens].slice(-deviceTokensMax)
  }
  return merged
}
