// The schemas of workflows: steps, templates, settings, the resource itself.
import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import type { EmailBlock } from '../../domain/workflow.ts'
import { ordinals, ordinalValues, runnableStepTypes, severities, timeUnits, weekDays } from '../../domain/workflow.ts'
import {
  freeObject,
  identifierText,
  literals,
  nullableFreeObject,
  nullableString,
  timestamp,
  uuid,
} from '../schemas.ts'
import { conditions } from './integration-schemas.ts'

/** Each step is a job of its own for every recipient. */
const stepsMax = 50
const variantsMax = 10
const filtersMax = 20
const tagsMax = 16
const blocksMax = 100
const variablesMax = 100
/** A whole HTML e-mail with its styles. */
const contentLengthMax = 256 * 1024
const blockLengthMax = 64 * 1024
/** Subjects, titles, addresses: one line, with room for the logic of a template. */
const lineLengthMax = 4096
const nameLengthMax = 255

const line = (description: string) => Type.Optional(Type.String({ maxLength: lineLengthMax, description }))
const reference = (description: string) => Type.Optional(Type.String({ maxLength: nameLengthMax, description }))
const nullableReference = (description: string) =>
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
})

const messageCta = Type.Object(
  {
    type: Type.Optional(literals(['redirect'])),
    data: Type.Optional(Type.Object({ url: line('Where a click leads; a template.') })),
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
  title: line('A template.'),
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

const stepTemplate = Type.Object(
  { ...templateMembers, content: Type.Optional(content) },
  { title: 'StepTemplate', description: 'What a step says. Which members count depends on its type.' },
)
const stepTemplateInput = Type.Object(
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

/** All settings of digests and delays in one: which of them count, and belong together, is told by the step's own rules. */
const metadataOf = <MonthDay extends TSchema>(title: string, monthDay: MonthDay) =>
  Type.Object(
    {
      type: literals(['regular', 'backoff', 'timed', 'scheduled'], {
        description: 'A digest is `regular`, `backoff` or `timed`; a delay is `regular` or `scheduled`.',
      }),
      amount: Type.Optional(Type.Number()),
      unit: Type.Optional(literals(timeUnits)),
      digestKey: reference('Digest: a path into the payload; events with different values there are digested apart.'),
      backoff: Type.Optional(Type.Boolean()),
      backoffAmount: Type.Optional(Type.Number()),
      backoffUnit: Type.Optional(literals(timeUnits)),
      updateMode: Type.Optional(Type.Boolean()),
      timed: Type.Optional(
        Type.Object({
          atTime: Type.Optional(Type.String({ maxLength: 16, description: '`HH:mm` or `HH:mm:ss`, 24 hours.' })),
          weekDays: Type.Optional(Type.Array(literals(weekDays), { maxItems: 7 })),
          monthDays: Type.Optional(Type.Array(monthDay, { maxItems: 31 })),
          ordinal: Type.Optional(literals(ordinals)),
          ordinalValue: Type.Optional(literals(ordinalValues)),
          monthlyType: Type.Optional(literals(['each', 'on'])),
        }),
      ),
      delayPath: reference('Delay: the path of a moment in the payload.'),
    },
    {
      title,
      description: 'The settings of a digest or a delay.',
      examples: [{ type: 'regular', amount: 5, unit: 'minutes' }],
    },
  )
const metadata = metadataOf('StepMetadata', Type.String())
// The activity has numbers here, and callers send either.
const metadataInput = metadataOf(
  'StepMetadataInput',
  Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 2 }),
)

const filters = Type.Array(conditions.items, {
  maxItems: filtersMax,
  description: 'When it runs: if any of them passes; none means always.',
})
const replyCallback = Type.Object({
  active: Type.Optional(Type.Boolean()),
  url: Type.Optional(Type.String({ maxLength: lineLengthMax, format: 'web-address' })),
})

const variantMembers = {
  _id: Type.String(),
  uuid: Type.String(),
  _templateId: Type.String(),
  _parentId: Type.Optional(Type.String({ description: 'The step it comes after; the first has none.' })),
  name: Type.Optional(Type.String()),
  active: Type.Boolean(),
  shouldStopOnFail: Type.Boolean(),
  template: stepTemplate,
  filters,
  metadata: Type.Optional(metadata),
  replyCallback: Type.Optional(replyCallback),
}
const notificationStep = Type.Object(
  { ...variantMembers, variants: Type.Array(Type.Object(variantMembers, { title: 'StepVariant' })) },
  { title: 'NotificationStep' },
)

const variantInputMembers = {
  _id: reference('On a change, the step that this one was; its place in open digests is kept.'),
  uuid: reference('A name of the caller’s for the step; its `_id` by default.'),
  _parentId: nullableReference(
    'The `_id` or `uuid` of the step it comes after. Left out everywhere, the order of the list counts.',
  ),
  name: reference('For people.'),
  active: Type.Optional(Type.Boolean({ description: 'True by default.' })),
  shouldStopOnFail: Type.Optional(
    Type.Boolean({ description: 'Whether the steps after it are canceled when it fails; false by default.' }),
  ),
  template: stepTemplateInput,
  filters: Type.Optional(filters),
  metadata: Type.Optional(metadataInput),
  replyCallback: Type.Optional(replyCallback),
}
const variantInput = Type.Object(variantInputMembers, {
  title: 'StepVariantInput',
  description: 'Another template for the same step; the first variant whose filters pass is used.',
})
const stepInput = Type.Object(
  {
    ...variantInputMembers,
    variants: Type.Optional(Type.Array(variantInput, { maxItems: variantsMax })),
  },
  { title: 'NotificationStepInput' },
)

const flag = Type.Optional(Type.Boolean())
const preferenceSettings = Type.Object(
  { email: flag, sms: flag, in_app: flag, chat: flag, push: flag },
  {
    title: 'PreferenceSettings',
    description: 'Which channels are on unless a subscriber says otherwise; all, by default.',
  },
)

const workflowName = Type.String({ minLength: 1, maxLength: nameLengthMax, pattern: '^\\P{Cc}+$' })
const workflowIdentifier = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9_.:-]+$', description }))
const changeable = {
  workflowId: workflowIdentifier(
    'What a trigger names: letters, digits, `_`, `-`, `.` and `:`; a slug of the name by default. Unique among workflows that are not deleted.',
  ),
  description: Type.Optional(nullableString({ maxLength: 1000 })),
  tags: Type.Optional(Type.Array(identifierText({ maxLength: 64 }), { maxItems: tagsMax })),
  active: Type.Optional(Type.Boolean({ description: 'Whether it can be triggered; false for a new one by default.' })),
  critical: Type.Optional(Type.Boolean({ description: 'Whether it goes out whatever subscribers prefer.' })),
  preferenceSettings: Type.Optional(preferenceSettings),
  severity: Type.Optional(literals(severities)),
  payloadSchema: Type.Optional(
    nullableFreeObject({
      description:
        'A JSON schema (draft 7 or 2020-12). A payload that does not fit is refused; defaults are filled in.',
    }),
  ),
  data: Type.Optional(nullableFreeObject({ description: 'Custom data, available to templates.' })),
  notificationGroupId: Type.Optional(uuid({ description: 'The group it is listed in; a default one otherwise.' })),
}
const steps = Type.Array(stepInput, { maxItems: stepsMax })
const identifier = workflowIdentifier('Another name of `workflowId`.')

const workflowExample = {
  name: 'Order shipped',
  workflowId: 'order-shipped',
  active: true,
  tags: ['orders'],
  steps: [
    { template: { type: 'in_app', content: 'Order {{ payload.orderId }} is on its way.' } },
    { template: { type: 'delay' }, metadata: { type: 'regular', amount: 2, unit: 'hours' } },
    {
      template: {
        type: 'email',
        subject: 'Your order {{ payload.orderId }}',
        contentType: 'customHtml',
        content: '<p>Hello {{ subscriber.firstName }}, it is on its way.</p>',
      },
    },
  ],
}

export const createWorkflowBody = Type.Object(
  { name: workflowName, ...changeable, steps: Type.Optional(steps) },
  { title: 'CreateWorkflow', examples: [workflowExample] },
)
export const replaceWorkflowBody = Type.Object(
  { name: workflowName, ...changeable, identifier, steps },
  { title: 'ReplaceWorkflow', examples: [workflowExample] },
)
export const changeWorkflowBody = Type.Object(
  { name: Type.Optional(workflowName), ...changeable, identifier, steps: Type.Optional(steps) },
  { title: 'UpdateWorkflow', examples: [{ name: 'Order on its way', tags: ['orders', 'shipping'] }] },
)

export const notificationGroup = Type.Object(
  { _id: Type.String(), name: Type.String(), _environmentId: Type.String(), _organizationId: Type.String() },
  { title: 'NotificationGroup' },
)

const variable = Type.Object({ name: Type.String() })

export const workflow = Type.Object(
  {
    _id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    active: Type.Boolean(),
    draft: Type.Boolean({ description: 'Not active.' }),
    preferenceSettings,
    critical: Type.Boolean(),
    tags: Type.Array(Type.String()),
    severity: literals(severities),
    steps: Type.Array(notificationStep),
    _organizationId: Type.String(),
    _creatorId: Type.String({ description: 'The id of the API key that made it.' }),
    _environmentId: Type.String(),
    triggers: Type.Array(
      Type.Object(
        {
          type: literals(['event']),
          identifier: Type.String({ description: 'What a trigger names.' }),
          variables: Type.Array(variable, { description: 'What the templates read of the payload.' }),
          subscriberVariables: Type.Optional(
            Type.Array(variable, { description: 'What the templates and channels need of a subscriber.' }),
          ),
        },
        { title: 'NotificationTrigger' },
      ),
    ),
    _notificationGroupId: Type.String(),
    notificationGroup: Type.Optional(notificationGroup),
    payloadSchema: Type.Optional(freeObject()),
    data: Type.Optional(freeObject()),
    workflowIntegrationStatus: Type.Optional(
      freeObject({ description: 'Whether the channels of its steps have active integrations.' }),
    ),
    deleted: Type.Boolean(),
    deletedAt: Type.String({ description: 'Empty while it is not deleted.' }),
    deletedBy: Type.String({ description: 'Empty while it is not deleted.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Workflow' },
)
