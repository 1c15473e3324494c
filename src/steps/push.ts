// The push step: one message a device token, by the integration that the token belongs to.
import { detail } from '../domain/insight/execution-detail.ts'
import type { MessageDraft } from '../domain/messages/message.ts'
import { deviceTokensMax } from '../domain/people/channel-settings.ts'
import type { TextContent } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { withProviderOverrides } from './channel-overrides.ts'
import { orContentFailed } from './content-failed.ts'
import type { Entry } from './entries.ts'
import { bounded, bucketData, entriesOf, isRequested } from './entries.ts'
import type { OverrideFields } from './override-fields.ts'
import { hasControls, optional, overrideFields } from './override-fields.ts'
import type { Step, StepInput } from './step.ts'
import { metadataOf, renderedText, textMistakes } from './text-content.ts'

/** Longer than any service's; web push subscriptions are the longest. */
const tokenLengthMax = 4_096

export const push: Step = {
  type: 'push',

  mistakes: ({ template }) => textMistakes(template, 'a push message'),

  decide: (input) =>
    orContentFailed(input.now, () => {
      const { now, event } = input
      const bucket = overrideFields(event.overrides, 'push')
      const text = renderedText(input)
      const found = entriesOf(input, 'push', bucket)
      const entries = [...found.usable, ...namedEntries(input, bucket, found.usable)]
      const messages = draftsOf(input, text, entries)
      const isEmpty = ({ credentials }: Entry): boolean => tokensIn(credentials.deviceTokens).length === 0
      const skipped = [
        ...found.details,
        ...entries
          .filter((entry) => isEmpty(entry) && namedTokens(input, entry.integration.providerId) === undefined)
          .map(({ integration }) => detail(now, 'noDeviceTokens', { providerId: integration.providerId })),
      ]
      if (messages.length > 0) {
        const some = skipped.length === 0 ? [] : [detail(now, 'somePushSkipped')]
        return { kind: 'send', messages, details: [detail(now, 'messageCreated'), ...skipped, ...some] }
      }
      if (entries.length === 0 && skipped.length > 0) return { kind: 'fail', details: skipped, stops: false }
      const message = { target: '', channel: 'push', ...text } as const
      const why = skipped.length > 0 ? skipped : [detail(now, 'noPushChannel')]
      const details = [detail(now, 'messageCreated'), ...why]
      return { kind: 'unreachable', message, error: skipped.length > 0 ? noTokens : noChannel, details }
    }),
}

const noChannel = { errorId: 'unexpected_push_error', errorText: 'Subscriber does not have a configured channel' }
const noTokens = { errorId: 'unexpected_push_error', errorText: 'Subscriber does not have a device token' }

function draftsOf(input: StepInput, { content, title = '' }: TextContent, entries: readonly Entry[]): MessageDraft[] {
  const { event, subscriber } = input
  const customData = bucketData(overrideFields(event.overrides, 'push'))
  const { target: _, ...shared } = bounded(
    withProviderOverrides(
      input,
      {
        target: '',
        title,
        content,
        subscriberId: subscriber.subscriberId,
        metadata: metadataOf(input),
        ...optional('customData', customData),
      },
      { channel: 'push', members: new Set() },
    ),
  )
  return entries.flatMap(({ credentials, integration: { _id, providerId } }) => {
    const deviceTokens = namedTokens(input, providerId) ?? tokensIn(credentials.deviceTokens)
    return deviceTokens.map((token) => ({
      target: `${_id}/${token}`,
      channel: 'push',
      content,
      title,
      deviceTokens,
      integrationId: _id,
      envelope: { ...shared, target: token },
    }))
  })
}

const tokensIn = (tokens: readonly string[] | undefined): string[] => [...new Set(tokens ?? [])].slice(-deviceTokensMax)

/** `overrides.<providerId>.deviceTokens`, in place of what is stored. */
function namedTokens({ event }: StepInput, providerId: string): string[] | undefined {
  const bucket = overrideFields(event.overrides, providerId)
  const given = bucket.value('deviceTokens')
  if (given === undefined) return undefined
  const path = bucket.pathOf('deviceTokens')
  if (!Array.isArray(given)) throw new RenderError(path, 'must be a list of device tokens')
  if (given.length > deviceTokensMax) throw new RenderError(path, `has more than ${deviceTokensMax} devices`)
  for (const [index, token] of given.entries()) {
    const isToken = typeof token === 'string' && token !== '' && token.length <= tokenLengthMax && !hasControls(token)
    if (!isToken) throw new RenderError(`${path}[${index}]`, `must be a string of 1 to ${tokenLengthMax} characters`)
  }
  return tokensIn(given)
}

/** A trigger may name devices of a subscriber without stored ones: the provider's newest integration sends. */
function namedEntries(input: StepInput, bucket: OverrideFields, known: readonly Entry[]): Entry[] {
  const ofPush = input.integrations.filter(
    ({ channel, identifier }) => channel === 'push' && isRequested(bucket, identifier),
  )
  const unknown = [...new Set(ofPush.map((one) => one.providerId))].filter(
    (providerId) => !known.some(({ integration }) => integration.providerId === providerId),
  )
  return unknown.flatMap((providerId) => {
    const integration = ofPush.findLast((one) => one.providerId === providerId)
    if (integration === undefined || namedTokens(input, providerId) === undefined) return []
    return [{ credentials: {}, integration }]
  })
}
