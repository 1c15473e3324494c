// The chat step: one message a channel entry, by the integration that the entry belongs to.
import { isOnHost } from '../domain/delivery/host-names.ts'
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { MessageDraft } from '../domain/messages/message.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { withProviderOverrides } from './channel-overrides.ts'
import { orContentFailed } from './content-failed.ts'
import type { Entry } from './entries.ts'
import { bounded, bucketData, entriesOf, isRequested } from './entries.ts'
import type { OverrideFields } from './override-fields.ts'
import { hasControls, optional, overrideFields } from './override-fields.ts'
import { payloadPhone } from './sms.ts'
import type { Step, StepInput } from './step.ts'
import { metadataOf, renderedText, textMistakes } from './text-content.ts'

/** Reached by their number: no entry is needed. */
const phoneProviderId = 'whatsapp-business'
const addressLengthMax = 2_048

const noEntry = {
  errorId: 'no_subscriber_chat_channel_id',
  errorText: 'Subscriber does not have active chat channel id',
}
const noNumber = {
  errorId: 'no_subscriber_chat_phone_number',
  errorText: 'Subscriber does not have phone number specified',
}

/** The recipient of one message. */
interface Place {
  readonly entry: Entry
  readonly webhookUrl?: string
  readonly channel?: string
  readonly phone?: string
}

export const chat: Step = {
  type: 'chat',

  mistakes: ({ template }) => textMistakes(template, 'a chat message'),

  decide: (input) =>
    orContentFailed(input.now, () => {
      const { now, event } = input
      const { content } = renderedText(input)
      const bucket = overrideFields(event.overrides, 'chat')
      const found = entriesOf(input, 'chat', bucket)
      const entries = [...found.usable, ...phoneEntries(input, bucket, found.usable)]
      const placed = entries.map((entry) => placeOf(input, entry))
      const places = placed.flatMap((place) => ('code' in place ? [] : [place]))
      const missing = placed.flatMap((place) => ('code' in place ? [place] : []))
      const skipped = [...found.details, ...missing]
      if (places.length > 0) {
        const messages = draftsOf(input, content, places)
        const created = messages.map(() => detail(now, 'messageCreated'))
        const some = skipped.length === 0 ? [] : [detail(now, 'someChatSkipped')]
        const ignored = ignoresAddress(event.payload, places) ? [detail(now, 'payloadAddressIgnored')] : []
        return { kind: 'send', messages, details: [...created, ...skipped, ...some, ...ignored] }
      }
      if (entries.length === 0 && skipped.length > 0) return { kind: 'fail', details: skipped, stops: false }
      const unused =
        placed.some((place) => 'code' in place && place.code === 'noWebhookUrl') && namesAddress(event.payload)
      const ignored = unused ? [detail(now, 'payloadAddressIgnored')] : []
      const why = skipped.length > 0 ? [...skipped, ...ignored] : [detail(now, 'noChannel')]
      const lacksNumber = missing.length > 0 && missing.every(({ code }) => code === 'noPhone')
      return {
        kind: 'unreachable',
        message: { target: '', channel: 'chat', content },
        error: lacksNumber ? noNumber : noEntry,
        details: [detail(now, 'messageCreated'), ...why],
      }
    }),
}

/** The newest of those that reach people by their number, for whoever has no entry of it. */
function phoneEntries({ integrations }: StepInput, bucket: OverrideFields, known: readonly Entry[]): Entry[] {
  if (known.some(({ integration }) => integration.providerId === phoneProviderId)) return []
  const integration = integrations.findLast(
    ({ providerId, identifier }) => providerId === phoneProviderId && isRequested(bucket, identifier),
  )
  return integration === undefined ? [] : [{ credentials: {}, integration }]
}

/** Or why there is none. */
function placeOf({ event, subscriber, now }: StepInput, entry: Entry): Place | StoredDetail {
  const { providerId } = entry.integration
  if (providerId === phoneProviderId) {
    const phone = payloadPhone(event.payload) ?? subscriber.phone?.trim() ?? ''
    if (phone !== '') return { entry, phone }
    return detail(now, 'noPhone', { providerId, words: 'Subscriber is missing a phone number' })
  }
  const chosen = chosenAddress(event.payload, entry)
  if (chosen.kind === 'refused') return detail(now, 'payloadAddressRefused', { providerId })
  const webhookUrl = chosen.kind === 'chosen' ? chosen.address : entry.credentials.webhookUrl
  const { channel } = entry.credentials
  const account = entry.integration.credentials
  const hasPlace = [webhookUrl, channel, account.webhookUrl, account.channelId].some((place) => (place ?? '') !== '')
  if (!hasPlace) return detail(now, 'noWebhookUrl', { providerId })
  return { entry, ...optional('webhookUrl', webhookUrl), ...optional('channel', channel) }
}

/** Refused: it is on a host that its account does not list. */
type ChosenAddress = { readonly kind: 'none' | 'refused' } | { readonly kind: 'chosen'; readonly address: string }

/**
 * The URL in the payload, if its account lets payloads choose: payloads contain what end users wrote. Whether it may be
 * called is decided by the network guard.
 */
function chosenAddress(payload: Readonly<Record<string, unknown>>, { integration }: Entry): ChosenAddress {
  const hosts = integration.configurations?.payloadWebhookHosts ?? []
  const address = hosts.length === 0 ? undefined : payloadAddress(payload)
  if (address === undefined) return { kind: 'none' }
  return isOnHost(new URL(address), hosts) ? { kind: 'chosen', address } : { kind: 'refused' }
}

const namesAddress = (payload: Readonly<Record<string, unknown>>): boolean =>
  Object.hasOwn(payload, 'webhookUrl') &&
  typeof payload['webhookUrl'] === 'string' &&
  payload['webhookUrl'].trim() !== ''

/** Reported, as the author of the payload may have meant it. */
const ignoresAddress = (payload: Readonly<Record<string, unknown>>, places: readonly Place[]): boolean =>
  namesAddress(payload) &&
  places.some(({ webhookUrl, entry }) => webhookUrl !== undefined && webhookUrl === entry.credentials.webhookUrl)

function payloadAddress(payload: Readonly<Record<string, unknown>>): string | undefined {
  const given = Object.hasOwn(payload, 'webhookUrl') ? payload['webhookUrl'] : undefined
  if (typeof given !== 'string' || given.trim() === '') return undefined
  const address = given.trim()
  const isGood = address.length <= addressLengthMax && !hasControls(address) && /^https?:\/\//i.test(address)
  if (isGood && URL.canParse(address)) return address
  throw new RenderError('payload.webhookUrl', `must be an http(s) URL of at most ${addressLengthMax} characters`)
}

function draftsOf(input: StepInput, content: string, places: readonly Place[]): MessageDraft[] {
  const customData = bucketData(overrideFields(input.event.overrides, 'chat'))
  const shared = bounded(
    withProviderOverrides(
      input,
      { content, entry: {}, metadata: metadataOf(input), ...optional('customData', customData) },
      { channel: 'chat', members: new Set() },
    ),
  )
  return places.map(({ entry, webhookUrl, channel, phone }) => {
    const { webhookUrl: _, channel: __, deviceTokens: ___, ...others } = entry.credentials
    const { _id } = entry.integration
    return {
      target: _id,
      channel: 'chat',
      content,
      ...optional('phone', phone),
      ...optional('directWebhookUrl', webhookUrl),
      integrationId: _id,
      envelope: {
        ...shared,
        entry: others,
        ...optional('webhookUrl', webhookUrl),
        ...optional('channel', channel),
        ...optional('phone', phone),
      },
    }
  })
}
