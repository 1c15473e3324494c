// The schemas of workflows in API v2: control values, preferences, the resource and its list.
import { Type } from 'typebox'
import { channels } from '../../../domain/delivery/integration.ts'
import { linkTargets, runnableStepTypes, severities, timeUnits } from '../../../domain/workflows/workflow.ts'
import { freeObject, identifierText, literals, nullableFreeObject, nullableString, timestamp } from '../../schemas.ts'
import { callMembers, contentLengthMax, lineLengthMax, nameLengthMax, timedConfigOf } from './step-schemas.ts'
import { skipMeaning, stepsMax, tagsMax } from './workflow-schemas.ts'

const workflowNameLengthMax = 128
const descriptionLengthMax = 256
const stepTypesMeaning = runnableStepTypes.map((type) => `\`${type}\``).join(', ')

const line = (description: string) => Type.Optional(nullableString({ maxLength: lineLengthMax, description }))
const key = (description: string) => Type.Optional(nullableString({ maxLength: nameLengthMax, description }))
const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }))

const redirect = Type.Unsafe<{ url: string; target?: (typeof linkTargets)[number] } | null>({
  type: ['object', 'null'],
  properties: {
    url: Type.String({ minLength: 1, maxLength: lineLengthMax, description: 'A template.' }),
    target: literals(linkTargets),
  },
  required: ['url'],
  description: 'The URL that it opens.',
})
const action = Type.Unsafe<{ label?: string; redirect?: object | null } | null>({
  type: ['object', 'null'],
  properties: { label: Type.String({ maxLength: lineLengthMax, description: 'A template.' }), redirect },
  description: 'In-app: a button.',
})
const duration = Type.Unsafe<{ amount?: number; unit?: string } | null>({
  type: ['object', 'null'],
  properties: { amount: Type.Number(), unit: literals(timeUnits) },
  required: ['amount', 'unit'],
  description: 'Digest: after this long without events, the first event is processed at once.',
})
const sender = Type.Unsafe<{ email?: string | null; name?: string | null } | null>({
  type: ['object', 'null'],
  properties: {
    email: nullableString({ maxLength: lineLengthMax }),
    name: nullableString({ maxLength: lineLengthMax }),
  },
  description: 'E-mail: replaces the sender of the integration; templates.',
})

/** The controls of all types in one: which of them a step has is determined by its type. */
const controlsInput = Type.Object(
  {
    skip: Type.Optional(nullableFreeObject({ description: skipMeaning })),
    subject: line('E-mail, in-app, push: the subject, as a template.'),
    body: Type.Optional(
      Type.Unsafe<string | Record<string, unknown> | null>({
        type: ['string', 'object', 'null'],
        maxLength: contentLengthMax,
        description:
          'The content, as a template; for e-mail, HTML or blocks as JSON. For a custom step: fields of the request body.',
      }),
    ),
    editorType: Type.Optional(nullableString({ maxLength: 16, description: 'E-mail: `html` or `block`.' })),
    layoutId: key('E-mail: null or `none` for no layout.'),
    from: Type.Optional(sender),
    useProviderDefaults: optionalFlag('E-mail: uses the sender of the integration and ignores `from`.'),
    replyTo: line('E-mail: the reply-to address, as a template.'),
    preheader: line('E-mail: the preview text shown next to the subject, as a template.'),
    disableOutputSanitization: optionalFlag(
      'E-mail and in-app: switches off the sanitizing of values from the payload.',
    ),
    avatar: line('In-app: the URL of an image, as a template.'),
    primaryAction: Type.Optional(action),
    secondaryAction: Type.Optional(action),
    redirect: Type.Optional(redirect),
    data: Type.Optional(nullableFreeObject({ description: 'In-app: custom data of the message.' })),
    type: Type.Optional(
      nullableString({
        maxLength: 16,
        description: 'Digest: `regular`, `timed`. Delay: also `dynamic`, `scheduled`. Throttle: `fixed`, `dynamic`.',
      }),
    ),
    amount: Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'] })),
    unit: Type.Optional(literals(timeUnits)),
    lookBackWindow: Type.Optional(duration),
    cron: key('Digest and delay, timed: a cron expression with five fields, in the time zone of the subscriber.'),
    timed: Type.Optional(timedConfigOf(Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 2 }))),
    digestKey: key('Digest: a path into the payload.'),
    updateMode: optionalFlag('Digest.'),
    extendToSchedule: optionalFlag(
      'Digest and delay: whether to extend the wait until the subscriber’s schedule allows delivery.',
    ),
    dynamicKey: key('Delay and throttle: the path of a timestamp, or of `{amount, unit}`, in the payload.'),
    delayPath: key('Delay, scheduled: the path of a timestamp in the payload.'),
    threshold: Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'] })),
    throttleKey: key('Throttle: a path into the payload.'),
    ...callMembers,
    custom: Type.Optional(
      nullableFreeObject({
        description: 'Custom: the controls of the step, for clients that can only send them here.',
      }),
    ),
  },
  {
    title: 'StepControls',
    description: 'The content and settings of a step. Which fields apply depends on its type.',
  },
)

const stepInput = Type.Object(
  {
    _id: Type.Optional(
      Type.String({ maxLength: nameLengthMax, description: 'On an update: the existing step that this one replaces.' }),
    ),
    stepId: Type.Optional(
      identifierText({
        maxLength: nameLengthMax,
        description: 'The id used in templates and triggers. Default: a slug of the name.',
      }),
    ),
    name: Type.String({ minLength: 1, maxLength: nameLengthMax, pattern: '^\\P{Cc}+$' }),
    type: Type.String({ maxLength: 64, description: `The type of the step: ${stepTypesMeaning}.` }),
    controlValues: Type.Optional(Type.Union([controlsInput, Type.Null()])),
  },
  { title: 'StepInput' },
)

const enabled = Type.Object({ enabled: Type.Optional(Type.Boolean()) })
const preferenceInput = Type.Unsafe<{
  all?: { enabled?: boolean; readOnly?: boolean }
  channels?: Partial<Record<(typeof channels)[number], { enabled?: boolean }>>
} | null>({
  type: ['object', 'null'],
  properties: {
    all: Type.Object({
      enabled: Type.Optional(Type.Boolean()),
      readOnly: Type.Optional(
        Type.Boolean({ description: 'Whether it is sent regardless of subscriber preferences.' }),
      ),
    }),
    channels: Type.Object(Object.fromEntries(channels.map((channel) => [channel, Type.Optional(enabled)]))),
  },
})
const preferencesInput = Type.Object(
  {
    user: Type.Optional(preferenceInput),
    workflow: Type.Optional(preferenceInput),
  },
  {
    title: 'WorkflowPreferencesInput',
    description: 'The dashboard setting (`user`) takes precedence over that of the author (`workflow`).',
  },
)

const changeable = {
  description: Type.Optional(nullableString({ maxLength: descriptionLengthMax })),
  tags: Type.Optional(Type.Array(identifierText({ maxLength: 64 }), { maxItems: tagsMax })),
  active: Type.Optional(
    Type.Boolean({ description: 'Whether it can be triggered. Default for a new workflow: false.' }),
  ),
  payloadSchema: Type.Optional(
    nullableFreeObject({ description: 'A JSON schema (draft 7 or 2020-12) of the payload.' }),
  ),
  validatePayload: Type.Optional(
    Type.Boolean({ description: 'False keeps the schema but does not reject payloads. Default: true.' }),
  ),
  isTranslationEnabled: Type.Optional(Type.Boolean()),
}
const name = Type.String({ minLength: 1, maxLength: workflowNameLengthMax, pattern: '^\\P{Cc}+$' })
const workflowId = Type.String({
  minLength: 1,
  maxLength: nameLengthMax,
  pattern: '^[A-Za-z0-9_.:-]+$',
  description: 'The identifier used in triggers. Unique among workflows that are not deleted.',
})
const severity = Type.Optional(literals(severities))
const steps = Type.Array(stepInput, { maxItems: stepsMax })

const wholeExample = {
  name: 'Order shipped',
  tags: ['orders'],
  active: true,
  steps: [
    {
      name: 'Bell',
      type: 'in_app',
      controlValues: { subject: 'Shipped', body: 'Order {{ payload.orderId }} is on its way.' },
    },
    { name: 'Gather', type: 'digest', controlValues: { type: 'regular', amount: 5, unit: 'minutes' } },
    {
      name: 'Mail',
      type: 'email',
      controlValues: { subject: 'Your order', body: '<p>It is on its way.</p>', editorType: 'html' },
    },
  ],
}

export const createWorkflowV2Body = Type.Object(
  { workflowId, name, ...changeable, severity, preferences: Type.Optional(preferencesInput), steps },
  { title: 'CreateWorkflowV2', examples: [{ workflowId: 'order-shipped-v2', ...wholeExample }] },
)
export const replaceWorkflowV2Body = Type.Object(
  { workflowId: Type.Optional(workflowId), name, ...changeable, severity, preferences: preferencesInput, steps },
  { title: 'ReplaceWorkflowV2', examples: [{ ...wholeExample, preferences: { user: null } }] },
)
export const changeWorkflowV2Body = Type.Object(
  { name: Type.Optional(name), ...changeable },
  { title: 'UpdateWorkflowV2', examples: [{ active: true, tags: ['orders', 'shipping'] }] },
)

const person = Type.Optional(
  nullableFreeObject({ description: 'Fields of a subscriber: subscriberId, firstName, email, data and so on.' }),
)
export const previewStepBody = Type.Object(
  {
    controlValues: Type.Optional(Type.Union([controlsInput, Type.Null()])),
    previewPayload: Type.Optional(
      Type.Object({
        payload: Type.Optional(nullableFreeObject()),
        subscriber: person,
        actor: person,
        tenant: Type.Optional(nullableFreeObject({ description: 'identifier, name, data.' })),
        context: Type.Optional(nullableFreeObject({ description: 'By type: an id, or `{id, data}`.' })),
        steps: Type.Optional(nullableFreeObject({ description: 'By stepId: `{events}` of a digest.' })),
      }),
    ),
  },
  {
    title: 'PreviewStep',
    description:
      'Controls to use instead of the stored ones, and variables for the templates; omitted ones get sample values.',
    examples: [{ previewPayload: { payload: { orderId: '42' }, subscriber: { firstName: 'Ada' } } }],
  },
)

const issues = Type.Optional(freeObject({ description: 'What currently prevents it from sending.' }))
const step = Type.Object(
  {
    _id: Type.String(),
    stepId: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    type: Type.String(),
    origin: Type.String(),
    workflowId: Type.String(),
    workflowDatabaseId: Type.String(),
    controlValues: freeObject(),
    controls: Type.Object({
      values: freeObject(),
      dataSchema: Type.Optional(freeObject()),
      uiSchema: Type.Optional(freeObject()),
    }),
    variables: freeObject({ description: 'A JSON schema of the variables of its templates.' }),
    issues,
    active: Type.Optional(Type.Boolean()),
    shouldStopOnFail: Type.Optional(Type.Boolean()),
    filters: Type.Optional(Type.Array(freeObject())),
    variants: Type.Optional(Type.Array(freeObject())),
    replyCallback: Type.Optional(freeObject()),
  },
  { title: 'Step' },
)
export const stepV2 = step

const wholePreference = Type.Object({
  all: Type.Object({ enabled: Type.Boolean(), readOnly: Type.Boolean() }),
  channels: Type.Object(
    Object.fromEntries(channels.map((channel) => [channel, Type.Object({ enabled: Type.Boolean() })])),
  ),
})

const head = {
  _id: Type.String(),
  workflowId: Type.String({ description: 'The identifier used in triggers.' }),
  slug: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  status: literals(['ACTIVE', 'INACTIVE', 'ERROR']),
  origin: literals(['platform-cloud', 'platform-cloud-v1', 'external']),
  isTranslationEnabled: Type.Boolean(),
  lastTriggeredAt: nullableString({ format: 'date-time' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}
export const workflowV2 = Type.Object(
  {
    ...head,
    description: Type.String(),
    active: Type.Boolean(),
    severity: literals(severities),
    preferences: Type.Object({ user: Type.Union([wholePreference, Type.Null()]), default: wholePreference }),
    payloadSchema: Type.Optional(freeObject()),
    validatePayload: Type.Boolean(),
    issues: freeObject(),
    steps: Type.Array(step),
  },
  { title: 'WorkflowV2' },
)
export const workflowV2List = Type.Object(
  {
    workflows: Type.Array(
      Type.Object(
        {
          ...head,
          stepTypeOverviews: Type.Array(Type.String()),
          steps: Type.Array(Type.Object({ slug: Type.String(), type: Type.String(), issues })),
        },
        { title: 'ListedWorkflowV2' },
      ),
    ),
    totalCount: Type.Integer({ description: 'The total number, regardless of the limit.' }),
  },
  { title: 'WorkflowV2List' },
)

export const stepPreview = Type.Object(
  {
    result: Type.Object({ type: Type.String(), preview: freeObject() }),
    previewPayloadExample: freeObject({
      description: 'The variables that the templates were given, including sample values.',
    }),
  },
  { title: 'StepPreview' },
)
