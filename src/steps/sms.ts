// The sms step: one message to a number, with what the trigger overrides.
import { detail } from '../domain/insight/execution-detail.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { withProviderOverrides } from './channel-overrides.ts'
import { orContentFailed } from './content-failed.ts'
import type { OverrideFields } from './override-fields.ts'
import { hasControls, optional, overrideFields } from './override-fields.ts'
import type { Step, StepInput } from './step.ts'
import { metadataOf, renderedText, textMistakes } from './text-content.ts'

const noPhone = { errorId: 'no_subscriber_phone', errorText: 'Subscriber does not have active phone' }
const members: ReadonlySet<string> = new Set(['to', 'from', 'content'])
/** Numbers have 15 digits; people write blanks and brackets between them. */
const phoneLengthMax = 50
const senderLengthMax = 100
/** The maximum length of a rendered text. */
const contentLengthMax = 5_000

interface SmsOverrides {
  readonly to?: string
  readonly from?: string
  readonly content?: string
  readonly customData?: Readonly<Record<string, unknown>>
}

export const sms: Step = {
  type: 'sms',

  mistakes: ({ template }) => textMistakes(template, 'an SMS'),

  decide: (input) =>
    orContentFailed(input.now, () => {
      const { now, event, subscriber } = input
      const overrides = smsOverridesOf(overrideFields(event.overrides, 'sms'))
      const content = overrides.content ?? renderedText(input).content
      const shown = { target: '', channel: 'sms', content } as const
      const phone = overrides.to ?? payloadPhone(event.payload) ?? phoneOf(subscriber.phone)
      if (phone === undefined) {
        const details = [detail(now, 'messageCreated'), detail(now, 'noPhone')]
        return { kind: 'unreachable', message: shown, error: noPhone, details }
      }
      const envelope = withProviderOverrides(input, envelopeOf(input, overrides, phone, content), {
        channel: 'sms',
        members,
        remade: (bucket) => {
          const own = smsOverridesOf(bucket)
          return envelopeOf(input, own, own.to ?? phone, own.content ?? content)
        },
      })
      return { kind: 'send', messages: [{ ...shown, phone, envelope }], details: [detail(now, 'messageCreated')] }
    }),
}

function smsOverridesOf(fields: OverrideFields): SmsOverrides {
  return {
    ...optional('to', phoneOf(fields.line('to', phoneLengthMax))),
    ...optional('from', phoneOf(fields.line('from', senderLengthMax))),
    ...optional('content', phoneOf(fields.text('content', contentLengthMax))),
    ...optional('customData', fields.object('customData')),
  }
}

const phoneOf = (text: string | null | undefined): string | undefined => {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? undefined : trimmed
}

/** A payload may name the number. What is no text there is about something else. */
export function payloadPhone(payload: Readonly<Record<string, unknown>>): string | undefined {
  const given = Object.hasOwn(payload, 'phone') ? payload['phone'] : undefined
  const phone = typeof given === 'string' ? phoneOf(given) : undefined
  if (phone !== undefined && (phone.length > phoneLengthMax || hasControls(phone))) {
    throw new RenderError('payload.phone', `must be a number of at most ${phoneLengthMax} characters on one line`)
  }
  return phone
}

function envelopeOf(input: StepInput, { from, customData }: SmsOverrides, to: string, content: string) {
  return {
    to,
    ...(from === undefined ? {} : { from }),
    content,
    metadata: metadataOf(input),
    ...(customData === undefined ? {} : { customData }),
  }
}
