// The schemas of what a step says and how it is set.
import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
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

export const line = (description: string) => Type.Optional(Type.String({ maxLength: lineLengthMax, description }))
export const reference = (description: string) => Type.Optional(Type.String({ maxLength: nameLengthMax, description }))
export const nullableReference = (description: string) =>
  Type.Optional(nullableString({ maxLength: nameLengthMax, description }))

const emailBlock = Type.Object(
  {
    type: literals(['button', 'text']),
    content: Type.String({ maxLength: blockLengthMax, description: 'A template.' }),
    url: line('Where a button leads; a template.'),
    styles: Type.Optional(Type.Object({ textAlign: Type.Optional(literals(['center', 'left', 'right'])) })),
  },
  { title: 'EmailBlock', examples: [{ type: 'button', content: 'See your order', url: '{{ payload.url }}' }] },
)

const contentMeaning = 'What is said, as a template; of an e-mail with the contentType `editor` a list of blocks.'
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
})

const messageButton = Type.Object({
  type: literals(['primary', 'secondary']),
  content: Type.String({ maxLength: lineLengthMax, description: 'A template.' }),
  resultContent: line('What it says once it was pressed.'),
  redirect: Type.Optional(
    Type.Object(
      {
        url: Type.String({ maxLength: lineLengthMax, description: 'A template.' }),
        target: Type.Optional(literals(linkTargets)),
      },
      { description: 'Where pressing it leads.' },
    ),
  ),
})

const messageCta = Type.Object(
  {
    type: Type.Optional(literals(['redirect'])),
    data: Type.Optional(
      Type.Object({ url: line('Where a click leads; a template.'), target: Type.Optional(literals(linkTargets)) }),
    ),
    action: Type.Optional(
      Type.Object({
        status: Type.Optional(literals(['pending', 'done'])),
        buttons: Type.Optional(Type.Array(messageButton, { maxItems: 2 })),
        result: Type.Optional(
          Type.Object({
            payload: Type.Optional(freeObject()),
            type: Type.Optional(literals(['primary', 'secondary'])),
          }),
        ),
      }),
    ),
  },
  { title: 'MessageCta', description: 'In-app: what can be done about it.' },
)

const templateMembers = {
  type: Type.String({
    maxLength: 64,
    description: `What kind of step it is: ${runnableStepTypes.map((type) => `\`${type}\``).join(', ')}.`,
  }),
  contentType: Type.Optional(literals(['editor', 'customHtml'], { description: 'E-mail: blocks, or HTML.' })),
  subject: line('E-mail and in-app: a template.'),
  preheader: line('E-mail: what a mailbox shows beside the subject; a template.'),
  senderName: line('E-mail: in place of the integration’s; a template.'),
  layoutId: nullableReference('E-mail: null or `none` for no layout.'),
  title: line('Push: a template.'),
  from: Type.Optional(
    Type.Object(
      {
        email: Type.String({ maxLength: lineLengthMax, description: 'A template.' }),
        name: line('A template.'),
      },
      { description: 'E-mail: in place of the integration’s own sender.' },
    ),
  ),
  replyTo: line('E-mail: where answers go; a template.'),
  disableOutputSanitization: Type.Optional(
    Type.Boolean({ description: 'E-mail and in-app: what payloads bring is not made safe.' }),
  ),
  cta: Type.Optional(messageCta),
  actor: Type.Optional(
    Type.Object(
      {
        type: literals(['none', 'user', 'system_icon', 'system_custom']),
        data: nullableString({ maxLength: lineLengthMax, default: null }),
      },
      { description: 'In-app: whose picture is shown.' },
    ),
  ),
  feedId: nullableReference('In-app: the feed it belongs to.'),
  variables: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1, maxLength: nameLengthMax }),
        type: Type.Optional(literals(['String', 'Array', 'Boolean'])),
        required: Type.Optional(Type.Boolean()),
        defaultValue: Type.Optional(Type.Unknown()),
      }),
      { maxItems: variablesMax },
    ),
  ),
  data: Type.Optional(freeObject({ description: 'In-app: custom data that goes with the message.' })),
  name: Type.Optional(Type.String({ maxLength: nameLengthMax })),
}

export const stepTemplate = Type.Object(
  { ...templateMembers, content: Type.Optional(content) },
  { title: 'StepTemplate', description: 'What a step says. Which members count depends on its type.' },
)
export const stepTemplateInput = Type.Object(
  {
    ...templateMembers,
    content: Type.Optional(contentInput),
    _layoutId: nullableReference('Another name of `layoutId`.'),
    _feedId: nullableReference('Another name of `feedId`.'),
  },
  {
    title: 'StepTemplateInput',
    description: 'What a step says, in Liquid. Which members count depends on its type.',
    examples: [
      { type: 'in_app', content: 'Hello {{ subscriber.firstName }}, order {{ payload.orderId }} is on its way.' },
    ],
  },
)

export const timedConfigOf = <MonthDay extends TSchema>(monthDay: MonthDay) =>
  Type.Object({
    atTime: Type.Optional(Type.String({ maxLength: 16, description: '`HH:mm` or `HH:mm:ss`, 24 hours.' })),
    weekDays: Type.Optional(Type.Array(literals(weekDays), { maxItems: 7 })),
    monthDays: Type.Optional(Type.Array(monthDay, { maxItems: 31 })),
    ordinal: Type.Optional(literals(ordinals)),
    ordinalValue: Type.Optional(literals(ordinalValues)),
    monthlyType: Type.Optional(literals(['each', 'on'])),
  })

export const callMembers = {
  url: line('Custom: the address of a service of yours; a template but for its host.'),
  method: Type.Optional(literals(['POST', 'PUT', 'PATCH'], { description: 'Custom: `POST` by default.' })),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: lineLengthMax }), {
      maxProperties: headersMax,
      description: 'Custom: headers beside our own; templates.',
    }),
  ),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: callTimeoutMaxMs, description: 'Custom.' })),
  continueOnFailure: Type.Optional(
    Type.Boolean({ description: 'Custom: whether the next steps run after a call that failed for good.' }),
  ),
}

/** All settings of steps in one: which of them count, and belong together, is told by the step's own rules. */
const metadataOf = <MonthDay extends TSchema>(title: string, monthDay: MonthDay) =>
  Type.Object(
    {
      type: literals(['regular', 'backoff', 'timed', 'scheduled', 'dynamic', 'fixed', 'http'], {
        description:
          'A digest is `regular`, `backoff` or `timed`; a delay `regular`, `scheduled`, `timed` or `dynamic`; a throttle `fixed` or `dynamic`; a custom step `http`.',
      }),
      amount: Type.Optional(Type.Number()),
      unit: Type.Optional(literals(timeUnits)),
      digestKey: reference('Digest: a path into the payload; events with different values there are digested apart.'),
      backoff: Type.Optional(Type.Boolean()),
      backoffAmount: Type.Optional(Type.Number()),
      backoffUnit: Type.Optional(literals(timeUnits)),
      updateMode: Type.Optional(Type.Boolean()),
      timed: Type.Optional(timedConfigOf(monthDay)),
      cron: reference('Timed: five fields, in the subscriber’s zone; instead of amount, unit and `timed`.'),
      extendToSchedule: Type.Optional(
        Type.Boolean({ description: 'Digest and delay: whether it waits on until the subscriber’s schedule allows.' }),
      ),
      delayPath: reference('Delay: the path of a moment in the payload.'),
      dynamicKey: reference('Delay and throttle: the path of a moment, or of `{amount, unit}`, in the payload.'),
      threshold: Type.Optional(Type.Number({ description: 'Throttle: how many are let through; one by default.' })),
      throttleKey: reference('Throttle: a path into the payload; different values there are counted apart.'),
      ...callMembers,
      body: Type.Optional(
        freeObject({ description: 'Custom: members of the body beside our own; texts are templates.' }),
      ),
    },
    {
      title,
      description: 'The settings of a digest, a delay, a throttle or a custom step.',
      examples: [{ type: 'regular', amount: 5, unit: 'minutes' }],
    },
  )
export const metadata = metadataOf('StepMetadata', Type.String())
// The activity has numbers here, and callers send either.
export const metadataInput = metadataOf(
  'StepMetadataInput',
  Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 2 }),
)
