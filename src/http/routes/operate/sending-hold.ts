// Sending that is held after a restore: /v1/environments/me/hold.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { releaseSending } from '../../../manage/recovery/sending-hold.ts'
import { findSendingHold } from '../../../read/operate/sending-hold.ts'
import { route } from '../../route.ts'
import { nullableString, timestamp } from '../../schemas.ts'

const count = (description: string) => Type.Integer({ description })

const hold = Type.Object(
  {
    held: Type.Boolean({ description: 'Whether nothing is sent in this environment. Events are accepted as ever.' }),
    heldAt: nullableString({
      format: 'date-time',
      description: 'Since when: the restore, or `posthorn move` if there was none.',
    }),
    backupAt: nullableString({
      format: 'date-time',
      description: 'When the backup was taken that was restored. What was sent after it is due again.',
    }),
    movedAt: nullableString({
      format: 'date-time',
      description: 'When `posthorn move` took everything to a server, which sends what is due here.',
    }),
    due: Type.Array(
      Type.Object({
        workflow: Type.String(),
        step: Type.String(),
        type: Type.String(),
        count: Type.Integer(),
        oldestDueAt: timestamp(),
      }),
      { description: 'Steps that would run at once, of events that were accepted before the restore.' },
    ),
    fanOuts: count('Events accepted before the restore whose recipients are still being found.'),
    examples: Type.Array(
      Type.Object({
        transactionId: Type.String(),
        workflow: Type.String(),
        subscriberId: Type.String(),
        acceptedAt: timestamp(),
      }),
      { description: 'The first 20 of what is due.' },
    ),
    otherTasks: count('Webhooks, replies and other work that is due.'),
    auditEntries: count('Entries of the audit log that its streams are still to be sent, once for each stream.'),
    acceptedSince: count('Steps that are due, of events accepted since the restore: they were never sent.'),
    later: count('Steps that wait for a later time, such as delays and digests.'),
    laterOfDue: count('Of `later`, steps of events that have something due. With `cancel` they are cancelled too.'),
  },
  { title: 'SendingHold' },
)
const shared = { tag: 'Environments', category: 'global', scope: 'full' } as const

export const sendingHoldRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/me/hold',
    operationId: 'retrieveSendingHold',
    summary: 'Retrieve what is held after a restore',
    description:
      'After `posthorn restore`, nothing leaves an environment until it is released, neither messages nor webhooks nor entries of its audit log: what was sent after the backup would be sent twice.',
    replies: { 200: hold },
    handle: async ({ db }, { principal }) => ok(await findSendingHold(db, principal.environment)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/me/hold/release',
    operationId: 'releaseSending',
    summary: 'Release what is held after a restore',
    description:
      'Sending begins within two seconds. With `cancel`, the events that were accepted before the restore and have something due are cancelled first, as a whole: with their steps that wait for a later time, also those for other recipients. Redrives under way are stopped. 409 if nothing is held.',
    body: Type.Object(
      { cancel: Type.Optional(Type.Boolean({ description: 'Default: false.' })) },
      { title: 'ReleaseSending', examples: [{ cancel: true }] },
    ),
    replies: {
      200: Type.Object(
        { environment: Type.String(), canceledEvents: count('How many events were cancelled.') },
        { title: 'ReleasedSending' },
      ),
    },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      releaseSending(db, world, principal.environment, { cancel: body.cancel === true, author, idempotency }),
  }),
]
