// Why somebody was told something, or was not: /v1/notifications/{notificationId}/why, /v1/subscribers/{subscriberId}/why.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { absenceCodes, integrationVerdicts, whyStatuses } from '../../../domain/insight/why.ts'
import { messageStatuses } from '../../../domain/messages/message.ts'
import { stepTypes } from '../../../domain/workflows/workflow.ts'
import { whyNotification, whySubscriber } from '../../../read/why/why.ts'
import { route } from '../../route.ts'
import { freeObject, identifierText, literals, timestamp } from '../../schemas.ts'

const data = freeObject({ description: 'The same as data: what was compared, chosen, asked and answered.' })
const sentence = Type.String({ description: 'What happened and why, in plain words.' })

const reason = Type.Object(
  {
    code: Type.String({ description: 'What kind of thing happened; new ones may be added.' }),
    at: timestamp(),
    sentence,
    data,
  },
  { title: 'WhyReason' },
)
const message = Type.Object(
  {
    _id: Type.String(),
    channel: literals(channels),
    status: Type.Optional(literals(messageStatuses, { description: 'Absent until a provider has answered.' })),
    providerId: Type.Optional(Type.String()),
    errorText: Type.Optional(Type.String()),
    retractedAt: Type.Optional(timestamp({ description: 'When it was taken back.' })),
  },
  { title: 'WhyMessage' },
)
const integration = Type.Object(
  {
    identifier: Type.String(),
    providerId: Type.String(),
    verdict: literals(integrationVerdicts, { description: 'Whether it was chosen, or why not.' }),
    sentence: Type.String(),
  },
  { title: 'WhyIntegration' },
)
const step = Type.Object(
  {
    stepId: Type.String(),
    name: Type.String(),
    type: literals(stepTypes),
    status: literals(whyStatuses, {
      description: 'As in the activity; `inactive` where the workflow had the step switched off.',
    }),
    sentence,
    reasons: Type.Array(reason, { description: 'Oldest first.' }),
    messages: Type.Array(message),
    integrations: Type.Optional(
      Type.Array(integration, {
        description: 'E-mail and SMS, where one was looked for: all that could have been, oldest first.',
      }),
    ),
    nextAttemptAt: Type.Optional(
      timestamp({ description: 'When it is looked at again: the end of a wait, or the next try.' }),
    ),
  },
  { title: 'WhyStep' },
)
const workflow = Type.Object(
  { _id: Type.String(), identifier: Type.String(), name: Type.String() },
  { title: 'WhyWorkflow' },
)
const summary = Type.String({ description: 'What the subscriber was told, and what stood in the way.' })
const steps = Type.Array(step, { description: 'In the order of the workflow.' })

const why = Type.Object(
  {
    notificationId: Type.String(),
    transactionId: Type.String(),
    workflow,
    subscriberId: Type.String({ description: 'Empty once the subscriber was erased.' }),
    at: timestamp({ description: 'When the event was accepted.' }),
    summary,
    steps,
  },
  { title: 'Why' },
)
const absence = Type.Object(
  {
    code: literals(absenceCodes),
    at: Type.Optional(timestamp({ description: 'When the event that it is about was accepted.' })),
    sentence,
    data,
  },
  { title: 'WhyAbsence' },
)
const whyOrAbsent = Type.Object(
  {
    notificationId: Type.Optional(Type.String({ description: 'Absent where there is no notification.' })),
    transactionId: Type.Optional(Type.String()),
    workflow,
    subscriberId: Type.String(),
    at: Type.Optional(
      timestamp({ description: 'When the event was accepted; without a notification, the moment asked about.' }),
    ),
    summary,
    steps,
    reasons: Type.Optional(
      Type.Array(absence, { description: 'Why there is no notification, the most telling one first.' }),
    ),
  },
  { title: 'WhyOfSubscriber' },
)

/** As long as an ISO 8601 moment can be, and some more. */
const momentLengthMax = 64
const shared = { tag: 'Activity', category: 'global', method: 'GET', scope: 'read' } as const

export const whyRoutes = [
  route({
    ...shared,
    path: '/v1/notifications/{notificationId}/why',
    operationId: 'explainNotification',
    summary: 'Explain what happened to a notification',
    description:
      'A sentence a step: what happened to it and why, with the values that decided. What waits tells until when, what failed what was answered.',
    params: Type.Object({
      notificationId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the activity.' }),
    }),
    replies: { 200: why },
    errors: [404],
    handle: async ({ db }, { caller, params }) =>
      ok(await whyNotification(db, caller.environment, params.notificationId)),
  }),
  route({
    ...shared,
    path: '/v1/subscribers/{subscriberId}/why',
    operationId: 'explainSubscriber',
    summary: 'Explain why a subscriber was notified, or was not',
    description:
      'The last notification of the workflow for the subscriber at or before the moment; where there is none, why, as far as the workflow’s last event tells. Events that were refused leave no trace.',
    params: Type.Object({ subscriberId: identifierText({ maxLength: 255 }) }),
    query: Type.Object({
      workflow: identifierText({ maxLength: 255, description: 'The workflow’s identifier.' }),
      at: Type.Optional(
        Type.String({
          maxLength: momentLengthMax,
          description: 'An ISO 8601 date or date-time, without a zone in UTC. The last of all unless given.',
        }),
      ),
    }),
    replies: { 200: whyOrAbsent },
    errors: [404],
    handle: async ({ db }, { caller, params, query }) =>
      ok(await whySubscriber(db, caller.environment, { ...query, subscriberId: params.subscriberId })),
  }),
]
