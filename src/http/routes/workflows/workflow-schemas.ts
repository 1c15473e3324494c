// The schemas of workflows: their steps, settings, and the resource itself.
import { Type } from 'typebox'
import { contentOf, settingsOf } from '../../../domain/workflows/step-settings.ts'
import { runnableStepTypes, severities } from '../../../domain/workflows/workflow.ts'
import {
  freeObject,
  identifierText,
  literals,
  nullableFreeObject,
  nullableString,
  timestamp,
  uuid,
} from '../../schemas.ts'
import { stepFilters } from './filter-schemas.ts'
import {
  lineLengthMax,
  metadata,
  metadataInput,
  nameLengthMax,
  nullableReference,
  reference,
  stepTemplate,
  stepTemplateInput,
} from './step-schemas.ts'

/** Each step is a job of its own for every recipient. */
export const stepsMax = 50
const variantsMax = 10
export const tagsMax = 16

const filters = stepFilters
const replyCallback = Type.Object(
  {
    active: Type.Optional(Type.Boolean({ description: 'Whether replies are reported.' })),
    url: Type.Optional(
      Type.String({ maxLength: lineLengthMax, format: 'web-address', description: 'Receives the replies.' }),
    ),
  },
  { description: 'E-mail: replies to the message are sent to a URL of yours.' },
)

export const skipMeaning = 'A JsonLogic condition; if it is true, the step is skipped.'

const variantMembers = {
  _id: Type.String(),
  uuid: Type.String(),
  _templateId: Type.String(),
  _parentId: Type.Optional(Type.String({ description: 'The step before it; absent for the first step.' })),
  name: Type.Optional(Type.String()),
  active: Type.Boolean(),
  shouldStopOnFail: Type.Boolean(),
  template: stepTemplate,
  filters,
  metadata: Type.Optional(metadata),
  skip: Type.Optional(freeObject({ description: skipMeaning })),
  replyCallback: Type.Optional(replyCallback),
}
const notificationStep = Type.Object(
  { ...variantMembers, variants: Type.Array(Type.Object(variantMembers, { title: 'StepVariant' })) },
  { title: 'NotificationStep' },
)

const variantInputMembers = {
  _id: reference(
    'On an update: the step that this one replaces, or one that an earlier version had; open digests continue with it.',
  ),
  uuid: reference('Your own id of the step. Default: its `_id`.'),
  _parentId: nullableReference(
    'The `_id` or `uuid` of the step before it. If all steps omit it, they run in the order of the list.',
  ),
  name: reference('A display name.'),
  active: Type.Optional(Type.Boolean({ description: 'True by default.' })),
  shouldStopOnFail: Type.Optional(
    Type.Boolean({ description: 'Whether the steps after it are canceled when it fails; false by default.' }),
  ),
  template: stepTemplateInput,
  filters: Type.Optional(filters),
  metadata: Type.Optional(metadataInput),
  skip: Type.Optional(nullableFreeObject({ description: skipMeaning })),
  replyCallback: Type.Optional(replyCallback),
}
const variantInput = Type.Object(variantInputMembers, {
  title: 'StepVariantInput',
  description: 'An alternative template for the step; the first variant whose filters pass is used.',
})
/** The members of a step that not all types have. */
const membersOfSteps = Object.fromEntries(
  runnableStepTypes.map((type) => [
    type,
    [
      ...(contentOf[type] === undefined ? [] : ['variants']),
      ...(settingsOf(type) === undefined ? [] : ['metadata']),
      ...(type === 'email' ? ['replyCallback'] : []),
    ],
  ]),
)
const stepInput = Type.Object(
  {
    ...variantInputMembers,
    variants: Type.Optional(Type.Array(variantInput, { maxItems: variantsMax })),
  },
  { title: 'NotificationStepInput', 'x-steps': membersOfSteps },
)

const flag = Type.Optional(Type.Boolean())
const preferenceSettings = Type.Object(
  { email: flag, sms: flag, in_app: flag, chat: flag, push: flag },
  {
    title: 'PreferenceSettings',
    description: 'Which channels are on unless a subscriber chooses otherwise. Default: all.',
  },
)

const workflowName = Type.String({ minLength: 1, maxLength: nameLengthMax, pattern: '^\\P{Cc}+$' })
const workflowIdentifier = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9_.:-]+$', description }))
const changeable = {
  workflowId: workflowIdentifier(
    'The identifier used in triggers: letters, digits, `_`, `-`, `.` and `:`. Default: a slug of the name. Unique among workflows that are not deleted.',
  ),
  description: Type.Optional(nullableString({ maxLength: 1000 })),
  tags: Type.Optional(Type.Array(identifierText({ maxLength: 64 }), { maxItems: tagsMax })),
  active: Type.Optional(
    Type.Boolean({ description: 'Whether it can be triggered. Default for a new workflow: false.' }),
  ),
  critical: Type.Optional(Type.Boolean({ description: 'Whether it is sent regardless of subscriber preferences.' })),
  preferenceSettings: Type.Optional(preferenceSettings),
  severity: Type.Optional(literals(severities)),
  payloadSchema: Type.Optional(
    nullableFreeObject({
      description:
        'A JSON schema (draft 7 or 2020-12). A payload that does not match is rejected; defaults are filled in.',
    }),
  ),
  validatePayload: Type.Optional(
    Type.Boolean({ description: 'False keeps the schema but does not reject payloads. Default: true.' }),
  ),
  isTranslationEnabled: Type.Optional(Type.Boolean()),
  data: Type.Optional(nullableFreeObject({ description: 'Custom data, available to templates.' })),
  notificationGroupId: Type.Optional(uuid({ description: 'The group it is listed in. Default: the default group.' })),
}
const steps = Type.Array(stepInput, { maxItems: stepsMax })
const identifier = workflowIdentifier('Alias of `workflowId`.')

export const workflowExample = {
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
  { name: workflowName, ...changeable, identifier, steps: Type.Optional(steps) },
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
    _creatorId: Type.String({ description: 'The id of the API key that created it.' }),
    _environmentId: Type.String(),
    triggers: Type.Array(
      Type.Object(
        {
          type: literals(['event']),
          identifier: Type.String({ description: 'The identifier used in triggers.' }),
          variables: Type.Array(variable, { description: 'The payload fields that the templates use.' }),
          subscriberVariables: Type.Optional(
            Type.Array(variable, { description: 'The subscriber fields that the templates and channels need.' }),
          ),
        },
        { title: 'NotificationTrigger' },
      ),
    ),
    _notificationGroupId: Type.String(),
    notificationGroup: Type.Optional(notificationGroup),
    payloadSchema: Type.Optional(freeObject()),
    validatePayload: Type.Optional(Type.Boolean()),
    isTranslationEnabled: Type.Optional(Type.Boolean()),
    data: Type.Optional(freeObject()),
    workflowIntegrationStatus: Type.Optional(
      freeObject({ description: 'Whether the channels of its steps have active integrations.' }),
    ),
    deleted: Type.Boolean(),
    deletedAt: Type.String({ description: 'Empty unless it is deleted.' }),
    deletedBy: Type.String({ description: 'Empty unless it is deleted.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Workflow' },
)
