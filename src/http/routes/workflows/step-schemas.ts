// The schemas of the content and settings of a step.
import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import { callTimeoutMs, callTimeoutMsMax, callTimeoutMsMin } from '../../../domain/delivery/custom-call.ts'
import { contentOf, settingsOfKinds } from '../../../domain/workflows/step-settings.ts'
import type { EmailBlock } from '../../../domain/workflows/workflow.ts'
import {
  linkTargets,
  ordinals,
  ordinalValues,
  runnableStepTypes,
  timeUnits,
  weekDays,
} from '../../../domain/workflows/workflow.ts'
import { freeObject, literals, nullableString } from '../../schemas.ts'

const blocksMax = 100
const variablesMax = 100
/** A whole HTML e-mail with its styles. */
export const contentLengthMax = 256 * 1024
const blockLengthMax = 64 * 1024
/** Subjects, titles, addresses: one line, with room for the logic of a template. */
export const lineLengthMax = 4096
export const nameLengthMax = 255

/** As many as a service could ask for. */
const headersMax = 50
const callTimeoutMaxMs = 60_000

/** Says in the document which texts are templates: forms give them an editor. */
const liquid = { contentMediaType: 'text/x-liquid' }
const templateText = (description: string) => Type.String({ maxLength: lineLengthMax, description, ...liquid })

const templateLine = (description: string) => Type.Optional(templateText(description))
export const reference = (description: string) => Type.Optional(Type.String({ maxLength: nameLengthMax, description }))
export const nullableReference = (description: string) =>
  Type.Optional(nullableString({ maxLength: nameLengthMax, description }))

const emailBlock = Type.Object(
  {
    type: literals(['button', 'text']),
    content: Type.String({ maxLength: blockLengthMax, description: 'A template.', ...liquid }),
    url: templateLine('The URL that a button opens, as a template.'),
    styles: Type.Optional(Type.Object({ textAlign: Type.Optional(literals(['center', 'left', 'right'])) })),
  },
  { title: 'EmailBlock', examples: [{ type: 'button', content: 'See your order', url: '{{ payload.url }}' }] },
)

const contentMeaning = 'The content, as a template; for an e-mail with the contentType `editor`, a list of blocks.'
// `array` before `string`: the serialiser would write an array as text otherwise.
const content = Type.Unsafe<string | Static<typeof emailBlock>[]>({
  type: ['array', 'string'],
  items: emailBlock,
  description: contentMeaning,
})
const contentInput = Type.Unsafe<string | EmailBlock[]>({
  type: ['string', 'array'],
  maxLength: contentLengthMax,
  maxItems: blocksMax,
  items: emailBlock,
  description: contentMeaning,
  ...liquid,
})

const messageButton = Type.Object({
  type: literals(['primary', 'secondary']),
  content: templateText('A template.'),
  resultContent: templateLine('The label after it was pressed, as a template.'),
  redirect: Type.Optional(
    Type.Object(
      {
        url: templateText('A template.'),
        target: Type.Optional(literals(linkTargets)),
      },
      { description: 'The URL that pressing it opens.' },
    ),
  ),
})

const messageCta = Type.Object(
  {
    data: Type.Optional(
      Type.Object({
        url: templateLine('The URL that a click opens, as a template.'),
        target: Type.Optional(literals(linkTargets)),
      }),
    ),
    action: Type.Optional(
      Type.Object({
        buttons: Type.Optional(Type.Array(messageButton, { maxItems: 2 })),
        status: Type.Optional(literals(['pending', 'done'])),
        result: Type.Optional(
          Type.Object({
            payload: Type.Optional(freeObject()),
            type: Type.Optional(literals(['primary', 'secondary'])),
          }),
        ),
      }),
    ),
    type: Type.Optional(literals(['redirect'])),
  },
  { title: 'MessageCta', description: 'In-app: the buttons of the message.' },
)

const templateMembers = {
  type: Type.String({
    maxLength: 64,
    description: `The type of the step: ${runnableStepTypes.map((type) => `\`${type}\``).join(', ')}.`,
  }),
  contentType: Type.Optional(literals(['editor', 'customHtml'], { description: 'E-mail: blocks, or HTML.' })),
  subject: templateLine('E-mail and in-app: the subject, as a template.'),
  preheader: templateLine('E-mail: the preview text shown next to the subject, as a template.'),
  senderName: templateLine('E-mail: replaces the sender name of the integration; a template.'),
  layoutId: nullableReference('E-mail: null or `none` for no layout.'),
  title: templateLine('Push: the title, as a template.'),
  from: Type.Optional(
    Type.Object(
      {
        email: templateText('A template.'),
        name: templateLine('A template.'),
      },
      { description: 'E-mail: replaces the sender of the integration.' },
    ),
  ),
  replyTo: templateLine('E-mail: the reply-to address, as a template.'),
  disableOutputSanitization: Type.Optional(
    Type.Boolean({ description: 'E-mail and in-app: switches off the sanitizing of values from the payload.' }),
  ),
  cta: Type.Optional(messageCta),
  actor: Type.Optional(
    Type.Object(
      {
        type: literals(['none', 'user', 'system_icon', 'system_custom']),
        data: nullableString({
          maxLength: lineLengthMax,
          default: null,
          description: 'The icon by its name, or the URL of an image.',
        }),
      },
      { description: 'In-app: whose image is shown.' },
    ),
  ),
  feedId: nullableReference('In-app: the feed of the message.'),
  variables: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1, maxLength: nameLengthMax }),
        type: Type.Optional(literals(['String', 'Array', 'Boolean'])),
        required: Type.Optional(Type.Boolean()),
        defaultValue: Type.Optional(Type.Unknown()),
      }),
      { maxItems: variablesMax, description: 'The payload fields that the templates use; for editors.' },
    ),
  ),
  data: Type.Optional(freeObject({ description: 'In-app: custom data of the message.' })),
  name: reference('A display name of the template.'),
}

export const stepTemplate = Type.Object(
  { ...templateMembers, content: Type.Optional(content) },
  { title: 'StepTemplate', description: 'The content of a step. Which fields apply depends on its type.' },
)
export const stepTemplateInput = Type.Object(
  {
    ...templateMembers,
    content: Type.Optional(contentInput),
    _layoutId: nullableReference('Alias of `layoutId`.'),
    _feedId: nullableReference('Alias of `feedId`.'),
  },
  {
    title: 'StepTemplateInput',
    description:
      'The content of a step, in Liquid. Which fields apply depends on its type: `x-steps` lists them by type.',
    'x-steps': contentOf,
    examples: [
      { type: 'in_app', content: 'Hello {{ subscriber.firstName }}, order {{ payload.orderId }} is on its way.' },
    ],
  },
)

export const timedConfigOf = <MonthDay extends TSchema>(monthDay: MonthDay) =>
  Type.Object({
    atTime: Type.Optional(
      Type.String({ maxLength: 16, description: '`HH:mm` or `HH:mm:ss` in 24-hour time, or `9am`, `9:30 PM`.' }),
    ),
    weekDays: Type.Optional(Type.Array(literals(weekDays), { maxItems: 7 })),
    monthlyType: Type.Optional(literals(['each', 'on'])),
    monthDays: Type.Optional(Type.Array(monthDay, { maxItems: 31 })),
    ordinal: Type.Optional(literals(ordinals)),
    ordinalValue: Type.Optional(literals(ordinalValues)),
  })

const timeoutMeaning = `Custom: how long to wait for a response, in milliseconds: ${callTimeoutMsMin} to ${callTimeoutMsMax}. Default: ${callTimeoutMs}.`

export const callMembers = {
  url: templateLine('Custom: the URL of your service; everything but the host may be a template.'),
  method: Type.Optional(literals(['POST', 'PUT', 'PATCH'], { description: 'Custom: `POST` by default.' })),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: lineLengthMax, ...liquid }), {
      maxProperties: headersMax,
      description: 'Custom: additional headers, as templates.',
    }),
  ),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: callTimeoutMaxMs, description: timeoutMeaning })),
  continueOnFailure: Type.Optional(
    Type.Boolean({ description: 'Custom: whether the next steps run after the call has finally failed.' }),
  ),
}

/** The settings of all steps in one: which of them apply, and belong together, is checked by the step's own rules. */
const metadataOf = <MonthDay extends TSchema>(title: string, monthDay: MonthDay, keywords: object = {}) =>
  Type.Object(
    {
      type: literals(['regular', 'backoff', 'timed', 'scheduled', 'dynamic', 'fixed', 'http'], {
        description:
          'A digest is `regular`, `backoff` or `timed`; a delay `regular`, `scheduled`, `timed` or `dynamic`; a throttle `fixed` or `dynamic`; a custom step `http`.',
      }),
      amount: Type.Optional(Type.Number({ description: 'How many of `unit`: a whole number, 1 or more.' })),
      unit: Type.Optional(literals(timeUnits)),
      digestKey: reference('Digest: a path into the payload; events with different values get separate digests.'),
      backoff: Type.Optional(
        Type.Boolean({ description: 'Digest: whether an event after a quiet time is processed at once.' }),
      ),
      backoffAmount: Type.Optional(
        Type.Number({ description: 'Digest: the length of that quiet time. Default: that of the digest.' }),
      ),
      backoffUnit: Type.Optional(literals(timeUnits)),
      updateMode: Type.Optional(Type.Boolean({ description: 'Digest: stored for other clients; it changes nothing.' })),
      timed: Type.Optional(timedConfigOf(monthDay)),
      cron: reference(
        'Timed: a cron expression with five fields, in the time zone of the subscriber; replaces amount, unit and `timed`.',
      ),
      extendToSchedule: Type.Optional(
        Type.Boolean({
          description: 'Digest and delay: whether to extend the wait until the subscriber’s schedule allows delivery.',
        }),
      ),
      delayPath: reference('Delay: the path of a timestamp in the payload.'),
      dynamicKey: reference('Delay and throttle: the path of a timestamp, or of `{amount, unit}`, in the payload.'),
      threshold: Type.Optional(
        Type.Number({ description: 'Throttle: how many runs are allowed per window. Default: 1.' }),
      ),
      throttleKey: reference('Throttle: a path into the payload; different values are counted separately.'),
      ...callMembers,
      body: Type.Optional(freeObject({ description: 'Custom: additional fields of the body; strings are templates.' })),
    },
    {
      title,
      description: 'The settings of a digest, a delay, a throttle or a custom step.',
      ...keywords,
      examples: [{ type: 'regular', amount: 5, unit: 'minutes' }],
    },
  )
export const metadata = metadataOf('StepMetadata', Type.String())
// The activity has numbers here, and callers send either.
export const metadataInput = metadataOf(
  'StepMetadataInput',
  Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 2 }),
  {
    description:
      'The settings of a digest, a delay, a throttle or a custom step. Which fields apply depends on its type and on `type`: `x-steps` lists them.',
    'x-steps': settingsOfKinds,
  },
)
