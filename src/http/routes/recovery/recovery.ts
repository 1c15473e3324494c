// Recovery of one thing: /v1/notifications/{notificationId}/redrive, /cancel and /retract, and the same for an event.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { jobStatuses } from '../../../domain/delivery/job.ts'
import { redriveStates } from '../../../domain/delivery/redrive.ts'
import { notFound } from '../../../domain/problem.ts'
import { isUuid } from '../../../domain/uuid-v7.ts'
import { stepTypes } from '../../../domain/workflows/workflow.ts'
import { previewRedrive, redriveEvent, redriveNotification } from '../../../manage/recovery/redrives.ts'
import { cancelOne, retractEvent, retractOne } from '../../../manage/recovery/retractions.ts'
import { findRetraction } from '../../../store/events/retractions.ts'
import { route } from '../../route.ts'
import { literals, timestamp } from '../../schemas.ts'
import { redrive } from './redrive-schemas.ts'

const step = {
  stepId: Type.String(),
  name: Type.Optional(Type.String()),
  type: literals(stepTypes),
}
const notificationId = Type.String()
const redriven = Type.Object(
  {
    notificationId,
    steps: Type.Array(
      Type.Object({
        ...step,
        way: literals(['send', 'decide', 'wait'], {
          description:
            '`send`: its failed messages are sent again unchanged. `decide`: it had none, so it is decided and rendered again. `wait`: the events it collected are processed again.',
        }),
        messages: Type.Integer({ description: 'How many messages are sent again.' }),
      }),
    ),
  },
  { title: 'RedrivenNotification' },
)
const canceledMembers = {
  notificationId,
  canceled: Type.Array(
    Type.Object({
      ...step,
      was: literals(jobStatuses, { description: 'Its status before; `pending` if it had not started.' }),
    }),
    { description: 'Steps that will not run.' },
  ),
  onTheirWay: Type.Array(Type.Object(step), {
    description: 'Steps that are being sent right now and cannot be stopped.',
  }),
}
const messages = (description: string) =>
  Type.Array(Type.Object({ _id: Type.String(), channel: literals(channels) }), { description })
const canceled = Type.Object(canceledMembers, { title: 'CanceledNotification' })
const retracted = Type.Object(
  {
    ...canceledMembers,
    removed: messages('In-app messages that left the feed.'),
    sent: messages('Messages that a provider has accepted, or may have accepted: they cannot be retracted.'),
  },
  { title: 'RetractedNotification' },
)
const retraction = Type.Object(
  {
    _id: Type.String(),
    state: literals(redriveStates, { description: '`running` until the last page is done.' }),
    transactionId: Type.String(),
    canceled: Type.Integer({ description: 'Steps that will not run.' }),
    removed: Type.Integer({ description: 'In-app messages that left the feed.' }),
    sent: Type.Record(Type.String(), Type.Integer(), {
      description: 'By channel: messages that a provider has accepted, or may have accepted. They cannot be retracted.',
    }),
    requestedBy: Type.String({ description: 'The id of the key.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    endedAt: Type.Optional(timestamp()),
  },
  { title: 'Retraction' },
)

const shared = { tag: 'Recovery', category: 'global', scope: 'full' } as const
const ofNotification = Type.Object({
  notificationId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the activity.' }),
})
const ofEvent = Type.Object({
  transactionId: Type.String({ maxLength: 255, description: 'As given in the trigger, or returned by it.' }),
})

export const recoveryRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/notifications/{notificationId}/redrive',
    operationId: 'redriveNotification',
    summary: 'Redrive a notification',
    description:
      'Redrives only failed steps: messages that were sent, or may have been sent, are not sent again. Steps that were canceled because of the failure run. 409 while the notification is running, and if nothing in it failed.',
    params: ofNotification,
    query: Type.Object({
      includeUnsure: Type.Optional(
        Type.Boolean({ description: 'Also resends messages that may have been sent and were left with a warning.' }),
      ),
      dryRun: Type.Optional(Type.Boolean({ description: 'Only report what would happen.' })),
    }),
    replies: { 200: redriven, 202: redriven },
    errors: [404, 409],
    handle: async ({ db, world, queue }, { principal, params, query, idempotency }) => {
      const { dryRun, ...how } = query
      if (dryRun === true) return ok(await previewRedrive(db, world, principal, { ...params, ...how }))
      return redriveNotification(db, world, principal, queue, { ...params, ...how, idempotency })
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/events/{transactionId}/redrive',
    operationId: 'redriveEvent',
    summary: 'Redrive an event',
    description: 'Redrives all its notifications, in batches; `GET /v1/redrives/{redriveId}` reports the progress.',
    params: ofEvent,
    replies: { 202: redrive },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, params, idempotency }) =>
      redriveEvent(db, world, principal, queue, { ...params, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/notifications/{notificationId}/cancel',
    operationId: 'cancelNotification',
    summary: 'Cancel a notification',
    description:
      'Cancels the steps that have not started; the other recipients of the event are still notified. 409 if nothing is left to cancel.',
    params: ofNotification,
    replies: { 200: canceled },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, params, idempotency }) =>
      cancelOne(db, world, principal, queue, { ...params, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/notifications/{notificationId}/retract',
    operationId: 'retractNotification',
    summary: 'Retract a notification',
    description:
      'Cancels what has not been sent, and removes in-app messages from the feed and its counts. Messages that providers have accepted are listed; they cannot be retracted. The notification cannot be redriven afterwards.',
    params: ofNotification,
    replies: { 200: retracted },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, params, idempotency }) =>
      retractOne(db, world, principal, queue, { ...params, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/events/{transactionId}/retract',
    operationId: 'retractEvent',
    summary: 'Retract an event',
    description:
      'Retracts all its notifications and stops further ones. Small events are finished when this responds (200); for larger ones (202) `GET /v1/retractions/{retractionId}` reports the progress.',
    params: ofEvent,
    replies: { 200: retraction, 202: retraction },
    errors: [404],
    handle: ({ db, world, queue }, { principal, params, idempotency }) =>
      retractEvent(db, world, principal, queue, { ...params, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    scope: 'read',
    path: '/v1/retractions/{retractionId}',
    operationId: 'retrieveRetraction',
    summary: 'Retrieve the progress of a retraction',
    params: Type.Object({ retractionId: Type.String({ maxLength: 255 }) }),
    replies: { 200: retraction },
    errors: [404],
    handle: async ({ db }, { principal, params: { retractionId } }) => {
      const found = isUuid(retractionId) ? await findRetraction(db, principal.environment, retractionId) : undefined
      if (found === undefined) throw notFound(`Retraction ${retractionId} was not found`)
      return ok(found)
    },
  }),
]
