// The schemas of the activity: notifications with their jobs and execution details, and the progress of events.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { jobStatuses } from '../../../domain/delivery/job.ts'
import { notificationOutcomes, progressStates } from '../../../domain/insight/activity.ts'
import { detailStatuses } from '../../../domain/insight/execution-detail.ts'
import {
  ordinals,
  ordinalValues,
  severities,
  stepTypes,
  timeUnits,
  weekDays,
} from '../../../domain/workflows/workflow.ts'
import { freeObject, literals, nullableString, offsetParameters, optionalTimestamp, timestamp } from '../../schemas.ts'
import { message } from '../messages/message-schemas.ts'
import { stepFilter } from '../workflows/filter-schemas.ts'

/** More values of one filter make a query that no address can hold. */
const filterValuesMax = 100
const idLengthMax = 255
const emailLengthMax = 320
/** A context's type and id. */
const contextKeyLengthMax = 1024

const anyOfTexts = (maxLength: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength }), { maxItems: filterValuesMax, description }))

export const activityQuery = Type.Object({
  channels: Type.Optional(
    Type.Array(literals(stepTypes), {
      maxItems: filterValuesMax,
      description: 'Matches notifications whose workflow has an active step of any of these types.',
    }),
  ),
  templates: anyOfTexts(idLengthMax, 'The `_id` of the workflow; any of the values matches.'),
  emails: anyOfTexts(
    emailLengthMax,
    'The exact e-mail address of the subscriber; any of the values matches. Combined with `subscriberIds` and `search` by “or”.',
  ),
  search: Type.Optional(
    Type.String({
      maxLength: emailLengthMax,
      deprecated: true,
      description:
        'Matches subscribers whose e-mail address contains it (starts with it, if it is shorter than three characters) or whose subscriberId equals it. Case-sensitive, like the subscriber search.',
    }),
  ),
  subscriberIds: anyOfTexts(idLengthMax, 'The exact subscriberId; any of the values matches.'),
  severity: Type.Optional(
    Type.Array(literals(severities), {
      maxItems: filterValuesMax,
      description: 'Any of the values matches; `none` means without a severity.',
    }),
  ),
  transactionId: anyOfTexts(idLengthMax, 'The transactionId of the trigger; any of the values matches.'),
  topicKey: Type.Optional(
    Type.String({ maxLength: idLengthMax, description: 'The subscriber was reached through this topic.' }),
  ),
  contextKeys: anyOfTexts(
    contextKeyLengthMax,
    'Exactly these contexts, as `type:id`, in any order. An empty list matches notifications without a context.',
  ),
  failed: Type.Optional(
    Type.Array(literals(['any', ...stepTypes]), {
      maxItems: filterValuesMax,
      description:
        'Notifications with a failed step, of any of these types or of `any`. A step that was skipped, because the subscriber has no address for example, has not failed.',
    }),
  ),
  failedProviders: anyOfTexts(
    idLengthMax,
    'Notifications with a failed step for which any of these providers was called, such as `sendgrid`.',
  ),
  failedReasons: anyOfTexts(
    idLengthMax,
    'Notifications with a failed step of which any of these is reported: a `code` of /v1/counts/failures. With `failedProviders`, of a call of that provider.',
  ),
  after: optionalTimestamp('At or after this ISO 8601 date or date-time; UTC if it has no zone.'),
  before: optionalTimestamp('At or before this ISO 8601 date or date-time; UTC if it has no zone.'),
  ...offsetParameters(50),
})

export const executionDetail = Type.Object(
  {
    _id: Type.String(),
    createdAt: timestamp(),
    status: literals(detailStatuses),
    detail: Type.String({ description: 'What happened.' }),
    isRetry: Type.Boolean(),
    isTest: Type.Boolean({
      description: 'Whether the message was captured instead of sent, or belongs to a workflow test.',
    }),
    providerId: Type.Optional(Type.String()),
    raw: Type.Optional(Type.String({ description: 'The request and the response, without secrets.' })),
    source: literals(['Credentials', 'Internal', 'Payload', 'Webhook']),
  },
  { title: 'ExecutionDetail' },
)

const optionalNumber = Type.Optional(Type.Number())
const digest = Type.Object(
  {
    type: literals(['regular', 'backoff', 'timed']),
    digestKey: Type.Optional(Type.String()),
    amount: optionalNumber,
    unit: Type.Optional(literals(timeUnits)),
    backoff: Type.Optional(Type.Boolean()),
    backoffAmount: optionalNumber,
    backoffUnit: Type.Optional(literals(timeUnits)),
    updateMode: Type.Optional(Type.Boolean()),
    events: Type.Array(freeObject(), {
      description: 'The payloads of its first events, oldest first: at most 100 and about 1 MB.',
    }),
    timed: Type.Optional(
      Type.Object({
        atTime: Type.Optional(Type.String()),
        weekDays: Type.Optional(Type.Array(literals(weekDays))),
        monthDays: Type.Optional(Type.Array(Type.Integer())),
        ordinal: Type.Optional(literals(ordinals)),
        ordinalValue: Type.Optional(literals(ordinalValues)),
        monthlyType: Type.Optional(literals(['each', 'on'])),
        cronExpression: Type.Optional(
          Type.String({ description: 'The same schedule as a cron expression, if it can be expressed as one.' }),
        ),
        untilDate: Type.Optional(timestamp({ description: 'When the digest closes.' })),
      }),
    ),
  },
  { title: 'ActivityDigest' },
)

const variantMembers = {
  _id: Type.String(),
  _templateId: Type.String(),
  _parentId: nullableString(),
  name: Type.Optional(Type.String()),
  active: Type.Boolean(),
  filters: Type.Array(stepFilter),
  template: freeObject({ description: 'The content of the step, as in the workflow.' }),
  metadata: Type.Optional(freeObject({ description: 'The settings of a digest or a delay, as in the workflow.' })),
  replyCallback: Type.Optional(
    Type.Object({ active: Type.Optional(Type.Boolean()), url: Type.Optional(Type.String()) }),
  ),
}
const step = Type.Object(
  { ...variantMembers, variants: Type.Array(Type.Object(variantMembers, { title: 'ActivityStepVariant' })) },
  { title: 'ActivityStep', description: 'The step as it was when the event was triggered.' },
)

const jobMembers = {
  _id: Type.String(),
  type: literals(stepTypes),
  digest: Type.Optional(digest),
  executionDetails: Type.Array(executionDetail, { description: 'Oldest first.' }),
  step,
  payload: freeObject(),
  overrides: freeObject(),
  providerId: Type.String({ description: 'The provider that sends, or would send if the step ran now.' }),
  status: literals(jobStatuses, { description: '`pending` until the steps before it have finished.' }),
  captured: Type.Optional(Type.Boolean({ description: 'True if its message was captured instead of sent.' })),
  updatedAt: timestamp(),
  scheduleExtensionsCount: Type.Optional(Type.Integer()),
}
const job = Type.Object(jobMembers, { title: 'ActivityJob' })

const activityMembers = (jobSchema: TSchema) => ({
  _id: Type.String(),
  _environmentId: Type.String(),
  _organizationId: Type.String(),
  _subscriberId: Type.String(),
  _templateId: Type.String({ description: 'The workflow.' }),
  _digestedNotificationId: Type.Optional(
    Type.String({ description: 'The notification that continues for this one, if a digest merged them.' }),
  ),
  transactionId: Type.String(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  channels: Type.Array(literals(stepTypes), { description: 'The types of the workflow’s active steps.' }),
  subscriber: Type.Optional(
    Type.Object(
      {
        _id: Type.String(),
        subscriberId: Type.String(),
        firstName: Type.Optional(Type.String()),
        lastName: Type.Optional(Type.String()),
        email: Type.Optional(Type.String()),
        phone: Type.Optional(Type.String()),
      },
      { title: 'ActivitySubscriber', description: 'Absent after the subscriber has been deleted.' },
    ),
  ),
  template: Type.Object(
    {
      _id: Type.String(),
      name: Type.String(),
      origin: literals(['platform-cloud', 'platform-cloud-v1', 'external']),
      triggers: Type.Array(
        Type.Object({
          type: literals(['event']),
          identifier: Type.String(),
          variables: Type.Array(Type.Object({ name: Type.String() })),
          subscriberVariables: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
        }),
      ),
    },
    { title: 'ActivityTemplate' },
  ),
  jobs: Type.Array(jobSchema, { description: 'One per step, in workflow order.' }),
  payload: freeObject(),
  controls: freeObject(),
  to: freeObject({ description: 'The recipient as given.' }),
  tags: Type.Array(Type.String()),
  topics: Type.Array(Type.Object({ _topicId: Type.String(), topicKey: Type.String() })),
  severity: literals(severities),
  critical: Type.Boolean(),
  contextKeys: Type.Array(Type.String()),
  isTest: Type.Boolean({ description: 'Whether it was created by a workflow test.' }),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What the event contained that had no effect, such as unknown fields and topics; absent if nothing.',
    }),
  ),
})

export const activityPageReply = Type.Object(
  {
    data: Type.Array(Type.Object(activityMembers(job), { title: 'Activity' })),
    hasMore: Type.Boolean(),
    pageSize: Type.Integer(),
    page: Type.Integer(),
  },
  { title: 'ActivityPage' },
)

const jobWithMessages = Type.Object(
  {
    ...jobMembers,
    messages: Type.Array(message, { description: 'The messages of the step, oldest first.' }),
  },
  { title: 'ActivityJobDetail' },
)
export const activityDetail = Type.Object(activityMembers(jobWithMessages), { title: 'ActivityDetail' })

const count = (description: string) => Type.Integer({ minimum: 0, description })
const outcomeMeanings: Readonly<Record<(typeof notificationOutcomes)[number], string>> = {
  completed: 'The last step completed.',
  failed: 'The last step failed, or an earlier one did and stopped the rest.',
  skipped: 'The last step was skipped because of its conditions, a preference, or a missing address.',
  canceled: 'The last step was canceled.',
  merged: 'A digest merged it into another notification, which continues in its place.',
  delayed: 'It is waiting in a delay or a digest.',
  open: 'A step is queued or running.',
}
const byOutcome = Object.fromEntries(notificationOutcomes.map((outcome) => [outcome, count(outcomeMeanings[outcome])]))

export const eventProgress = Type.Object(
  {
    transactionId: Type.String(),
    name: Type.String({ description: 'The workflow’s identifier.' }),
    state: literals(progressStates, {
      description:
        '`expanding`: recipients are still being resolved. `running`: some notifications have not finished. `completed`: all have.',
    }),
    createdAt: timestamp({ description: 'When the event was accepted.' }),
    counts: Type.Object({
      recipients: Type.Optional(
        count('The number of recipients, each counted once; absent while recipients are still being resolved.'),
      ),
      notifications: count('The number of notifications created so far.'),
      byOutcome: Type.Object(byOutcome, {
        description: 'The notifications by result; if `countsCapped` is true, of about the first 50,000 only.',
      }),
    }),
    countsCapped: Type.Boolean({ description: 'Whether there are more than 50,000 notifications.' }),
    warnings: Type.Array(Type.String(), { description: 'Warnings for the caller, such as unknown topics.' }),
  },
  {
    title: 'EventProgress',
    examples: [
      {
        transactionId: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21',
        name: 'order-shipped',
        state: 'running',
        createdAt: '2026-01-02T03:04:05.678Z',
        counts: {
          recipients: 250,
          notifications: 250,
          byOutcome: { completed: 180, failed: 1, skipped: 4, canceled: 0, merged: 0, delayed: 60, open: 5 },
        },
        countsCapped: false,
        warnings: ['There is no topic release-notes'],
      },
    ],
  },
)
