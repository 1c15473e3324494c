// Why a subscriber was notified, or was not: /v1/notifications/{notificationId}/why,
// /v1/subscribers/{subscriberId}/why.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { absenceCodes, integrationVerdicts, whyStatuses } from '../../../domain/insight/why.ts'
import { messageStatuses } from '../../../domain/messages/message.ts'
import { stepTypes } from '../../../domain/workflows/workflow.ts'
import { whyNotification, whySubscriber } from '../../../read/why/why.ts'
import { route } from '../../route.ts'
import { freeObject, identifierText, literals, timestamp } from '../../schemas.ts'

const data = freeObject({ description: 'The same as data: values compared, choices made, requests and responses.' })
const sentence = Type.String({ description: 'What happened and why, as a sentence.' })

const reason = Type.Object(
  {
    code: Type.String({ description: 'A code for what happened; new codes may be added.' }),
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
    status: Type.Optional(literals(messageStatuses, { description: 'Absent until a provider has responded.' })),
    providerId: Type.Optional(Type.String()),
    errorText: Type.Optional(Type.String()),
    retractedAt: Type.Optional(timestamp({ description: 'When it was retracted.' })),
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
      description: 'As in the activity; `inactive` if the step was switched off in the workflow.',
    }),
    sentence,
    reasons: Type.Array(reason, { description: 'Oldest first.' }),
    messages: Type.Array(message),
    integrations: Type.Optional(
      Type.Array(integration, {
        description: 'E-mail and SMS only: every integration that was considered, oldest first.',
      }),
    ),
    nextAttemptAt: Type.Optional(
      timestamp({ description: 'When it runs next: the end of a wait, or the next attempt.' }),
    ),
  },
  { title: 'WhyStep' },
)
const workflow = Type.Object(
  { _id: Type.String(), identifier: Type.String(), name: Type.String() },
  { title: 'WhyWorkflow' },
)
const summary = Type.String({ description: 'How the subscriber was notified, and what prevented other channels.' })
const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description: 'What the event contained that had no effect, such as unknown fields and topics; absent if nothing.',
  }),
)
const steps = Type.Array(step, { description: 'In the order of the workflow.' })

const why = Type.Object(
  {
    notificationId: Type.String(),
    transactionId: Type.String(),
    workflow,
    subscriberId: Type.String({ description: 'Empty after the subscriber has been erased.' }),
    at: timestamp({ description: 'When the event was accepted.' }),
    summary,
    steps,
    warnings,
  },
  { title: 'Why' },
)
const absence = Type.Object(
  {
    code: literals(absenceCodes),
    at: Type.Optional(timestamp({ description: 'When its event was accepted.' })),
    sentence,
    data,
  },
  { title: 'WhyAbsence' },
)
const whyOrAbsent = Type.Object(
  {
    notificationId: Type.Optional(Type.String({ description: 'Absent if there is no notification.' })),
    transactionId: Type.Optional(Type.String()),
    workflow,
    subscriberId: Type.String(),
    at: Type.Optional(
      timestamp({ description: 'When the event was accepted; without a notification, the timestamp in question.' }),
    ),
    summary,
    steps,
    warnings,
    reasons: Type.Optional(
      Type.Array(absence, { description: 'Why there is no notification, most likely reason first.' }),
    ),
  },
  { title: 'WhyOfSubscriber' },
)

/** Longer than any ISO 8601 timestamp. */
const timestampLengthMax = 64
const shared = { tag: 'Activity', category: 'global', method: 'GET', scope: 'read' } as const

export const whyRoutes = [
  route({
    ...shared,
    path: '/v1/notifications/{notificationId}/why',
    operationId: 'explainNotification',
    summary: 'Explain what happened to a notification',
    description:
      'One sentence per step: what happened and why, with the values that decided it. Waiting steps state until when, failed steps the response they received.',
    params: Type.Object({
      notificationId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the activity.' }),
    }),
    replies: { 200: why },
    errors: [404],
    handle: async ({ db }, { principal, params }) =>
      ok(await whyNotification(db, principal.environment, params.notificationId)),
  }),
  route({
    ...shared,
    path: '/v1/subscribers/{subscriberId}/why',
    operationId: 'explainSubscriber',
    summary: 'Explain why a subscriber was notified, or was not',
    description:
      'Explains the last notification of the workflow for the subscriber at or before the timestamp. If there is none, it explains why, as far as the last event of the workflow shows. Rejected events leave no trace.',
    params: Type.Object({ subscriberId: identifierText({ maxLength: 255 }) }),
    query: Type.Object({
      workflow: identifierText({ maxLength: 255, description: 'The workflow’s identifier.' }),
      at: Type.Optional(
        Type.String({
          maxLength: timestampLengthMax,
          description: 'An ISO 8601 date or date-time; UTC if it has no zone. Default: now.',
        }),
      ),
    }),
    replies: { 200: whyOrAbsent },
    errors: [404],
    handle: async ({ db }, { principal, params, query }) =>
      ok(await whySubscriber(db, principal.environment, { ...query, subscriberId: params.subscriberId })),
  }),
]
